import assert from "node:assert/strict";
import {test} from "node:test";

import {Receipts} from "../../../transport_webrtc/page/receipts.js";
import {beyond, readMessage, writeAck} from "../../../transport_webrtc/page/wire.js";

const buffer = (hex) => Uint8Array.from(hex.replaceAll(" ", "").match(/../g) ?? [], (byte) => parseInt(byte, 16)).buffer;
const hex = (data) => Array.from(new Uint8Array(data), (byte) => byte.toString(16).padStart(2, "0")).join("");

test("a message is read as it is written down", () => {
  const data = buffer("c1 01 0200 0300 ff00 c0030000 c003 02 04 78563412 0200 aabb 0100 cc");
  const message = readMessage(data);
  const rest = {utterance: 3, ticks: 960, codec: "opus", rate: 48000};
  assert.deepEqual(message, {
    kind: "speech",
    epoch: 2,
    number: 255,
    utterance: 3,
    end: 2880,
    notBefore: 0x12345678,
    frames: [
      {...rest, position: 960, payload: message.frames[0].payload},
      {...rest, position: 1920, payload: message.frames[1].payload},
    ],
  });
  assert.deepEqual(message.frames.map(({payload}) => hex(payload)), ["aabb", "cc"]);
  assert.equal(readMessage(buffer("02 01 0300 0000 0001 00000000 0000 00 00")).kind, "flush");
  assert.equal(readMessage(buffer("02 01 0300 0000 0001 00000000 0000 00 00 0000 0000 0000")).kind, "flush", "a probe is filled up");
});

test("every shorter message is refused, and no bytes throw", () => {
  const whole = buffer("c1 01 0200 0300 ff00 c0030000 c003 02 14 78563412 0200 aabb 0100 cc");
  for (let length = 0; length < whole.byteLength; length++) assert.equal(readMessage(whole.slice(0, length)), null, `${length} bytes`);
  let seed = 1;
  for (let round = 0; round < 20000; round++) {
    const bytes = new Uint8Array(whole.slice(0));
    for (let k = 0; k < 4; k++) bytes[(seed = (seed * 16807) % 2147483647) % bytes.length] = seed >> 8;
    readMessage(bytes.buffer);
  }
});

test("an acknowledgement is 35 bytes in their order", () => {
  const data = writeAck({
    epoch: 0x0102,
    largest: 0x0304,
    bitmap: 0x1122334455667788n,
    arrival: 2 ** 32 + 5.4,
    delay: 12.34,
    wanted: {utterance: 7, position: 0x01020304},
    played: {utterance: 6, position: 0x0a0b0c0d},
    buffered: 6000,
    state: "starved",
  });
  assert.equal(hex(data), "0101" + "0201" + "0403" + "8877665544332211" + "05000000" + "7b00" + "0700" + "04030201" + "0600" + "0d0c0b0a" + "7017" + "03");
});

test("numbers run on over the end of their counter", () => {
  assert.equal(beyond(2, 0xfffe), 4);
  assert.equal(beyond(0xfffe, 2), -4);
});

test("receipts tell which numbers arrived", () => {
  const receipts = new Receipts();
  for (const number of [65533, 65534, 1, 0, 65530, 1]) receipts.take(number, number);
  assert.equal(receipts.largest, 1);
  // 0 arrived, 65535 did not, 65534 and 65533 did, then 65530.
  assert.equal(receipts.bitmap, 0b1001101n);
  receipts.take(80, 100);
  assert.equal(receipts.bitmap, 0n);
  assert.equal(receipts.arrival, 100);
});

test("receipts are told after 40 ms, after 15 where a gap shows, and else as the state asks", () => {
  const receipts = new Receipts();
  assert.ok(!receipts.due("starved", 1e6), "before anything arrived");
  receipts.take(1, 0);
  assert.ok(receipts.due("playing", 0), "the first at once");
  receipts.told("playing", 0);
  receipts.take(2, 10);
  assert.ok(!receipts.due("playing", 39) && receipts.due("playing", 40));
  receipts.told("playing", 40);
  receipts.take(4, 50);
  assert.ok(!receipts.due("playing", 64) && receipts.due("playing", 65));
  receipts.told("playing", 65);
  receipts.take(5, 70);
  assert.ok(!receipts.due("playing", 104), "the same gap again");
  assert.ok(receipts.due("starved", 71), "another state");
  for (const [state, period] of Object.entries({empty: 1000, filling: 100, playing: 200, starved: 100})) {
    receipts.told(state, 105);
    assert.ok(!receipts.due(state, 104 + period) && receipts.due(state, 105 + period), state);
  }
});

test("where messages hold much speech, answers are rare", () => {
  const receipts = new Receipts();
  receipts.take(1, 0, 360);
  receipts.told("playing", 0);
  assert.ok(!receipts.due("playing", 499) && receipts.due("playing", 500));
  receipts.told("empty", 0);
  assert.ok(!receipts.due("empty", 999) && receipts.due("empty", 1000), "what is rare anyway stays so");
  receipts.told("starved", 0);
  assert.ok(!receipts.due("starved", 499) && receipts.due("starved", 500));
  receipts.take(2, 600, 480);
  receipts.told("playing", 600);
  receipts.take(3, 610, 480);
  assert.ok(!receipts.due("playing", 749) && receipts.due("playing", 750));
  receipts.take(4, 610);
  assert.ok(!receipts.due("playing", 749), "a flush says nothing of the path");
  receipts.take(5, 620, 100);
  assert.ok(receipts.due("playing", 650), "a path that is wide again");
});

test("with seconds of speech in store the state is told rarely, and news as soon as ever", () => {
  const receipts = new Receipts();
  receipts.take(1, 0, 260);
  receipts.told("playing", 0);
  assert.ok(receipts.due("playing", 200, 3999));
  assert.ok(!receipts.due("playing", 499, 4000) && receipts.due("playing", 500, 4000));
  assert.ok(receipts.due("suspended", 10, 4000), "another state");
  receipts.take(2, 50, 260);
  assert.ok(receipts.due("playing", 50, 4000));
});

test("complete says whether anything since the mark is missing", () => {
  const receipts = new Receipts();
  receipts.take(1, 0);
  receipts.take(2, 0);
  assert.ok(receipts.complete);
  receipts.take(4, 0);
  assert.ok(!receipts.complete);
  receipts.mark();
  receipts.take(5, 0);
  receipts.take(6, 0);
  assert.ok(receipts.complete);
  receipts.mark();
  receipts.take(8, 0);
  assert.ok(!receipts.complete);
  receipts.take(7, 0);
  assert.ok(receipts.complete);
});
