/** What was said goes again beside the reliable channel, which waits a second and more after a loss, until the server answers. */

/** Before the first of them, ms: sooner than any answer comes from afar, as one lost message is the commonest delay of a first word. */
const FIRST_MS = 30;
/** Between two of them, ms. */
const PAUSE_MS = 150;
/** So often at most: by then the reliable channel has tried again, too. */
const MOST = 10;
/** What is longer would be sent in pieces, of which one would be lost, bytes. */
const LONGEST = 1000;
/** So much that the server refused, and therefore never answers, is remembered at most. */
const KEPT = 16;

/** Repeats what is not answered. */
export class Repeats {
  #send;
  /** What is not answered, by its id, with the timer of its next repeat. @type {Map<string, {message: Record<string, any>, timer: number}>} */
  #open = new Map();

  /** @param {(json: string) => void} send over the channel that waits for nothing */
  constructor(send) {
    this.#send = send;
  }

  /** What the server is not known to know of, in order. */
  get unanswered() {
    return [...this.#open.values()].map(({message}) => message);
  }

  /** @param {Record<string, any>} message with its `id`, of which a repeat does no harm: not a piece of a text that is still open */
  begin(message) {
    if (message.more) return;
    this.answered(message.id);
    const open = {message, timer: 0};
    this.#open.set(message.id, open);
    for (const id of this.#open.keys()) if (this.#open.size > KEPT) this.answered(id);
    const json = JSON.stringify({say: message});
    if (new Blob([json]).size <= LONGEST) this.#wait(open, json, MOST, FIRST_MS);
  }

  /** The server knows of it. @param {string} id */
  answered(id) {
    clearTimeout(this.#open.get(id)?.timer);
    this.#open.delete(id);
  }

  /** Ends them all. */
  close() {
    for (const id of this.#open.keys()) this.answered(id);
  }

  /** @param {{timer: number}} open @param {string} json @param {number} left @param {number} pause ms */
  #wait(open, json, left, pause) {
    const again = () => {
      if (!left) return;
      this.#send(json);
      this.#wait(open, json, left - 1, PAUSE_MS);
    };
    open.timer = setTimeout(again, pause);
  }
}
