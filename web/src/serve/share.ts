// Shared memory of several workers that run the same training in lockstep. They compute each list of chunks, such as
// the parts of a gradient, together: the worker that claims a chunk first computes it, and the others copy it from the
// shared memory. A chunk is identical whichever worker computes it, so the leader does not wait for a late worker: it
// recomputes the chunk, and the late worker copies the result.

/** The maximum number of chunks of a list, and of workers. */
const [MAX_CHUNKS, MAX_WORKERS] = [32, 16];
/** The maximum number of lists that a worker may be behind, and the maximum size of all of them in words. */
const [MAX_SLOTS, MAX_WORDS] = [64, 1 << 22];
/** The minimum number of words of a worker's region in a slot: predictions of validation rows are chunks too. */
const MIN_WORDS = 1 << 14;
/** A worker that makes no progress for this long is dropped. */
const TIMEOUT_MS = 2000;
/** How long a follower polls for a chunk before it sleeps, and the maximum time it sleeps. */
const [POLL_MS, SLEEP_MS] = [0.2, 100];

/**
 * The layout of the memory, in words. Header: number of workers, number of slots, words per region, epochs that the
 * leader has started. Per worker: its progress, and whether it left. Per chunk of each slot: who claimed it, and who
 * wrote it. Then the regions: each slot has one region per worker, and only that worker writes to it, so a dropped
 * worker cannot corrupt the data of the others.
 */
const [EPOCHS, HEADER, FIELDS] = [3, 4, 2];
const [PROGRESS, LEFT] = [0, 1];

/** The index of the worker that owns the run. The others follow it. */
const LEADER = 0;

/** Allocates memory for lists of up to `words` words. */
export function memory(workers: number, words: number): SharedArrayBuffer {
  const region = Math.max(words, MIN_WORDS);
  const slots = Math.min(Math.max(Math.floor(MAX_WORDS / (workers * region)), 2), MAX_SLOTS);
  const memory = new SharedArrayBuffer(4 * (HEADER + workers * FIELDS + slots * (2 * MAX_CHUNKS + workers * region)));
  new Int32Array(memory).set([workers, slots, region]);
  return memory;
}

/**
 * One worker's view of the memory. For each list the engine calls `begin`, then `claim` and `give` until all chunks are
 * claimed, then `take`.
 */
export class Share {
  #index: number;
  #onDropped: () => void;
  #workers: number;
  #slots: number;
  #region: number;
  #state: Int32Array;
  #values: Float32Array;
  /** The number of the current list, the number of its chunks, and the words per chunk. */
  #list = 0;
  #chunks = 0;
  #words = 0;
  #start = 0;
  #patienceMs = 0;
  #epochs = 0;

