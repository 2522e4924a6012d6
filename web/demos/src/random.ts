// Random numbers from a seed, identical in every browser: 32-bit PCG (O'Neill 2014, RXS-M-XS).

export interface Random {
  /** In [0, 1). */
  uniform(): number;
  between(low: number, high: number): number;
  /** Normal, with mean 0 and standard deviation 1. */
  normal(): number;
}

export function random(seed: number): Random {
  let state = (Math.imul(seed, 747796405) + 2891336453) >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 747796405) + 2891336453) >>> 0;
    const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737);
    return ((word >>> 22) ^ word) >>> 0;
  };
  const share = () => uniform() / 4294967296;
  return {
    uniform: share,
    between: (low, high) => low + (high - low) * share(),
    normal: () => Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share()),
  };
}
