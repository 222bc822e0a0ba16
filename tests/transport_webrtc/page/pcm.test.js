import assert from "node:assert/strict";
import {test} from "node:test";

import {Interpolator, decode} from "../../../transport_webrtc/page/pcm.js";

const tone = (hz, rate, count, from = 0) => Float32Array.from({length: count}, (_, index) => 0.5 * Math.sin((2 * Math.PI * hz * (from + index)) / rate));
const worst = (a, b) => a.reduce((most, sample, index) => Math.max(most, Math.abs(sample - b[index])), 0);

/** Brings `samples` to 48 kHz in pieces. */
function raised(rate, samples, piece, past = new Float32Array()) {
  const interpolator = new Interpolator(rate, past);
  const parts = [];
  for (let from = 0; from < samples.length; from += piece) parts.push(interpolator.push(samples.subarray(from, from + piece)));
  parts.push(interpolator.finish());
  return Float32Array.of(...parts.flatMap((part) => Array.from(part)));
}

test("PCM16 and µ-law are decoded as G.711 and little-endian say", () => {
  assert.deepEqual(decode("pcm16", Uint8Array.of(0x00, 0x80, 0xff, 0x7f, 0x01, 0x00)), Float32Array.of(-1, 32767 / 32768, 1 / 32768));
  assert.deepEqual(decode("ulaw", Uint8Array.of(0x00, 0x80, 0xff, 0x7f, 0x8f)), Float32Array.of(-32124, 32124, 0, 0, 16764).map((sample) => sample / 32768));
});

for (const rate of [8000, 12000, 16000, 24000]) {
  test(`${rate} Hz: samples given stay as they are, and none is lost, however they are cut`, () => {
    const samples = tone(440, rate, rate / 10);
    const whole = raised(rate, samples, samples.length);
    const ratio = 48000 / rate;
    assert.equal(whole.length, 4800);
    samples.forEach((sample, index) => assert.equal(whole[index * ratio], sample));
    for (const piece of [rate / 100, 7, 1]) assert.deepEqual(raised(rate, samples, piece), whole);
  });

  test(`${rate} Hz: what is made between is the tone that was meant`, () => {
    for (const share of [0.05, 0.2, 0.4]) {
      const [hz, count] = [share * rate, rate / 10];
      const heard = raised(rate, tone(hz, rate, count), rate / 100);
      assert.ok(worst(heard.slice(960, -960), tone(hz, 48000, 4800).slice(960, -960)) < 0.002, `${hz} Hz`);
    }
  });

  test(`${rate} Hz: a run that goes on from 48 kHz begins without a step`, () => {
    const past = tone(300, 48000, 96);
    const heard = raised(rate, tone(300, rate, rate / 20, rate / 500), rate / 100, past);
    assert.ok(worst(heard.slice(0, 480), tone(300, 48000, 480, 96)) < 0.002);
    const end = tone(300, 48000, 2400, 96).slice(-480);
    assert.ok(worst(heard.slice(-480), end) < 0.03, "nor does it end with one");
  });
}
