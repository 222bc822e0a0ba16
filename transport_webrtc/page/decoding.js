/** Frames to blocks of samples at 48 kHz, in the order given: Opus by WebCodecs, PCM here. */

import {Interpolator, decode} from "./pcm.js";

const RATE = 48000;
/** As much of what sounded last as an interpolator looks back at: 15 samples of 8 kHz. */
const PAST = 96;
const OPUS = {codec: "opus", sampleRate: RATE, numberOfChannels: 1};
/** 20 ms of nothing (RFC 6716: one fullband CELT frame). */
const SILENCE = new Uint8Array([0xf8, 0xff, 0xfe]);

/**
 * @typedef {import("./sequence.js").Turn} Turn
 * @typedef {import("./playbuffer.js").Block} Block
 * @typedef {{turn: Turn, samples: Float32Array | null}} Slot samples at the rate of the wire, once they are there
 */

/** Decodes a listener's frames. */
export class Decoding {
  #onblock;
  #onfailure;
  /** @type {Slot[]} */
  #slots = [];
  /** @type {AudioDecoder | null} */
  #decoder = null;
  /** Of the next Opus packet, µs. */
  #timestamp = 0;
  /** @type {Interpolator | null} */
  #interpolator = null;
  /** Where the last block ended, and how it sounded there. */
  #end = {utterance: -1, position: -1};
  #past = new Float32Array();

  /**
   * @param {(block: Block) => void} onblock
   * @param {(why: string) => void} onfailure nothing comes after it
   */
  constructor(onblock, onfailure) {
    this.#onblock = onblock;
    this.#onfailure = onfailure;
  }

  /** Makes the browser ready to decode Opus, so that the first frame of all does not wait for it. */
  warm() {
    if (!("AudioDecoder" in globalThis)) return;
    this.#decoder ??= this.#open();
    // A decoder of its own: what comes out of the other one is counted.
    const spare = new AudioDecoder({
      output: (audio) => {
        audio.close();
        spare.close();
      },
      error: () => undefined,
    });
    spare.configure(OPUS);
    spare.decode(new EncodedAudioChunk({type: "key", timestamp: 0, data: SILENCE}));
  }

  /** @param {Turn} turn in the order of playing */
  push(turn) {
    if (turn.codec === "opus") {
      this.#slots.push({turn, samples: null});
      this.#decodeOpus(turn);
    } else {
      this.#slots.push({turn, samples: fitted(decode(turn.codec, turn.payload), (turn.ticks * turn.rate) / RATE)});
    }
    this.#drain();
  }

  /** Drops what is not decoded yet. */
  flush() {
    this.#slots = [];
    this.#interpolator = null;
    this.#end = {utterance: -1, position: -1};
    if (!this.#decoder) return;
    this.close();
    this.#decoder = this.#open();
  }

  /** Ends the decoder. */
  close() {
    if (this.#decoder?.state !== "closed") this.#decoder?.close();
    this.#decoder = null;
  }

  /** @param {Turn} turn */
  #decodeOpus({payload, ticks}) {
    try {
      this.#decoder ??= this.#open();
      this.#decoder.decode(new EncodedAudioChunk({type: "key", timestamp: this.#timestamp, data: payload}));
      this.#timestamp += Math.round((ticks / RATE) * 1e6);
    } catch (error) {
      this.#onfailure(`Opus was not decoded: ${/** @type {Error} */ (error).message}`);
    }
  }

  #open() {
    const decoder = new AudioDecoder({
      // One output a packet, in order; one that a flush made needless is not waited for any more.
      output: (audio) => {
        if (decoder === this.#decoder) this.#take(audio);
        audio.close();
      },
      error: (error) => decoder === this.#decoder && this.#onfailure(`Opus was not decoded: ${error.message}`),
    });
    decoder.configure(OPUS);
    return decoder;
  }

  /** @param {AudioData} audio */
  #take(audio) {
    const slot = this.#slots.find(({samples}) => !samples);
    if (!slot) return;
    const samples = new Float32Array(audio.numberOfFrames);
    audio.copyTo(samples, {planeIndex: 0, format: "f32-planar"});
    slot.samples = samples.length < slot.turn.ticks ? fitted(samples, slot.turn.ticks) : samples;
    this.#drain();
  }

  #drain() {
    while (this.#slots[0]?.samples) {
      const {turn, samples: decoded} = /** @type {{turn: Turn, samples: Float32Array}} */ (this.#slots.shift());
      // A packet of Opus that is longer than its frame begins earlier, so that the decoder has run in.
      const begins = turn.codec === "opus" ? decoded.length - turn.ticks : 0;
      const samples = decoded.subarray(begins);
      const rate = turn.codec === "opus" ? RATE : turn.rate;
      const expected = this.#end.position + (this.#interpolator?.waiting ?? 0);
      const continues = turn.utterance === this.#end.utterance && turn.position === expected;
      if (this.#interpolator && !(continues && rate === this.#interpolator.rate)) {
        this.#finish(false, continues ? decoded.subarray(0, begins) : undefined);
      }
      if (!continues) this.#past = new Float32Array();
      if (!continues) this.#end = {utterance: turn.utterance, position: turn.position};
      if (rate === RATE) {
        this.#emit(samples, turn.end);
      } else {
        this.#interpolator ??= new Interpolator(rate, this.#past);
        this.#emit(this.#interpolator.push(samples), false);
        if (turn.end) this.#finish(true);
      }
    }
  }

  /** Gives out what the interpolator holds back, going over into what else is known of the same time. @param {boolean} end @param {Float32Array} [into] */
  #finish(end, into = new Float32Array()) {
    const rest = this.#interpolator?.finish() ?? new Float32Array();
    const from = into.length - rest.length;
    for (let index = 0; from >= 0 && index < rest.length; index++) {
      rest[index] += (into[from + index] - rest[index]) * (0.5 - 0.5 * Math.cos((Math.PI * (index + 0.5)) / rest.length));
    }
    this.#interpolator = null;
    this.#emit(rest, end);
  }

  /** @param {Float32Array} samples @param {boolean} end */
  #emit(samples, end) {
    if (!samples.length && !end) return;
    const {utterance, position} = this.#end;
    this.#past = Float32Array.of(...this.#past, ...samples.slice(-PAST)).slice(-PAST);
    this.#end = {utterance, position: position + samples.length};
    this.#onblock({utterance, position, samples, end});
  }
}

/** Exactly so many samples: a frame takes the time that its message says. @param {Float32Array} samples @param {number} count */
function fitted(samples, count) {
  if (samples.length === count) return samples;
  const exact = new Float32Array(count);
  exact.set(samples.subarray(0, count));
  return exact;
}
