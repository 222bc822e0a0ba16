import assert from "node:assert/strict";
import {test} from "node:test";

import {Sequence} from "../../../transport_webrtc/page/sequence.js";

const FRAME = 960;
const SOUNDING = {ahead: Infinity, standing: null, complete: true};
const STANDING = {ahead: 0, standing: 0, complete: false};

/** A message with frames number `from` up to `to`. */
function message(utterance, from, to, last = false) {
  const frames = [];
  for (let number = from; number <= to; number++) {
    frames.push({utterance, position: number * FRAME, ticks: FRAME, codec: "opus", rate: 48000, payload: new Uint8Array()});
  }
  return {kind: "speech", epoch: 0, number: 0, utterance, end: last ? (to + 1) * FRAME : null, notBefore: null, frames};
}

const places = (turns) => turns.map(({utterance, position, end}) => `${utterance}:${position / FRAME}${end ? "!" : ""}`).join(" ");

test("frames come in the order of playing, each once", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 0, 1));
  assert.equal(places(sequence.release(SOUNDING, 0)), "1:0 1:1");
  sequence.take(message(1, 3, 4));
  assert.equal(places(sequence.release(SOUNDING, 0)), "");
  assert.deepEqual(sequence.wanted, {utterance: 1, position: 2 * FRAME});
  sequence.take(message(1, 0, 2));
  assert.equal(places(sequence.release(SOUNDING, 0)), "1:2 1:3 1:4");
  sequence.take(message(1, 0, 4));
  assert.equal(places(sequence.release(SOUNDING, 0)), "");
  assert.equal(sequence.given, 5 * FRAME);
});

test("utterances by number, over the end of the counter too", () => {
  const sequence = new Sequence();
  sequence.take(message(0xffff, 0, 0, true));
  sequence.take(message(1, 0, 0, true));
  sequence.take(message(0, 0, 1, true));
  assert.equal(places(sequence.release(SOUNDING, 0)), "65535:0! 0:0 0:1! 1:0!");
  assert.deepEqual(sequence.wanted, {utterance: 1, position: FRAME});
  sequence.take(message(2, 1, 1));
  assert.equal(places(sequence.release(SOUNDING, 0)), "");
  assert.deepEqual(sequence.wanted, {utterance: 2, position: 0});
});

test("a short gap is given up when it is about to be due, a long one never", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 0, 4));
  sequence.take(message(1, 6, 7));
  sequence.release(SOUNDING, 0);
  assert.equal(places(sequence.release({...SOUNDING, ahead: 1000}, 0)), "");
  assert.equal(places(sequence.release({...SOUNDING, ahead: 900}, 0)), "1:6 1:7");
  assert.equal(sequence.given, 8 * FRAME);
  sequence.take(message(1, 5, 5));
  sequence.take(message(1, 14, 14));
  assert.equal(places(sequence.release({...SOUNDING, ahead: 0}, 0)), "");
  assert.equal(places(sequence.release({...STANDING, standing: 60000}, 0)), "");
  assert.deepEqual(sequence.wanted, {utterance: 1, position: 8 * FRAME});
});

test("where nothing sounds, what arrives first after an outage does not cut off what is missing before it", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 0, 4));
  sequence.release(SOUNDING, 0);
  sequence.take(message(1, 6, 9));
  assert.equal(places(sequence.release({...STANDING, standing: 3000 - 3000}, 0)), "");
  assert.equal(places(sequence.release({...STANDING, standing: 499}, 499)), "");
  assert.equal(places(sequence.release({...STANDING, standing: 500}, 500)), "1:6 1:7 1:8 1:9");
});

test("an utterance is not begun in its midst while its beginning may be on its way", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 3, 5));
  const situation = {ahead: 0, standing: 0, complete: false};
  assert.equal(places(sequence.release(situation, 1000)), "");
  assert.deepEqual(sequence.wanted, {utterance: 1, position: 0});
  sequence.take(message(1, 0, 2));
  assert.equal(places(sequence.release(situation, 1010)), "1:0 1:1 1:2 1:3 1:4 1:5");
});

test("after a flush it begins where the server begins", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 0, 9));
  sequence.release(SOUNDING, 0);
  sequence.flush();
  assert.equal(sequence.given, 0);
  sequence.take(message(1, 5, 9, true));
  assert.equal(places(sequence.release({...SOUNDING, complete: false}, 100)), "");
  assert.equal(places(sequence.release({...SOUNDING, complete: true}, 101)), "1:5 1:6 1:7 1:8 1:9!");
  sequence.flush();
  sequence.take(message(2, 5, 9));
  assert.equal(places(sequence.release({...SOUNDING, complete: false}, 200)), "");
  assert.equal(places(sequence.release({...SOUNDING, complete: false}, 450)), "2:5 2:6 2:7 2:8 2:9");
  sequence.flush();
  sequence.take(message(3, 0, 0));
  assert.equal(places(sequence.release({...SOUNDING, complete: false}, 500)), "3:0");
});

test("an utterance that never comes holds up the next one for a moment only", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 0, 1, true));
  sequence.release(SOUNDING, 0);
  sequence.take(message(3, 0, 1));
  assert.equal(places(sequence.release(SOUNDING, 100)), "");
  assert.equal(places(sequence.release(SOUNDING, 500)), "3:0 3:1");
});

test("an end may come without a frame, and after all the others", () => {
  const sequence = new Sequence();
  sequence.take(message(1, 0, 1));
  sequence.release(SOUNDING, 0);
  sequence.take({...message(1, 0, -1), end: 2 * FRAME});
  const [turn] = sequence.release(SOUNDING, 0);
  assert.deepEqual([turn.position, turn.ticks, turn.end], [2 * FRAME, 0, true]);
  sequence.take(message(2, 0, -1));
  assert.equal(places(sequence.release(SOUNDING, 9000)), "");
});
