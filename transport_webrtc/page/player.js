/**
 * Plays speech that is sent ahead: takes messages of the `speech` channel, decodes them, renders them in an AudioWorklet and tells
 * the server what arrived and what was heard. What it does follows the worklet's messages, as timers are slow in a hidden tab.
 */

import {Decoding} from "./decoding.js";
import {Receipts} from "./receipts.js";
import {Sequence} from "./sequence.js";
import {TICKS_PER_MS, beyond, readMessage, writeAck} from "./wire.js";

const RATE = TICKS_PER_MS * 1000;
/** A suspended worklet says nothing: then the state is looked at so often, ms. */
const LOOK_MS = 250;
const EMPTY = {state: "empty", held: false, advanced: 0, sounded: 0, played: null, spoken: 0, concealed: 0, starved: 0, frame: 0, flushes: 0};

/** What the worklet says of itself is no older, ticks, or it does not run. */
const FRESH = 50 * TICKS_PER_MS;

/** `frame`: the next to be rendered then. @typedef {import("./playbuffer.js").Status & {frame: number, flushes: number}} Status */

/** Why this page cannot play the data track, as a sentence; empty where it can. */
export function obstacle() {
  if (!globalThis.isSecureContext) return "This page is not a secure context: the data track needs https, or localhost.";
  if (!globalThis.AudioWorkletNode) return "This browser has no AudioWorklet.";
  return "";
}

/** Whether this browser decodes Opus for scripts; where not, only PCM and µ-law can be played. */
export function decodesOpus() {
  return "AudioDecoder" in globalThis;
}

/** One listener's player. */
export class Player {
  #context = new AudioContext({sampleRate: RATE, latencyHint: "interactive"});
  #tap = this.#context.createMediaStreamDestination();
  #sequence = new Sequence();
  #receipts = new Receipts();
  #decoding;
  #onack;
  #onfailure;
  /** @type {AudioWorkletNode | null} */
  #node = null;
  /** What the worklet is to be told once it is there. @type {[object, Transferable[]][]} */
  #untold = [];
  /** @type {Status} */
  #status = /** @type {Status} */ (EMPTY);
  /** The newest epoch. @type {number | null} */
  #epoch = null;
  #flushes = 0;
  /** A flush is told when the worklet says where it fell silent. */
  #silencing = false;
  #played = {utterance: 0, position: 0};
  #latency = 0;
  /** Utterances that wait for their time, `performance.now()`. @type {Map<number, number>} */
  #holds = new Map();
  /** Since when nothing sounds in the midst of an utterance. @type {number | null} */
  #standing = null;
  #look;

  /** Settles when the worklet runs. @type {Promise<void>} */
  ready;

  /**
   * @param {(ack: ArrayBuffer) => void} onack sends an acknowledgement
   * @param {(why: string) => void} onfailure the data track cannot be played any more
   */
  constructor(onack, onfailure) {
    this.#onack = onack;
    this.#onfailure = onfailure;
    this.#decoding = new Decoding((block) => this.#post({block}, [block.samples.buffer]), onfailure);
    this.#decoding.warm();
    this.#look = setInterval(() => this.suspended && this.#acknowledge(performance.now()), LOOK_MS);
    this.ready = this.#open();
    this.ready.catch((error) => onfailure(`The player could not be loaded: ${error.message}`));
  }

  /** What sounds, for recorders. */
  get stream() {
    return this.#tap.stream;
  }

  /** The clock that it plays by. */
  get context() {
    return this.#context;
  }

  /** The node that sounds, once `ready`. */
  get node() {
    return this.#node;
  }

  /** Whether the browser holds the sound back. */
  get suspended() {
    return this.#context.state !== "running";
  }

  /** Asks the browser for sound. Call it from a tap or a click. */
  resume() {
    return this.#context.resume();
  }

  /** Takes a message of the `speech` channel. @param {ArrayBuffer} data */
  take(data) {
    const now = performance.now();
    const message = readMessage(data);
    if (!message) return;
    const ahead = this.#epoch === null ? 1 : beyond(message.epoch, this.#epoch);
    if (ahead > 0) this.#begin(message.epoch);
    const speech = message.frames.reduce((sum, {ticks}) => sum + ticks, 0) / TICKS_PER_MS;
    this.#receipts.take(message.number, now, speech);
    if (ahead >= 0 && message.kind === "speech") {
      if (message.notBefore !== null) this.#hold(message.utterance, message.notBefore, now);
      this.#sequence.take(message);
      this.#release(now);
    }
    this.#silencing ||= message.kind === "flush";
    this.#acknowledge(now);
  }

