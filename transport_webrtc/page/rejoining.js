/** Tries again and again, a little later each time but for what wakes it, until it succeeds or is of no use. */

/** Between an attempt that failed and the next, ms; the last again and again. */
const PAUSES_MS = [100, 250, 500, 1000];
/** How long a server may take to answer an offer, beside what it took the first time, ms: longer after each attempt that ran out of it. */
export const PATIENCE_MS = [1000, 1500, 2000];
/** Something that begins to look up does not interrupt an attempt that is younger, ms. */
const YOUNG_MS = 300;

/**
 * @typedef {object} Attempt
 * @property {(signal: AbortSignal, patience: number) => Promise<void>} once rejects where it fails, also because of the signal
 * @property {(error: any) => boolean} hopeless whether to try no more after that error
 */

/** One absence from the server: `begin` once. */
export class Rejoining {
  #attempt;
  #ended = false;
  #begun = 0;
  /** @type {AbortController | null} */
  #running = null;
  /** Ends the pause between two attempts. */
  #wake = () => {};
  #up = () => this.hurry();

  /** @param {Attempt} attempt */
  constructor(attempt) {
    this.#attempt = attempt;
  }

  /** Rejects with the error that was hopeless; resolves once an attempt succeeded, or `end` was called. */
  async begin() {
    globalThis.addEventListener?.("online", this.#up);
    try {
      for (let failures = 0; !this.#ended; failures++) {
        this.#running = new AbortController();
        this.#begun = performance.now();
        try {
          return await this.#attempt.once(this.#running.signal, PATIENCE_MS[Math.min(failures, PATIENCE_MS.length - 1)]);
        } catch (error) {
          if (!this.#ended && this.#attempt.hopeless(error)) throw error;
        }
        this.#running = null;
        if (!this.#ended) await this.#pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
      }
    } finally {
      this.end();
    }
  }

  /** The network is back, or looks like it: tries at once. */
  hurry() {
    if (this.#running && performance.now() - this.#begun < YOUNG_MS) return;
    this.#running?.abort();
    this.#wake();
  }

  /** Tries no more. */
  end() {
    this.#ended = true;
    globalThis.removeEventListener?.("online", this.#up);
    this.#running?.abort();
    this.#wake();
  }

  /** @param {number} ms @returns {Promise<void>} */
  #pause(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
