import assert from "node:assert/strict";
import {test} from "node:test";

import {PlayBuffer} from "../../../transport_webrtc/page/playbuffer.js";

const QUANTUM = 128;
const FADE = 240;

/** Samples that say which tick they are. */
const ramp = (ticks, from = 0) => Float32Array.from({length: ticks}, (_, index) => (from + index + 1) / 65536);
const block = (position, ticks, {utterance = 1, end = false} = {}) => ({utterance, position, samples: ramp(ticks, position), end});

/** A buffer with a clock. */
class Player {
  buffer = new PlayBuffer();
  frame = 0;

  /** Renders so many ticks, whole quanta. */
  render(ticks) {
    const out = new Float32Array(Math.ceil(ticks / QUANTUM) * QUANTUM);
    for (let index = 0; index < out.length; index += QUANTUM, this.frame += QUANTUM) {
      this.buffer.render(out.subarray(index, index + QUANTUM), this.frame);
    }
    return out;
  }

  status(latency = 0) {
    return this.buffer.status(this.frame, latency);
  }
}

const isSilent = (samples) => samples.every((sample) => sample === 0);
const steepest = (samples) => samples.slice(1).reduce((most, sample, index) => Math.max(most, Math.abs(sample - samples[index])), 0);

test("a whole utterance sounds exactly, without a fade", () => {
  const player = new Player();
  player.buffer.add(block(0, 960));
  player.buffer.add(block(960, 500, {end: true}));
  const out = player.render(2048);
  assert.deepEqual(out.slice(0, 1460), ramp(1460));
  assert.ok(isSilent(out.slice(1460)));
  assert.equal(player.status().state, "empty");
  assert.deepEqual(player.status().played, {utterance: 1, position: 1460});
});

test("58 ms in one piece begin, less do not", () => {
  const player = new Player();
  player.buffer.add(block(0, 2783));
  assert.ok(isSilent(player.render(1280)));
  assert.equal(player.status().state, "filling");
  player.buffer.add(block(2783, 97));
  assert.deepEqual(player.render(1280), ramp(1280));
  assert.equal(player.status().state, "playing");
});

test("a missing frame is silence for its time, between two fades", () => {
  const player = new Player();
  const loud = (position, ticks, end = false) => ({utterance: 1, position, samples: new Float32Array(ticks).fill(0.5), end});
  player.buffer.add(loud(0, 2880));
  player.buffer.add(loud(3840, 2880, true));
  const out = player.render(6784);
  assert.ok(out.slice(0, 2880 - FADE).every((sample) => sample === 0.5));
  assert.ok(isSilent(out.slice(2880, 3840)));
  assert.ok(out.slice(3840 + FADE, 6720).every((sample) => sample === 0.5));
  assert.ok(steepest(out.slice(0, 6719)) < 0.5 / FADE + 1e-6, "it clicks");
  assert.equal(player.status().concealed, 960);
  assert.equal(player.status().spoken, 5760);
  assert.equal(player.status().starved, 0);
});

test("what runs dry waits, and goes on at the very tick", () => {
  const player = new Player();
  player.buffer.add(block(0, 3000));
  const before = player.render(3072);
  assert.deepEqual(before.slice(0, 3000 - FADE), ramp(3000 - FADE));
  assert.ok(before[2999] < before[2700]);
  assert.equal(player.status().state, "starved");
  assert.ok(isSilent(player.render(4800)));
  player.buffer.add(block(3000, 2783));
  assert.ok(isSilent(player.render(128)), "less than 58 ms");
  player.buffer.add(block(5783, 97, {end: true}));
  const after = player.render(2944);
  assert.deepEqual(after.slice(FADE, 2880), ramp(2880 - FADE, 3000 + FADE));
  assert.ok(after[0] > 0 && after[0] < 0.01 * ramp(1, 3000)[0]);
  assert.equal(player.status().starved, 72 + 4864 + 128);
  assert.equal(player.status().concealed, 0);
  assert.equal(player.status().advanced, 5880);
});