  /** Ticks played and missing and seconds of waiting, ever; where the loudspeaker is, and what is buffered now. */
  stats() {
    const {spoken, concealed, starved} = this.#status;
    return {
      played: spoken,
      place: {...this.#played},
      concealed_ticks: concealed,
      starved_s: starved / RATE,
      buffered_ms: this.#buffered,
      state: this.#state,
    };
  }

  /** Ends it. */
  close() {
    clearInterval(this.#look);
    this.#decoding.close();
    this.#post({close: true});
    if (this.#context.state !== "closed") void this.#context.close();
  }

  get #state() {
    return this.suspended ? "suspended" : this.#status.state;
  }

  get #buffered() {
    return (this.#sequence.given - this.#status.sounded) / TICKS_PER_MS;
  }

  async #open() {
    await this.#context.audioWorklet.addModule(new URL("player-worklet.js", import.meta.url));
    this.#node = new AudioWorkletNode(this.#context, "legato-player", {numberOfInputs: 0, outputChannelCount: [1]});
    this.#node.onprocessorerror = () => this.#onfailure("The player failed.");
    this.#node.port.onmessage = ({data}) => this.#onStatus(data);
    this.#node.connect(this.#context.destination);
    this.#node.connect(this.#tap);
    for (const [message, transfer] of this.#untold.splice(0)) this.#post(message, transfer);
  }

  /** @param {object} message @param {Transferable[]} [transfer] */
  #post(message, transfer = []) {
    if (this.#node) this.#node.port.postMessage(message, transfer);
    else this.#untold.push([message, transfer]);
  }

  /** Whatever was sent before this epoch is dropped. @param {number} epoch */
  #begin(epoch) {
    const first = this.#epoch === null;
    this.#epoch = epoch;
    if (first) return;
    this.#flushes++;
    this.#post({flush: true});
    this.#decoding.flush();
    this.#sequence.flush();
    this.#receipts.mark();
    this.#holds.clear();
    this.#standing = null;
    this.#silencing = true;
    this.#status = {...this.#status, state: "empty", held: false, advanced: 0, sounded: 0};
  }

  /** @param {Status} status */
  #onStatus(status) {
    const now = performance.now();
    if (status.played) this.#played = status.played;
    if (status.flushes < this.#flushes) return;
    this.#status = status;
    const stands = status.state === "starved" || (status.state === "filling" && !status.held);
    this.#standing = stands ? (this.#standing ?? now) : null;
    this.#follow(now);
    this.#release(now);
    this.#acknowledge(now);
  }

  /** Keeps the worklet's idea of the sound card right. @param {number} now */
  #follow(now) {
    const latency = Math.round((this.#context.outputLatency || this.#context.baseLatency || 0) * RATE);
    if (Math.abs(latency - this.#latency) > TICKS_PER_MS) this.#post({latency: (this.#latency = latency)});
    for (const [utterance, time] of this.#holds) {
      if (time < now) this.#holds.delete(utterance);
      else this.#post({hold: {utterance, frame: this.#frameAt(time)}});
    }
  }

  /** @param {number} utterance @param {number} clock `performance.now()` mod 2^32, rounded @param {number} now */
  #hold(utterance, clock, now) {
    // The difference is signed: a time that has passed is no reason to wait for 49 days.
    const time = Math.round(now) + ((clock - (Math.round(now) % 2 ** 32)) | 0);
    if (time <= now || this.#holds.get(utterance) === time) return;
    this.#holds.set(utterance, time);
    this.#post({hold: {utterance, frame: this.#frameAt(time)}});
  }

  /** The frame that leaves the loudspeaker at that time. @param {number} time `performance.now()` */
  #frameAt(time) {
    const {contextTime, performanceTime} = this.#context.getOutputTimestamp();
    const [sounding, at] = performanceTime ? [contextTime, performanceTime] : [this.#context.currentTime - this.#latency / RATE, performance.now()];
    return Math.ceil(((sounding ?? 0) + (time - (at ?? 0)) / 1000) * RATE);
  }

  /** Ticks that left the loudspeaker since the worklet told where it is: it renders in bursts. @param {number} now */
  #since(now) {
    const {state, played, frame} = this.#status;
    if (state !== "playing" || !played || this.suspended) return 0;
    const most = Math.min(FRESH, this.#buffered * TICKS_PER_MS);
    return Math.max(0, Math.min(this.#frameAt(now) - (frame - this.#latency), most));
  }

  /** Decodes what is next. @param {number} now */
  #release(now) {
    const waits = this.suspended || this.#status.held;
    const situation = {
      ahead: waits ? Infinity : this.#sequence.given - this.#status.advanced,
      standing: this.#status.state === "playing" ? null : now - (this.#standing ?? now),
      complete: this.#receipts.complete,
    };
    for (const turn of this.#sequence.release(situation, now)) this.#decoding.push(turn);
  }

  /** Tells what is news, when it is time. @param {number} now */
  #acknowledge(now) {
    const silent = this.suspended || this.#status.flushes === this.#flushes;
    if (this.#silencing ? silent : this.#receipts.due(this.#state, now, this.#buffered)) this.#tell(now);
  }

  /** @param {number} now */
  #tell(now) {
    const {largest, bitmap, arrival} = this.#receipts;
    const since = this.#since(now);
    this.#receipts.told(this.#state, now);
    this.#silencing = false;
    this.#onack(
      writeAck({
        epoch: this.#epoch ?? 0,
        largest,
        bitmap,
        arrival,
        delay: now - arrival,
        wanted: this.#sequence.wanted ?? this.#played,
        played: {...this.#played, position: this.#played.position + since},
        buffered: this.#buffered - since / TICKS_PER_MS,
        state: this.#state,
      }),
    );
  }
}
