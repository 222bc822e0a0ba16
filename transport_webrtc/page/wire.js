/** Messages of the `speech` channel, and the acknowledgements that go back on `feedback`; little-endian throughout. */

export const TICKS_PER_MS = 48;

const VERSION = 1;
const HEADER_BYTES = 16;
const ACK_BYTES = 35;
const CODECS = /** @type {const} */ (["opus", "pcm16", "ulaw"]);
const RATES = [8000, 12000, 16000, 24000, 48000];
const KINDS = /** @type {const} */ ({1: "speech", 2: "flush"});

/** What the player does, as an acknowledgement says it. */
export const STATES = /** @type {const} */ (["empty", "filling", "playing", "starved", "suspended"]);

/**
 * @typedef {object} Frame
 * @property {number} utterance
 * @property {number} position of its first tick (48 kHz) from the utterance's start
 * @property {number} ticks
 * @property {"opus" | "pcm16" | "ulaw"} codec
 * @property {number} rate Hz on the wire
 * @property {Uint8Array} payload
 *
 * @typedef {object} Message
 * @property {"speech" | "flush"} kind
 * @property {number} epoch
 * @property {number} number of the transmission, fresh on every message
 * @property {number} utterance
 * @property {number | null} end of the utterance in ticks, where this message holds its last frame
 * @property {number | null} notBefore `performance.now()` mod 2^32 before which the utterance may not begin to sound
 * @property {Frame[]} frames consecutive ones
 *
 * @typedef {{utterance: number, position: number}} Place a tick of an utterance
 *
 * @typedef {object} Ack
 * @property {number} epoch the newest seen
 * @property {number} largest transmission number seen
 * @property {bigint} bitmap bit i: number largest - 1 - i arrived
 * @property {number} arrival of the largest, `performance.now()`
 * @property {number} delay ms between that arrival and this acknowledgement
 * @property {Place} wanted the first tick that is missing of what sounds next
 * @property {Place} played what came out of the loudspeaker
 * @property {number} buffered ms of speech after what was played
 * @property {typeof STATES[number]} state
 */

/** How far `a` is beyond `b`, both running mod 2^16; negative where it is behind. @param {number} a @param {number} b */
export function beyond(a, b) {
  return ((a - b + 0x8000) & 0xffff) - 0x8000;
}

/**
 * A message of the `speech` channel; null where it is none of this version.
 * @param {ArrayBuffer} data
 * @returns {Message | null}
 */
export function readMessage(data) {
  const view = new DataView(data);
  if (view.byteLength < HEADER_BYTES || view.getUint8(1) !== VERSION) return null;
  const type = view.getUint8(0);
  const kind = KINDS[/** @type {1 | 2} */ (type & 15)];
  const [codec, rate] = [CODECS[view.getUint8(15) >> 4], RATES[view.getUint8(15) & 15]];
  const held = (type & 64) !== 0;
  let offset = HEADER_BYTES + (held ? 4 : 0);
  if (!kind || view.byteLength < offset) return null;
  const utterance = view.getUint16(4, true);
  const [ticks, count] = [view.getUint16(12, true), view.getUint8(14)];
  let position = view.getUint32(8, true);
  const frames = [];
  for (let index = 0; kind === "speech" && index < count; index++) {
    const length = offset + 2 <= view.byteLength ? view.getUint16(offset, true) : Infinity;
    if (!codec || !rate || !ticks || offset + 2 + length > view.byteLength) return null;
    frames.push({utterance, position, ticks, codec, rate, payload: new Uint8Array(data, offset + 2, length)});
    offset += 2 + length;
    position += ticks;
  }
  return {
    kind,
    epoch: view.getUint16(2, true),
    number: view.getUint16(6, true),
    utterance,
    end: type & 128 ? position : null,
    notBefore: held ? view.getUint32(HEADER_BYTES, true) : null,
    frames,
  };
}

/** @param {Ack} ack */
export function writeAck(ack) {
  const data = new ArrayBuffer(ACK_BYTES);
  const view = new DataView(data);
  view.setUint8(0, 1);
  view.setUint8(1, VERSION);
  view.setUint16(2, ack.epoch, true);
  view.setUint16(4, ack.largest, true);
  view.setBigUint64(6, ack.bitmap, true);
  view.setUint32(14, Math.round(ack.arrival) % 2 ** 32, true);
  view.setUint16(18, Math.min(0xffff, Math.round(ack.delay * 10)), true);
  view.setUint16(20, ack.wanted.utterance, true);
  view.setUint32(22, ack.wanted.position, true);
  view.setUint16(26, ack.played.utterance, true);
  view.setUint32(28, ack.played.position, true);
  view.setUint16(32, Math.min(0xffff, Math.max(0, Math.round(ack.buffered))), true);
  view.setUint8(34, STATES.indexOf(ack.state));
  return data;
}