test("what arrives while it fades is faded in from there", () => {
  const player = new Player();
  const loud = (position) => ({utterance: 1, position, samples: new Float32Array(2944).fill(0.5), end: false});
  player.buffer.add(loud(0));
  const first = player.render(2816);
  player.buffer.add(loud(2944));
  const second = player.render(2816);
  const out = Float32Array.of(...first, ...second);
  assert.ok(out[2815] < 0.5);
  assert.ok(steepest(out) < 0.5 / FADE + 1e-6, "it clicks");
  assert.equal(out[3200], 0.5);
});

test("utterances follow each other without a gap", () => {
  const player = new Player();
  player.buffer.add(block(0, 1000, {end: true}));
  player.buffer.add(block(0, 777, {utterance: 2, end: true}));
  player.buffer.add(block(0, 2880, {utterance: 3}));
  const out = player.render(3840);
  assert.deepEqual(out.slice(0, 1000), ramp(1000));
  assert.deepEqual(out.slice(1000, 1777), ramp(777));
  assert.deepEqual(out.slice(1777, 3840), ramp(3840 - 1777));
  assert.deepEqual(player.status(1024).played, {utterance: 3, position: 3840 - 1024 - 1777});
  assert.deepEqual(player.status(3840 - 1500).played, {utterance: 2, position: 500});
});

test("an end without a frame ends", () => {
  const player = new Player();
  player.buffer.add(block(0, 3000));
  player.render(2944);
  player.buffer.add({utterance: 1, position: 3000, samples: new Float32Array(), end: true});
  player.render(128);
  assert.equal(player.status().state, "empty");
});

test("a flush fades within 5 ms and drops the rest", () => {
  for (let offset = 0; offset < 5; offset++) {
    const player = new Player();
    player.buffer.add({utterance: 1, position: 0, samples: new Float32Array(96000).fill(0.5), end: false});
    player.render(4800 + offset * QUANTUM);
    const at = player.frame;
    player.buffer.flush(player.frame);
    assert.equal(player.status(2000).state, "empty");
    const out = player.render(1024);
    assert.ok(out[0] < 0.5 && out[0] > 0.49);
    assert.ok(steepest(out) < 0.5 / FADE + 1e-6, "it clicks");
    assert.ok(isSilent(out.slice(FADE)));
    assert.equal(player.status().state, "empty");
    assert.deepEqual(player.status(2000).played, {utterance: 1, position: at + FADE}, "the fade is heard, too");
    assert.equal(player.status().advanced, 0);
    assert.equal(player.status().sounded, 0);
  }
});

test("a new epoch begins while the old one fades", () => {
  const player = new Player();
  player.buffer.add({utterance: 1, position: 0, samples: new Float32Array(9600).fill(0.5), end: false});
  player.render(4800);
  player.buffer.flush(player.frame);
  player.buffer.add(block(0, 2880, {utterance: 2, end: true}));
  const out = player.render(1280);
  assert.ok(Math.abs(out[0] - ramp(1)[0] - 0.5 * (1 - 1 / FADE)) < 1e-6);
  assert.deepEqual(out.slice(FADE), ramp(1280 - FADE, FADE));
  assert.deepEqual(player.status().played, {utterance: 2, position: 1280});
});

test("a flush in a hole or in silence is silent", () => {
  const player = new Player();
  player.buffer.flush(0);
  player.buffer.add(block(0, 2880));
  player.buffer.add(block(9600, 2880));
  player.render(4800);
  player.buffer.flush(player.frame);
  assert.ok(isSilent(player.render(1280)));
});

