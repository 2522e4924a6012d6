// Engines in several workers that run the same training in step: a list of pieces, such as the parts of a gradient, is made together. Each
// piece is made by the member that claims it first and taken by the others from memory they share. A piece is the same whoever makes it,
// so nobody waits for one that is late: the leader makes it again, and whoever comes late to a list finds it made.

/** Pieces of a list, at most, and members. */
const [MOST_PIECES, MOST_MEMBERS] = [32, 16];
/** Lists that a member may be behind, at most, and the words they may take together. */
const [MOST_SLOTS, MOST_WORDS] = [64, 1 << 22];
/** Words of a member's part of a slot, at least: predictions of validation rows are pieces too. */
const LEAST_WORDS = 1 << 14;
/** After so long without a sign of life a member is left behind. */
const GONE_MS = 2000;
/** How long a follower watches for a piece before it sleeps, and how long it sleeps should nobody wake it. */
const [WATCH_MS, NAP_MS] = [0.2, 100];

/** Of the memory: members, slots, words of a member's part of a slot, and the turns that the leader began; then how far each member is and whether it left; then who claimed and
 * who gave each piece of each slot; then the parts. A member writes into its own alone: one that was left behind spoils nothing. */
const [TURNS, HEADER, FIELDS] = [3, 4, 2];
const [DONE, LEFT] = [0, 1];

/** The member whose run it is; the others follow. */
const LEADER = 0;

/** Memory for lists of up to `words` words. */
export function memory(members: number, words: number): SharedArrayBuffer {
  const part = Math.max(words, LEAST_WORDS);
  const slots = Math.min(Math.max(Math.floor(MOST_WORDS / (members * part)), 2), MOST_SLOTS);
  const memory = new SharedArrayBuffer(4 * (HEADER + members * FIELDS + slots * (2 * MOST_PIECES + members * part)));
  new Int32Array(memory).set([members, slots, part]);
  return memory;
}

/** A member's share. The engine calls `begin` for each list, then `claim` and `give` while there is something to make, then `take`. */
export class Share {
  #own: number;
  #over: () => void;
  #members: number;
  #slots: number;
  #part: number;
  #state: Int32Array;
  #values: Float32Array;
  /** The number of the list, its pieces and their words. */
  #list = 0;
  #pieces = 0;
  #words = 0;
  #began = 0;
  #patienceMs = 0;
  #turns = 0;

  /** `over` is called should the leader be found gone, or this member left behind. */
  constructor(memory: SharedArrayBuffer, own: number, over: () => void) {
    this.#state = new Int32Array(memory);
    [this.#members, this.#slots, this.#part] = this.#state as unknown as [number, number, number];
    this.#values = new Float32Array(memory, 4 * (HEADER + FIELDS * this.#members + 2 * MOST_PIECES * this.#slots));
    this.#own = own;
    this.#over = over;
  }

  /**
   * Begins an epoch. A follower waits for the leader to begin it, and lets its thread do other things meanwhile: the leader may be paused.
   * In the midst of an epoch it waits for nobody long.
   */
  async turn(): Promise<void> {
    const turn = ++this.#turns;
    if (this.#own === LEADER) this.#tell(TURNS, turn);
    for (let begun; (begun = this.#load(TURNS)) < turn && !this.#isGone();) {
      await (Atomics.waitAsync?.(this.#state, TURNS, begun, NAP_MS).value ?? new Promise((resolve) => setTimeout(resolve)));
    }
  }

  /** Whether a list of so many pieces of up to so many words is made together. */
  begin(pieces: number, words: number): boolean {
    if (this.#isGone()) {
      this.#over();
      return false;
    }
    if (pieces > MOST_PIECES || pieces * words > this.#part) return false;
    this.#tell(this.#at(DONE, this.#own), this.#list);
    const began = performance.now();
    for (let member = 0; member < this.#members; member++) {
      // The slot may hold what this member has not yet taken.
      for (let done; ((this.#list - (done = this.#load(this.#at(DONE, member)))) | 0) >= this.#slots;) {
        if (member === this.#own || this.#load(this.#at(LEFT, member)) || this.#isGone()) break;
        if (performance.now() - began > GONE_MS && this.#own === LEADER) this.#tell(this.#at(LEFT, member), 1);
        Atomics.wait(this.#state, this.#at(DONE, member), done, NAP_MS);
      }
    }
    this.#list = (this.#list + 1) | 0;
    this.#pieces = pieces;
    this.#words = words;
    return true;
  }

  /** A piece to make; `pieces` where all are made or being made. */
  claim(): number {
    this.#began = performance.now();
    const first = Math.floor(this.#own * this.#pieces / this.#members);
    for (let step = 0; step < this.#pieces; step++) {
      const piece = (first + step) % this.#pieces;
      const claimed = this.#load(this.#claimed(piece));
      if (claimed !== this.#list && Atomics.compareExchange(this.#state, this.#claimed(piece), claimed, this.#list) === claimed) return piece;
    }
    return this.#pieces;
  }

  give(piece: number, values: Float32Array): void {
    // The slot may be another list's by now.
    if (this.#isGone()) return;
    this.#values.set(values, this.#place(this.#own, piece));
    this.#tell(this.#given(piece), this.#list * MOST_MEMBERS + this.#own);
    this.#patienceMs = 0.5 * (performance.now() - this.#began);
  }

  /** Whether `values` now hold what another made. */
  take(piece: number, values: Float32Array): boolean {
    const began = performance.now();
    let maker;
    for (let given; (maker = ((given = this.#load(this.#given(piece))) - this.#list * MOST_MEMBERS) | 0) < 0 || maker >= MOST_MEMBERS;) {
      if (this.#isGone()) return false;
      const waitedMs = performance.now() - began;
      if (this.#own === LEADER && waitedMs > this.#patienceMs) return false;
      if (this.#own !== LEADER && waitedMs > WATCH_MS) Atomics.wait(this.#state, this.#given(piece), given, NAP_MS);
    }
    const place = this.#place(maker, piece);
    values.set(this.#values.subarray(place, place + values.length));
    // From under one that was left behind the slot may have been taken.
    return !this.#isGone();
  }

  leave(): void {
    this.#tell(this.#at(LEFT, this.#own), 1);
  }

  /** Whether this member goes on alone. */
  #isGone(): boolean {
    return this.#load(this.#at(LEFT, this.#own)) !== 0 || this.#load(this.#at(LEFT, LEADER)) !== 0;
  }

  #at(field: number, member: number): number {
    return HEADER + FIELDS * member + field;
  }

  #claimed(piece: number): number {
    return HEADER + FIELDS * this.#members + 2 * (MOST_PIECES * this.#slot() + piece);
  }

  #given(piece: number): number {
    return this.#claimed(piece) + 1;
  }

  #place(member: number, piece: number): number {
    return (this.#slot() * this.#members + member) * this.#part + piece * this.#words;
  }

  #slot(): number {
    return (this.#list >>> 0) % this.#slots;
  }

  #load(at: number): number {
    return Atomics.load(this.#state, at);
  }

  /** Sets a word and wakes who waits for it. */
  #tell(at: number, value: number): void {
    Atomics.store(this.#state, at, value);
    Atomics.notify(this.#state, at);
  }
}
