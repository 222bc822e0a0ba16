/** The `control` channel: messages in order, each of them once at least, and the server's events. */

import {Repeats} from "./repeats.js";

/** Sends what is asked for; what is asked before the channel opens waits for it. */
export class Control {
  #pc;
  #channel;
  #repeats;
  #post;
  /** @type {Record<string, any>[]} */
  #waiting = [];

  /**
   * @param {RTCPeerConnection} pc not connected yet
   * @param {object} ways
   * @param {(event: Record<string, any>) => void} ways.onevent an event of the server
   * @param {() => void} ways.onclose the server ended the channel
   * @param {(json: string) => void} ways.post takes what is too long for the channel
   * @param {(json: string) => void} ways.hurry sends over a channel that waits for nothing and promises nothing
   */
  constructor(pc, {onevent, onclose, post, hurry}) {
    this.#pc = pc;
    this.#post = post;
    this.#repeats = new Repeats(hurry);
    this.#channel = pc.createDataChannel("control");
    this.#channel.onopen = () => this.#flush();
    this.#channel.onclose = onclose;
    this.#channel.onmessage = ({data}) => {
      const event = JSON.parse(data);
      this.#repeats.answered(event.id);
      onevent(event);
    };
  }

  /** @param {Record<string, any>} message */
  send(message) {
    this.#waiting.push(message);
    if (this.#channel.readyState === "open") this.#flush();
  }

  /** Nothing is repeated any more. */
  close() {
    this.#repeats.close();
  }

  #flush() {
    const limit = this.#pc.sctp?.maxMessageSize ?? 0;
    for (const message of this.#waiting.splice(0)) {
      const json = JSON.stringify(message);
      if (message.say) this.#repeats.begin(message);
      if (new Blob([json]).size <= limit) this.#channel.send(json);
      else this.#post(json);
    }
  }
}
