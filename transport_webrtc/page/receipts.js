/** Which transmissions arrived, and when that is told. On given time, in `performance.now()` milliseconds. */

import {beyond} from "./wire.js";

const WINDOW = 64;
const ALL = (1n << BigInt(WINDOW)) - 1n;
/**
 * Speech in the newest message, ms, from which on answers are rare: servers make such on narrow paths only, and six
 * acknowledgements a second would be half of what passes at 12 kb/s.
 */
const LONG_MS = 300;
/** News are told after so long at the latest, sooner where a gap shows, another state at once; ms. */
const NEWS_MS = 40;
const RARE_NEWS_MS = 150;
const GAP_MS = 15;
/** Without news the state is told so often, ms. */
const PERIODS_MS = {empty: 1000, filling: 100, playing: 200, starved: 100, suspended: 1000};
/** The same, at least, where answers are rare, and where nobody waits for them: with so much speech in store, ms. */
const RARE_MS = 500;
const PLENTY_MS = 4000;

/** The transmission numbers seen. */
export class Receipts {
  /** Whether anything arrived yet. */
  any = false;
  largest = 0;
  /** Bit i: number `largest - 1 - i` arrived. */
  bitmap = 0n;
  /** When the largest arrived. */
  arrival = 0;

  /** Numbers from here on are looked at by `complete`; servers begin with 0 or 1. */
  #mark = 1;
  #rare = false;
  #told = -Infinity;
  #state = "";
  /** Since when something is untold. @type {number | null} */
  #news = null;
  /** When a number was passed over that nobody was told of yet. @type {number | null} */
  #gap = null;

  /** Whether every number from the mark up to the largest arrived. */
  get complete() {
    const before = Math.min(WINDOW, Math.max(0, beyond(this.largest, this.#mark)));
    const wanted = (1n << BigInt(before)) - 1n;
    return this.any && (this.bitmap & wanted) === wanted;
  }

  /** From now on `complete` looks only at numbers after the largest seen. */
  mark() {
    if (this.any) this.#mark = (this.largest + 1) & 0xffff;
  }

  /** @param {number} number @param {number} now @param {number} [speech] ms of it in the message; without any it says nothing of the path */
  take(number, now, speech = 0) {
    if (speech) this.#rare = speech >= LONG_MS;
    this.#news ??= now;
    const ahead = this.any ? beyond(number, this.largest) : 1;
    if (ahead > 0) {
      if (this.any) this.bitmap = ((this.bitmap << BigInt(ahead)) | (1n << BigInt(ahead - 1))) & ALL;
      if (ahead > 1) this.#gap ??= now;
      [this.any, this.largest, this.arrival] = [true, number, now];
    } else if (ahead < 0 && ahead >= -WINDOW) {
      this.bitmap |= 1n << BigInt(-ahead - 1);
    }
  }

  /**
   * Whether it is time to tell.
   * @param {keyof typeof PERIODS_MS} state of the player
   * @param {number} now
   * @param {number} [buffered] ms of speech in store
   */
  due(state, now, buffered = 0) {
    if (!this.any) return false;
    if (state !== this.#state) return true;
    const since = now - this.#told;
    if (this.#gap !== null && now - this.#gap >= GAP_MS) return true;
    if (this.#news !== null) return since >= (this.#rare ? RARE_NEWS_MS : NEWS_MS);
    return since >= Math.max(PERIODS_MS[state], this.#rare || buffered >= PLENTY_MS ? RARE_MS : 0);
  }

  /** @param {keyof typeof PERIODS_MS} state that was told @param {number} now */
  told(state, now) {
    this.#state = state;
    this.#told = now;
    this.#news = this.#gap = null;
  }
}
