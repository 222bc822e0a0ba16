/** What carries the speech to this listener: the data track where the page can play it, else the audio track. */

import {Player, decodesOpus, obstacle} from "./player.js";

/** How long the data track may take to open once the connection stands, ms. */
const OPENING_MS = 3000;
/** How long a browser may take to begin to play, ms. */
const RESUMING_MS = 1000;

/** @typedef {"data" | "audio"} Carrier */

/** Chooses the carrier, and gives it up for the other where it fails. */
export class Carriage {
  /** What carries; null until that is known. @type {Carrier | null} */
  carrier = null;
  /** Why it is that one, as a sentence. */
  why = "";

  #pc;
  #told;
  /** @type {Player | null} */
  #player = null;
  /** @type {RTCDataChannel | null} */
  #channel = null;
  #opening = 0;

  /**
   * @param {RTCPeerConnection} pc not connected yet
   * @param {"auto" | Carrier} wanted
   * @param {object} told
   * @param {(ack: ArrayBuffer) => void} told.onack sends an acknowledgement
   * @param {(fell: boolean) => void} told.oncarrier the carrier is known, or has changed; `fell`: because the other failed
   * @param {() => void} told.onsound the browser holds sound back, or does so no longer
   */
  constructor(pc, wanted, told) {
    this.#pc = pc;
    this.#told = told;
    this.why = wanted === "audio" ? "The audio track was asked for." : obstacle();
    if (this.why) return;
    this.#channel = pc.createDataChannel("speech", {ordered: false, maxRetransmits: 0});
    this.#channel.binaryType = "arraybuffer";
    this.#player = new Player(told.onack, (why) => this.#fall(why));
    this.#player.context.onstatechange = told.onsound;
    this.#channel.onmessage = ({data}) => this.#player?.take(data);
    this.#channel.onopen = () => this.#settle("data", "The speech travels ahead of its time.");
    this.#channel.onclose = () => pc.connectionState === "connected" && this.#fall("The server ended the data track.");
  }

  /** What the offer says beside its channels. @returns {Record<string, string>} */
  get query() {
    if (!this.#player) return {carrier: "audio"};
    return decodesOpus() ? {} : {formats: "pcm16,ulaw"};
  }

  /** Whether the browser lets this carrier sound. */
  get audible() {
    return !this.#player?.suspended;
  }

  /** What the data track plays; null on the audio track. */
  get stream() {
    return this.carrier === "data" ? (this.#player?.stream ?? null) : null;
  }

  /** The player's counters; null on the audio track. */
  stats() {
    return this.#player?.stats() ?? null;
  }

  /** The connection stands. */
  connected() {
    if (!this.#player) this.#settle("audio", this.why);
    else if (!this.carrier) this.#opening ||= setTimeout(() => this.#fall("The data track did not open."), OPENING_MS);
  }

  /** The server says so. @param {Carrier} carrier @param {string} why */
  moved(carrier, why) {
    if (carrier === "audio" || this.#player) this.#settle(carrier, why);
  }

  /** Asks the browser for sound; whether it gives it. */
  async resume() {
    const asked = this.#player?.resume();
    await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, RESUMING_MS))]);
    return this.audible;
  }

  /** Ends it. */
  close() {
    clearTimeout(this.#opening);
    this.#player?.close();
    this.#player = null;
  }

  /** @param {string} why the data track is of no use */
  #fall(why) {
    if (!this.#player || this.#pc.connectionState === "closed") return;
    this.close();
    this.#channel?.close();
    this.#settle("audio", why, true);
  }

  /** @param {Carrier} carrier @param {string} why @param {boolean} [fell] */
  #settle(carrier, why, fell = false) {
    clearTimeout(this.#opening);
    if (this.carrier === carrier) return;
    [this.carrier, this.why] = [carrier, why];
    this.#told.oncarrier(fell);
  }
}
