import assert from "node:assert/strict";
import test from "node:test";

import {Decoding} from "../../../transport_webrtc/page/decoding.js";

/** Makes of a packet, whose first bytes say how many ticks it lasts, a rising line that ends at one. */
class FakeDecoder {
  state = "configured";

  /** @param {{output: (audio: object) => void}} told */
  constructor({output}) {
    this.output = output;
  }

  configure() {}

  close() {
    this.state = "closed";
  }

  /** @param {{data: Uint8Array}} chunk */
  decode({data}) {
    const ticks = new DataView(data.buffer).getUint16(0);
    this.output({
      numberOfFrames: ticks,
      copyTo: (/** @type {Float32Array} */ out) => out.set(Float32Array.from({length: ticks}, (_, tick) => (tick + 1) / ticks)),
      close: () => undefined,
    });
  }
}

Object.assign(globalThis, {AudioDecoder: FakeDecoder, EncodedAudioChunk: class {
  constructor(/** @type {object} */ init) {
    Object.assign(this, init);
  }
}});

const packet = (/** @type {number} */ ticks) => Uint8Array.of(ticks >> 8, ticks & 255);

test("of a packet that begins before its frame the end is played, and what was held back goes over into its beginning", () => {
  const blocks = [];
  const decoding = new Decoding((block) => blocks.push(block), assert.fail);
  const at = (position, more) => ({utterance: 1, position, end: false, ...more});
  decoding.push(at(0, {codec: "pcm16", rate: 8000, ticks: 480, payload: new Uint8Array(160)}));
  decoding.push(at(480, {codec: "opus", rate: 48000, ticks: 960, payload: packet(1920)}));
  decoding.push(at(1440, {codec: "opus", rate: 48000, ticks: 960, payload: packet(960)}));
  const [first, held, begun, next] = blocks;
  assert.deepEqual(blocks.map(({position}) => position), [0, first.samples.length, 480, 1440]);
  assert.equal(held.samples.length, 480 - first.samples.length);
  assert.ok(held.samples[0] < 0.05);
  assert.ok(Math.abs(held.samples.at(-1) - 0.5) < 0.02, "silence goes over into what ran in");
  assert.equal(begun.samples.length, 960);
  assert.equal(begun.samples[0], Math.fround(961 / 1920));
  assert.equal(next.samples[0], Math.fround(1 / 960));
});
