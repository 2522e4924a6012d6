// Engines in several workers that run the same training in step: of each list of pieces, such as the parts of a gradient, every member
// makes the piece of its own number and takes the others' from memory they share. A piece is the same whoever makes it, so the leader
// need not wait for anyone: it makes what is late itself, and whoever falls too far behind is left there.

/** Lists that a member may be behind. */
const SLOTS = 64;
/** Words of a slot, at least: predictions of validation rows are pieces too. */
const LEAST_WORDS = 1 << 14;
/** After so long without a sign of life a member is left behind. */
const GONE_MS = 2000;
/** How long a follower watches for a piece before it sleeps, and how long it sleeps should nobody wake it. */
const [WATCH_MS, NAP_MS] = [0.2, 100];

/** Of the memory: members and words of a slot; then what each member is done with, what it gave, whether it left; then the slots. */
const [HEADER, FIELDS] = [2, 3];
const [DONE, GIVEN, LEFT] = [0, 1, 2];

/** The member whose run it is; the others follow. */
const LEADER = 0;

/** Memory for pieces of up to `words` words. */
export function memory(members: number, words: number): SharedArrayBuffer {
  const slot = Math.max(words, LEAST_WORDS);
  const memory = new SharedArrayBuffer(4 * (HEADER + members * (FIELDS + SLOTS * slot)));
  new Int32Array(memory).set([members, slot]);
  return memory;
}

/** A member's share. The engine calls `begin`, `give` and `take`, in this order for each list. */
export class Share {
  #own: number;
  #over: () => void;
  #members: number;
  #slot: number;
  #state: Int32Array;
  #values: Float32Array;
  /** The number of the next list. */
  #list = 0;
  #began = 0;
  #patienceMs = 0;

  /** `over` is called should the leader be found gone. */
  constructor(memory: SharedArrayBuffer, own: number, over: () => void) {
    this.#state = new Int32Array(memory);
    [this.#members, this.#slot] = this.#state as unknown as [number, number];
    this.#values = new Float32Array(memory, 4 * (HEADER + FIELDS * this.#members));
    this.#own = own;
    this.#over = over;
  }

  /** The piece to make, of so many of up to so many words; `pieces` where all are to be made. */
  begin(pieces: number, words: number): number {
    if (this.#hasLeft(LEADER)) this.#over();
    if (pieces !== this.#members || words > this.#slot || this.#isGone(this.#own)) return pieces;
    this.#tell(DONE, this.#list);
    const began = performance.now();
    for (let member = 0; member < this.#members; member++) {
      // The slot may hold what this member has not yet taken.
      while (member !== this.#own && !this.#hasLeft(member) && this.#behind(DONE, member) > SLOTS - 1) {
        if (performance.now() - began > GONE_MS && this.#own === LEADER) leave(this.#state, member);
      }
    }
    this.#list++;
    this.#began = performance.now();
    return this.#own;
  }

  give(piece: Float32Array): void {
    this.#values.set(piece, this.#place(this.#own));
    this.#tell(GIVEN, this.#list);
    Atomics.notify(this.#state, at(GIVEN, this.#own));
    this.#patienceMs = 0.5 * (performance.now() - this.#began);
  }

  /** Whether `piece` now holds what its member made. */
  take(member: number, piece: Float32Array): boolean {
    const began = performance.now();
    for (let behind; (behind = this.#behind(GIVEN, member)) > 0;) {
      if (this.#isGone(member)) return false;
      const waitedMs = performance.now() - began;
      // One that is more than a list behind catches up sooner if nobody waits for it.
      if (this.#own === LEADER && (behind > 1 || waitedMs > this.#patienceMs)) return false;
      if (this.#own !== LEADER && waitedMs > WATCH_MS) Atomics.wait(this.#state, at(GIVEN, member), (this.#list - behind) | 0, NAP_MS);
    }
    const place = this.#place(member);
    piece.set(this.#values.subarray(place, place + piece.length));
    // What a member gives that was left behind is of no account.
    return !this.#isGone(member);
  }

  leave(): void {
    leave(this.#state, this.#own);
  }

  #place(member: number): number {
    return (member * SLOTS + (this.#list - 1) % SLOTS) * this.#slot;
  }

  /** How many lists `member` is behind this one. */
  #behind(field: number, member: number): number {
    return (this.#list - Atomics.load(this.#state, at(field, member))) | 0;
  }

  #hasLeft(member: number): boolean {
    return Atomics.load(this.#state, at(LEFT, member)) !== 0;
  }

  /** Whether nothing more will come from `member`. */
  #isGone(member: number): boolean {
    return this.#hasLeft(member) || this.#hasLeft(LEADER);
  }

  #tell(field: number, value: number): void {
    Atomics.store(this.#state, at(field, this.#own), value);
  }
}

const at = (field: number, member: number) => HEADER + FIELDS * member + field;

/** Marks a member as gone and wakes whoever waits for it. */
function leave(state: Int32Array, member: number): void {
  Atomics.store(state, at(LEFT, member), 1);
  Atomics.notify(state, at(GIVEN, member));
}
