/** What was said goes again beside the reliable channel, which waits a second and more after a loss, until the server answers. */

/** Between two of them, ms. */
const PAUSE_MS = 150;
/** So often at most: by then the reliable channel has tried again, too. */
const MOST = 10;
/** What is longer would be sent in pieces, of which one would be lost, bytes. */
const LONGEST = 1000;

/** Repeats what is not answered. */
export class Repeats {
  #send;
  /** Timers by the id of an utterance. @type {Map<string, number>} */
  #timers = new Map();

  /** @param {(json: string) => void} send over the channel that waits for nothing */
  constructor(send) {
    this.#send = send;
  }

  /** @param {Record<string, any>} message with its `id`, of which a repeat does no harm: not a piece of a text that is still open */
  begin(message) {
    const json = JSON.stringify({say: message});
    if (message.more || this.#timers.has(message.id) || new Blob([json]).size > LONGEST) return;
    this.#wait(message.id, json, MOST);
  }

  /** The server knows of it. @param {string} id */
  answered(id) {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  /** Ends them all. */
  close() {
    for (const id of this.#timers.keys()) this.answered(id);
  }

  /** @param {string} id @param {string} json @param {number} left */
  #wait(id, json, left) {
    const again = () => {
      this.#timers.delete(id);
      if (!left) return;
      this.#send(json);
      this.#wait(id, json, left - 1);
    };
    this.#timers.set(id, setTimeout(again, PAUSE_MS));
  }
}
