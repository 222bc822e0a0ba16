/** What carries the speech to this listener: the data track where the page can play it, else the audio track. */

import {Player, decodesOpus, obstacle} from "./player.js";

/** How long the data track may take to open once the connection stands, ms. */
const OPENING_MS = 3000;
/** The same for a player that goes on over another connection: it may have speech left meanwhile, ms. */
const REOPENING_MS = 15000;
/** How long a browser may take to begin to play, ms. */
const RESUMING_MS = 1000;

/** @typedef {"data" | "audio"} Carrier */

/** Chooses the carrier, and gives it up for the other where it fails. Its player outlives connections. */
export class Carriage {
  /** What carries; null until that is known. @type {Carrier | null} */
  carrier = null;
  /** Why it is that one, as a sentence. */
  why = "";

  #told;
  /** @type {Player | null} */
  #player = null;
  #opened = false;
  #opening = 0;

  /**
   * @param {"auto" | Carrier} wanted
   * @param {object} told
   * @param {(ack: ArrayBuffer) => void} told.onack sends an acknowledgement
   * @param {(fell: boolean) => void} told.oncarrier the carrier is known, or has changed; `fell`: because the other failed
   * @param {() => void} told.onsound the browser holds sound back, or does so no longer
   */
  constructor(wanted, told) {
    this.#told = told;
    this.why = wanted === "audio" ? "The audio track was asked for." : obstacle();
    if (this.why) return;
    this.#player = new Player(told.onack, (why) => this.fall(why));
    this.#player.context.onstatechange = told.onsound;
  }

  /** Whether connections are to offer a data track. */
  get playable() {
    return this.#player !== null;
  }

  /** Whether a player goes on over another connection. */
  get kept() {
    return this.#opened && this.playable;
  }

  /** What the offer says beside its channels. @returns {Record<string, string>} */
  get query() {
    if (!this.#player || (this.#opened && this.carrier === "audio")) return {carrier: "audio"};
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

  /** A connection stands. */
  connected() {
    if (!this.#player) return this.#settle("audio", this.why);
    clearTimeout(this.#opening);
    this.#opening = setTimeout(() => this.fall("The data track did not open."), this.#opened ? REOPENING_MS : OPENING_MS);
  }

  /** Its data track opened. */
  opened() {
    clearTimeout(this.#opening);
    if (!this.#player) return;
    if (!this.#opened || this.carrier === "data") this.#settle("data", "The speech travels ahead of its time.");
    this.#opened = true;
  }

  /** A message of the data track. @param {ArrayBuffer} data */
  take(data) {
    this.#player?.take(data);
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
  fall(why) {
    if (!this.#player) return;
    this.close();
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
