/**
 * What sounds next: decoded speech in the order of playing, rendered sample by sample. On given time: a frame is one sample of the
 * sound card's clock, wherever that began. Nothing is skipped, stretched or made up; what is missing is silence between two fades.
 * As the sender follows what was played, a clock that runs fast or slow needs no correction here.
 */

/** Beginning needs so much speech in one piece, or a whole utterance, ticks: 60 ms, less the 2 ms an interpolator may hold back. */
const START = 2784;
/** Every fade, ticks: 5 ms. */
const FADE = 240;
/** How long what was played is remembered, ticks: longer than any sound card is late. */
const MEMORY = 96000;

/**
 * @typedef {import("./wire.js").Place} Place
 *
 * @typedef {object} Block
 * @property {number} utterance
 * @property {number} position of its first tick; where the block before ended earlier, the ticks between are missing for good
 * @property {Float32Array} samples
 * @property {boolean} end whether the utterance ends with it
 *
 * @typedef {object} Status
 * @property {"empty" | "filling" | "playing" | "starved"} state at the loudspeaker: it is empty when nothing is on its way there
 * @property {boolean} held whether what comes next waits for its time only
 * @property {number} advanced ticks rendered since the last flush, missing ones among them
 * @property {number} sounded those of them that left the loudspeaker
 * @property {Place | null} played where the loudspeaker is; after a flush, where it will fall silent; null before anything sounded
 * @property {number} spoken ticks of speech rendered, ever
 * @property {number} concealed ticks that were missing, ever
 * @property {number} starved ticks of silence because nothing was there in the midst of an utterance, ever
 */

/** The player's buffer. */
export class PlayBuffer {
  /** @type {Block[]} */
  #queue = [];
  /** Samples of the first block that are rendered already. */
  #taken = 0;
  /** The next tick of the utterance that has begun; null between utterances. @type {Place | null} */
  #place = null;
  #playing = false;
  #gain = 0;
  #advanced = 0;
  #spoken = 0;
  #concealed = 0;
  #starved = 0;
  /** What sounded last before a flush, fading. */
  #tail = new Float32Array();
  /** Frames before which utterances may not begin. @type {Map<number, number>} */
  #holds = new Map();
  /** Runs of what was rendered: when, from where and how much. @type {(Place & {frame: number, ticks: number, advanced: number})[]} */
  #log = [];

  /** Adds speech, in the order of playing. @param {Block} block */
  add(block) {
    this.#queue.push(block);
  }

  /** An utterance may not begin before that frame. @param {number} utterance @param {number} frame */
  hold(utterance, frame) {
    this.#holds.set(utterance, frame);
  }