  /** Calls `onDropped` if the leader is gone or this worker was dropped. */
  constructor(memory: SharedArrayBuffer, index: number, onDropped: () => void) {
    this.#state = new Int32Array(memory);
    [this.#workers, this.#slots, this.#region] = this.#state as unknown as [number, number, number];
    this.#values = new Float32Array(memory, 4 * (HEADER + FIELDS * this.#workers + 2 * MAX_CHUNKS * this.#slots));
    this.#index = index;
    this.#onDropped = onDropped;
  }

  /**
   * Starts an epoch. A follower waits asynchronously until the leader has started it, because the leader may be paused.
   * Within an epoch all waits are short.
   */
  async startEpoch(): Promise<void> {
    const epoch = ++this.#epochs;
    if (this.#index === LEADER) this.#store(EPOCHS, epoch);
    for (let started; (started = this.#load(EPOCHS)) < epoch && !this.#isDropped(); ) {
      await (Atomics.waitAsync?.(this.#state, EPOCHS, started, SLEEP_MS).value ??
        new Promise((resolve) => setTimeout(resolve)));
    }
  }

  /** Begins a list of `chunks` chunks of up to `words` words. Returns false if this worker must compute it alone. */
  begin(chunks: number, words: number): boolean {
    if (this.#isDropped()) {
      this.#onDropped();
      return false;
    }
    if (chunks > MAX_CHUNKS || chunks * words > this.#region) return false;
    this.#store(this.#field(PROGRESS, this.#index), this.#list);
    const start = performance.now();
    for (let worker = 0; worker < this.#workers; worker++) {
      // The slot may still hold chunks that the worker has not copied.
      for (let progress; ((this.#list - (progress = this.#load(this.#field(PROGRESS, worker)))) | 0) >= this.#slots; ) {
        if (worker === this.#index || this.#load(this.#field(LEFT, worker)) || this.#isDropped()) break;
        if (performance.now() - start > TIMEOUT_MS && this.#index === LEADER) this.#store(this.#field(LEFT, worker), 1);
        Atomics.wait(this.#state, this.#field(PROGRESS, worker), progress, SLEEP_MS);
      }
    }
    this.#list = (this.#list + 1) | 0;
    this.#chunks = chunks;
    this.#words = words;
    return true;
  }

  /** The next chunk to compute, or the number of chunks if all are claimed. */
  claim(): number {
    this.#start = performance.now();
    const first = Math.floor((this.#index * this.#chunks) / this.#workers);
    for (let step = 0; step < this.#chunks; step++) {
      const chunk = (first + step) % this.#chunks;
      const claimed = this.#load(this.#claimed(chunk));
      if (
        claimed !== this.#list &&
        Atomics.compareExchange(this.#state, this.#claimed(chunk), claimed, this.#list) === claimed
      )
        return chunk;
    }
    return this.#chunks;
  }

  give(chunk: number, values: Float32Array): void {
    // After this worker was dropped, the slot may belong to another list.
    if (this.#isDropped()) return;
    this.#values.set(values, this.#offset(this.#index, chunk));
    this.#store(this.#written(chunk), this.#list * MAX_WORKERS + this.#index);
    this.#patienceMs = 0.5 * (performance.now() - this.#start);
  }

  /** Copies a chunk that another worker computed into `values`. Returns false if this worker must compute it. */
  take(chunk: number, values: Float32Array): boolean {
    const start = performance.now();
    let writer;
    for (
      let written;
      (writer = ((written = this.#load(this.#written(chunk))) - this.#list * MAX_WORKERS) | 0) < 0 ||
      writer >= MAX_WORKERS;
    ) {
      if (this.#isDropped()) return false;
      const waitedMs = performance.now() - start;
      if (this.#index === LEADER && waitedMs > this.#patienceMs) return false;
      if (this.#index !== LEADER && waitedMs > POLL_MS)
        Atomics.wait(this.#state, this.#written(chunk), written, SLEEP_MS);
    }
    const offset = this.#offset(writer, chunk);
    values.set(this.#values.subarray(offset, offset + values.length));
    // If this worker was dropped meanwhile, the slot may have been overwritten.
    return !this.#isDropped();
  }

  leave(): void {
    this.#store(this.#field(LEFT, this.#index), 1);
  }

  /** Whether this worker must continue alone. */
  #isDropped(): boolean {
    return this.#load(this.#field(LEFT, this.#index)) !== 0 || this.#load(this.#field(LEFT, LEADER)) !== 0;
  }

  #field(field: number, worker: number): number {
    return HEADER + FIELDS * worker + field;
  }

  #claimed(chunk: number): number {
    return HEADER + FIELDS * this.#workers + 2 * (MAX_CHUNKS * this.#slot() + chunk);
  }

  #written(chunk: number): number {
    return this.#claimed(chunk) + 1;
  }

  #offset(worker: number, chunk: number): number {
    return (this.#slot() * this.#workers + worker) * this.#region + chunk * this.#words;
  }

  #slot(): number {
    return (this.#list >>> 0) % this.#slots;
  }

  #load(at: number): number {
    return Atomics.load(this.#state, at);
  }

  /** Stores a word and wakes the workers that wait for it. */
  #store(at: number, value: number): void {
    Atomics.store(this.#state, at, value);
    Atomics.notify(this.#state, at);
  }
}
