/** Samples that travel as they are: PCM16 and µ-law, and the way from their rate to 48 kHz. */

const RATE = 48000;
/** Neighbours on each side that an interpolated sample is made of. */
const REACH = 16;
/** Of the Kaiser window: what is mirrored beyond the band stays 60 dB below (Kaiser 1974). */
const BETA = 6;

/** ITU-T G.711, table 2a: every code's value, full scale ±1. */
const ULAW = Float32Array.from({length: 256}, (_, code) => {
  const [exponent, mantissa] = [(~code >> 4) & 7, ~code & 15];
  const size = (((mantissa << 3) + 132) << exponent) - 132;
  return (code & 128 ? size : 0 - size) / 32768;
});

/**
 * @param {"pcm16" | "ulaw"} codec
 * @param {Uint8Array} payload
 * @returns {Float32Array<ArrayBuffer>} full scale ±1, at the rate of the wire
 */
export function decode(codec, payload) {
  if (codec === "ulaw") return Float32Array.from(payload, (code) => ULAW[code]);
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Float32Array.from({length: payload.length >> 1}, (_, index) => view.getInt16(2 * index, true) / 32768);
}

/** One run of samples at a lower rate, brought to 48 kHz in place: every sample given stays as it is, those between are made. */
export class Interpolator {
  rate;
  #ratio;
  #phases;
  /** Samples still needed, `REACH - 1` of the past first. @type {Float32Array<ArrayBuffer>} */
  #held;

  /**
   * @param {number} rate Hz
   * @param {Float32Array} past what sounded before, at 48 kHz; silence where it is short
   */
  constructor(rate, past) {
    this.rate = rate;
    this.#ratio = RATE / rate;
    this.#phases = phases(this.#ratio);
    this.#held = Float32Array.from({length: REACH - 1}, (_, index) => past[past.length - (REACH - 1 - index) * this.#ratio] ?? 0);
  }

  /** Ticks held back until what follows is known. */
  get waiting() {
    return Math.max(0, this.#held.length - REACH + 1) * this.#ratio;
  }

  /** What can be made now: the last `REACH` samples need those after them. @param {Float32Array} samples */
  push(samples) {
    const held = new Float32Array(this.#held.length + samples.length);
    held.set(this.#held);
    held.set(samples, this.#held.length);
    const count = Math.max(0, held.length - 2 * REACH + 1);
    const made = new Float32Array(count * this.#ratio);
    for (let index = 0; index < count; index++) {
      for (let phase = 0; phase < this.#ratio; phase++) {
        const taps = this.#phases[phase];
        let sample = 0;
        for (let tap = 0; tap < taps.length; tap++) sample += taps[tap] * held[index + tap];
        made[index * this.#ratio + phase] = sample;
      }
    }
    this.#held = held.slice(count);
    return made;
  }

  /** The rest, as if the last samples were mirrored at the end: nothing that follows is known at this rate. */
  finish() {
    const [held, last] = [this.#held, this.#held.length - 1];
    return this.push(Float32Array.from({length: REACH}, (_, index) => 2 * held[last] - (held[last - 1 - index] ?? held[0])));
  }
}

/** Taps for each place between two samples, from `REACH - 1` before to `REACH` after. @param {number} ratio */
function phases(ratio) {
  return Array.from({length: ratio}, (_, phase) => {
    const taps = Float64Array.from({length: 2 * REACH}, (_, tap) => {
      const x = tap - (REACH - 1) - phase / ratio;
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
      return (phase === 0 ? Number(x === 0) : sinc) * bessel(BETA * Math.sqrt(1 - (x / REACH) ** 2));
    });
    const total = taps.reduce((sum, tap) => sum + tap, 0);
    return taps.map((tap) => tap / total);
  });
}

/** The modified Bessel function of the first kind and order 0. @param {number} x */
function bessel(x) {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k++) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}