test("an utterance does not begin before its time, and then at the very frame", () => {
  const player = new Player();
  player.buffer.hold(2, 5000);
  player.buffer.add(block(0, 1000, {end: true}));
  player.buffer.add(block(0, 4000, {utterance: 2, end: true}));
  const out = player.render(9600);
  assert.deepEqual(out.slice(0, 1000), ramp(1000));
  assert.ok(isSilent(out.slice(1000, 5000)));
  assert.deepEqual(out.slice(5000, 9000), ramp(4000));
  const waiting = new Player();
  waiting.buffer.hold(1, 1000);
  waiting.buffer.add(block(0, 4000));
  waiting.render(128);
  assert.ok(waiting.status().held);
  assert.equal(waiting.status().state, "filling");
});

test("what began in the midst fades in", () => {
  const player = new Player();
  player.buffer.add({utterance: 1, position: 4800, samples: new Float32Array(2880).fill(0.5), end: true});
  const out = player.render(1280);
  assert.ok(out[0] < 0.01 && out[FADE] === 0.5);
  assert.deepEqual(player.status().played, {utterance: 1, position: 4800 + 1280});
});

test("played is what left the loudspeaker", () => {
  const player = new Player();
  const latency = 1000;
  assert.equal(player.status(latency).played, null);
  player.buffer.add(block(0, 2900, {end: true}));
  player.render(640);
  assert.equal(player.status(latency).played, null);
  player.render(640);
  assert.deepEqual(player.status(latency).played, {utterance: 1, position: 280});
  assert.equal(player.status(latency).sounded, 280);
  assert.equal(player.status(latency).advanced, 1280);
  player.render(9600);
  assert.deepEqual(player.status(latency).played, {utterance: 1, position: 2900});
});

test("an hour of speech, kept two seconds ahead of what is told, neither fills up nor runs dry", () => {
  const player = new Player();
  const samples = new Float32Array(4800);
  const out = new Float32Array(4800);
  const latency = 2400;
  let given = 0;
  for (let block = 0; block < 36000; block++) {
    for (; given - player.status(latency).sounded < 96000; given += 4800) {
      player.buffer.add({utterance: 1, position: given, samples, end: false});
    }
    player.buffer.render(out, player.frame);
    player.frame += out.length;
  }
  const {advanced, sounded, starved, played} = player.status(latency);
  assert.equal(advanced, player.frame);
  assert.equal(sounded, player.frame - latency);
  assert.equal(played.position, sounded);
  assert.equal(starved, 0);
  assert.ok(given - sounded <= 96000 + 4800);
});

for (const ppm of [300, -100]) {
  test(`a day's drift of ${ppm} ppm in ten minutes neither fills nor empties the buffer, and changes no sample`, () => {
    const player = new Player();
    const latency = 2400;
    const seconds = 600;
    const rate = 1 + (ppm * 1e-6 * 86400) / seconds;
    const out = new Float32Array(9600);
    const samples = ramp(4800);
    const levels = [];
    let given = 0;
    let rendered = 0;
    for (let step = 1; step <= seconds * 10; step++) {
      // The sender follows what it was told 100 ms ago, and knows no clock but its own.
      const told = player.status(latency).sounded;
      for (; given - told < 96000; given += 4800) {
        player.buffer.add({utterance: 1, position: given, samples, end: false});
      }
      const due = Math.round(step * 4800 * rate);
      const now = out.subarray(0, due - rendered);
      player.buffer.render(now, player.frame);
      player.frame += now.length;
      assert.equal(now[0], samples[rendered % 4800]);
      assert.equal(now.at(-1), samples[(due - 1) % 4800]);
      rendered = due;
      levels.push(given - player.status(latency).sounded);
    }
    const {starved, concealed, played} = player.status(latency);
    assert.equal(starved + concealed, 0);
    assert.equal(played.position, rendered - latency);
    assert.ok(Math.max(...levels) < 96000 + 2 * 4800, `${Math.max(...levels)} ticks`);
    assert.ok(Math.min(...levels.slice(1)) > 96000 - 3 * 4800, `${Math.min(...levels.slice(1))} ticks`);
  });
}
