/** What is asked of the server: in order, each of it once at least, over one connection after another. */

import {Repeats} from "./repeats.js";

/** Sends what is asked for; what is asked while there is no channel waits for one. */
export class Control {
  #repeats;
  #post;
  #wanted;
  /** @type {RTCDataChannel | null} */
  #channel = null;
  #limit = 0;
  /** @type {Record<string, any>[]} */
  #waiting = [];
  /** Sent, and nothing came from the server since: over a dead connection it is lost. @type {Record<string, any>[]} */
  #doubtful = [];

  /**
   * @param {object} ways
   * @param {(json: string) => void} ways.post takes what is too long for the channel
   * @param {(json: string) => void} ways.hurry sends over a channel that waits for nothing and promises nothing
   * @param {() => boolean} ways.wanted whether anything is to be said at present
   */
  constructor({post, hurry, wanted}) {
    this.#post = post;
    this.#wanted = wanted;
    this.#repeats = new Repeats(hurry);
  }

  /** @param {Record<string, any>} message */
  send(message) {
    this.#waiting.push(message);
    this.flush();
  }

  /** Over this channel from now on, which is open; what may have been lost goes again. @param {RTCDataChannel} channel @param {number} limit bytes of a message */
  use(channel, limit) {
    if (channel === this.#channel) return;
    [this.#channel, this.#limit] = [channel, limit];
    this.#waiting = [...new Set([...this.#repeats.unanswered, ...this.#doubtful.splice(0), ...this.#waiting])];
    this.flush();
  }

  /** Nothing gets through at present: what is asked waits. */
  hold() {
    this.#channel = null;
  }

  /** The server said something. @param {string} [id] of the utterance that it knows of */
  heard(id) {
    this.#doubtful.length = 0;
    if (id) this.#repeats.answered(id);
  }

  /** Nothing is repeated any more. */
  close() {
    this.#repeats.close();
  }

  /** Sends what waits; from the first text that is not wanted yet on it waits on, but for what concerns the carrier. */
  flush() {
    const channel = this.#channel;
    if (channel?.readyState !== "open") return;
    /** @type {Record<string, any>[]} */
    const held = [];
    for (const message of this.#waiting.splice(0)) {
      const apart = message.carrier && !message.say;
      if (!apart && (held.length || (message.say && !this.#wanted()))) held.push(message);
      else this.#dispatch(channel, message);
    }
    this.#waiting = held;
  }

  /** @param {RTCDataChannel} channel @param {Record<string, any>} message */
  #dispatch(channel, message) {
    const json = JSON.stringify(message);
    if (message.say) this.#repeats.begin(message);
    this.#doubtful.push(message);
    if (new Blob([json]).size <= this.#limit) channel.send(json);
    else this.#post(json);
  }
}