  /** Drops everything; what sounds fades. @param {number} frame the next to be rendered */
  flush(frame) {
    const tail = new Float32Array(FADE);
    let filled = 0;
    while (this.#playing && filled < FADE && this.#queue.length) filled += this.#step(tail, filled, frame);
    for (let index = 0; index < FADE; index++) tail[index] = tail[index] * (1 - (index + 1) / FADE) + (this.#tail[index] ?? 0);
    this.#tail = tail;
    this.#queue = [];
    this.#holds.clear();
    this.#place = null;
    this.#playing = false;
    this.#taken = this.#advanced = 0;
    // What left for the loudspeaker will sound: that is how far the old epoch was heard. The count begins anew.
    this.#log = this.#log.slice(-1).map((run) => ({...run, frame: -Infinity, advanced: -Infinity}));
  }

  /** The next samples. @param {Float32Array} out @param {number} frame of the first */
  render(out, frame) {
    out.fill(0);
    let index = 0;
    while (index < out.length) {
      if (!this.#playing) {
        const wait = this.#wait(frame + index);
        if (wait >= out.length - index) break;
        index += wait;
        this.#begin();
      }
      index += this.#step(out, index, frame);
    }
    if (this.#place && !this.#playing) this.#starved += out.length - index;
    for (let place = 0; place < Math.min(out.length, this.#tail.length); place++) out[place] += this.#tail[place];
    this.#tail = this.#tail.subarray(out.length);
    while (this.#log.length > 1 && this.#log[1].frame < frame - MEMORY) this.#log.shift();
  }

  /**
   * @param {number} frame the next to be rendered
   * @param {number} latency frames from here to the loudspeaker
   * @returns {Status}
   */
  status(frame, latency) {
    const run = this.#log.findLast((one) => one.frame < frame - latency);
    const ticks = run ? Math.min(run.ticks, frame - latency - run.frame) : 0;
    const last = this.#log.at(-1);
    const sounds = this.#playing || (!this.#place && last && last.frame + last.ticks > frame - latency);
    return {
      state: sounds ? "playing" : this.#place ? "starved" : this.#queue.length ? "filling" : "empty",
      held: !this.#playing && this.#ready(),
      advanced: this.#advanced,
      sounded: run ? Math.max(0, run.advanced + ticks) : 0,
      played: run ? {utterance: run.utterance, position: run.position + ticks} : null,
      spoken: this.#spoken,
      concealed: this.#concealed,
      starved: this.#starved,
    };
  }

  /** Frames until something may begin. @param {number} frame */
  #wait(frame) {
    if (!this.#ready()) return Infinity;
    const {utterance, position} = this.#queue[0];
    return position === 0 ? Math.max(0, (this.#holds.get(utterance) ?? frame) - frame) : 0;
  }

  /** Whether enough is there to begin: a gap that is left behind is not waited for. */
  #ready() {
    return this.#queue.length > 0 && (this.#runway(START) >= START || this.#piece() < this.#queue.length);
  }

  #begin() {
    const {utterance, position} = this.#queue[0];
    this.#playing = true;
    if (this.#place) return;
    this.#place = {utterance, position};
    this.#gain = position === 0 ? 1 : 0;
    this.#holds.delete(utterance);
  }

  /** Renders up to a border between blocks; how many ticks. @param {Float32Array} out @param {number} index @param {number} frame of out[0] */
  #step(out, index, frame) {
    const place = /** @type {Place} */ (this.#place);
    const head = this.#queue[0];
    if (!head) {
      this.#playing = false;
      return 0;
    }
    const room = out.length - index;
    const missing = head.position + this.#taken - place.position;
    const ticks = Math.min(room, missing || head.samples.length - this.#taken);
    if (ticks) this.#note(frame + index, ticks);
    this.#advanced += ticks;
    if (missing) {
      this.#concealed += ticks;
      this.#gain = 0;
    } else {
      this.#sound(out, index, ticks);
      this.#taken += ticks;
      this.#spoken += ticks;
    }
    place.position += ticks;
    if (!missing && this.#taken === head.samples.length) {
      this.#queue.shift();
      this.#taken = 0;
      if (head.end) {
        this.#place = null;
        this.#playing = false;
      }
    }
    return ticks;
  }

  /** @param {Float32Array} out @param {number} index @param {number} ticks of the first block */
  #sound(out, index, ticks) {
    const {samples} = this.#queue[0];
    const left = this.#runway(ticks + FADE);
    for (let tick = 0; tick < ticks; tick++) {
      this.#gain = Math.min(1, this.#gain + 1 / FADE, (left - tick) / FADE);
      out[index + tick] = samples[this.#taken + tick] * this.#gain;
    }
  }

  /** Ticks in one piece from here, looked for up to `limit`; infinite where the utterance ends with them. @param {number} limit */
  #runway(limit) {
    let ticks = -this.#taken;
    const count = this.#piece();
    for (let index = 0; index < count && ticks < limit; index++) {
      if (this.#queue[index].end) return Infinity;
      ticks += this.#queue[index].samples.length;
    }
    return ticks;
  }

  /** How many blocks follow each other without a gap, looked for as far as beginning needs. */
  #piece() {
    let count = 1;
    for (let ticks = 0; count < this.#queue.length && ticks < START; count++) {
      const {utterance, position, samples, end} = this.#queue[count - 1];
      const next = this.#queue[count];
      if (end || next.utterance !== utterance || next.position !== position + samples.length) break;
      ticks += samples.length;
    }
    return Math.min(count, this.#queue.length);
  }

  /** Remembers what is rendered. @param {number} frame @param {number} ticks */
  #note(frame, ticks) {
    const {utterance, position} = /** @type {Place} */ (this.#place);
    const last = this.#log.at(-1);
    const continues = last && last.utterance === utterance && last.frame + last.ticks === frame && last.position + last.ticks === position;
    if (continues && last.advanced >= 0) last.ticks += ticks;
    else this.#log.push({utterance, position, frame, ticks, advanced: this.#advanced});
  }
}
