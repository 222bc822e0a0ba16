/**
 * Frames as they arrive, given on in the order of playing. On given time; nothing here decodes or sounds.
 *
 * A missing frame holds up those behind it until it is about to be due: then a short gap is given up, so that the rest sounds on
 * time. A gap that is long, or met while nothing sounds, is waited for: silence is less bad than words that are missing.
 */

import {TICKS_PER_MS, beyond} from "./wire.js";

/** A missing frame is given up so long before it is due: time enough to decode what follows and to fade, ticks. */
const GIVE_UP = 20 * TICKS_PER_MS;
/** A longer gap is waited for, ticks. */
const LONGEST_GAP = 100 * TICKS_PER_MS;
/** A short gap is waited for so long where nothing sounds meanwhile, ms. */
const STANDING_MS = 500;
/** How long something before the first thing seen may still be on its way: after a flush, for another utterance, within one, ms. */
const FRESH_MS = 250;
const SKIPPED_MS = 400;
const HEADLESS_MS = 2000;

/** @typedef {import("./wire.js").Frame} Frame @typedef {import("./wire.js").Place} Place */
/** A frame whose turn it is; `end` where its utterance ends with it. One without ticks only ends it. @typedef {Frame & {end: boolean}} Turn */
/**
 * @typedef {object} Situation
 * @property {number} ahead ticks given on and not played yet
 * @property {number | null} standing ms for which what begun or is to begin has stood still; null where it sounds
 * @property {boolean} complete whether nothing sent since the last flush is missing
 */

/** The frames of one epoch. */
export class Sequence {
  /** Ticks given on since the last flush, gaps among them. */
  given = 0;

  /** What is given on next; null before anything was. @type {Place | null} */
  #next = null;
  /** Where the utterance before it ended. @type {Place | null} */
  #end = null;
  /** @type {Map<number, {frames: Map<number, Frame>, end: number | null}>} */
  #utterances = new Map();
  /** The newest utterance of any epoch. @type {number | null} */
  #newest = null;
  /** The utterance that a fresh epoch is expected to begin with. @type {number | null} */
  #expected = null;
  /** Since when something waits that may not be the first. @type {number | null} */
  #waiting = null;

  /** The first tick that is missing of what sounds next; null where that is not known. @returns {Place | null} */
  get wanted() {
    const next = this.#next;
    // Of an utterance that nothing was seen of nothing is known to be missing.
    if (next) return this.#end && !next.position && !this.#utterances.has(next.utterance) ? {...this.#end} : {...next};
    const first = this.#first();
    return first === null ? null : {utterance: first, position: 0};
  }

  /** Takes what a message holds; what was given on or given up already is let go. @param {import("./wire.js").Message} message */
  take({utterance, frames, end}) {
    const passed = this.#next ? beyond(utterance, this.#next.utterance) : 1;
    if (passed < 0 || (!frames.length && end === null)) return;
    let held = this.#utterances.get(utterance);
    if (!held) this.#utterances.set(utterance, (held = {frames: new Map(), end: null}));
    held.end = end ?? held.end;
    for (const frame of frames) {
      if (passed > 0 || frame.position >= /** @type {Place} */ (this.#next).position) held.frames.set(frame.position, frame);
    }
    if (this.#newest === null || beyond(utterance, this.#newest) > 0) this.#newest = utterance;
  }

  /** Forgets everything: a new epoch begins. */
  flush() {
    this.#utterances.clear();
    this.#expected = this.#newest === null ? null : (this.#newest + 1) & 0xffff;
    this.#next = this.#end = this.#waiting = null;
    this.given = 0;
  }

  /**
   * The frames whose turn it is.
   * @param {Situation} situation
   * @param {number} now
   * @returns {Turn[]}
   */
  release(situation, now) {
    /** @type {Turn[]} */
    const turns = [];
    while (this.#begun(situation, now) || this.#leap({...situation, ahead: situation.ahead + sum(turns)})) this.#run(turns);
    return turns;
  }

  /** Gives on all that is contiguous. @param {Turn[]} turns */
  #run(turns) {
    const next = /** @type {Place} */ (this.#next);
    const held = this.#utterances.get(next.utterance);
    for (let frame; held && (frame = held.frames.get(next.position)); ) {
      held.frames.delete(next.position);
      next.position += frame.ticks;
      this.given += frame.ticks;
      turns.push({...frame, end: next.position === held.end});
      if (next.position === held.end) return this.#pass(next);
    }
    if (held?.end !== next.position) return;
    turns.push({...next, ticks: 0, codec: "pcm16", rate: 48000, payload: new Uint8Array(), end: true});
    this.#pass(next);
  }

  /** @param {Place} end of an utterance that is given on as a whole */
  #pass(end) {
    this.#utterances.delete(end.utterance);
    this.#end = end;
    this.#next = {utterance: (end.utterance + 1) & 0xffff, position: 0};
  }

  /** Whether the next frame is there; decides where to begin while that is open. @param {Situation} situation @param {number} now */
  #begun({complete}, now) {
    const next = this.#next;
    const held = next && this.#utterances.get(next.utterance);
    if (next && held && (held.frames.has(next.position) || held.end === next.position)) return this.#here();
    if (next?.position) return false;
    const utterance = this.#first();
    if (utterance === null) return false;
    this.#waiting ??= now;
    const position = lowest(/** @type {any} */ (this.#utterances.get(utterance)), 0);
    const expected = next ? next.utterance : this.#expected;
    const follows = expected === null ? utterance <= 1 : utterance === expected;
    const limit = !next ? FRESH_MS : position ? HEADLESS_MS : SKIPPED_MS;
    const sure = (position === 0 && follows) || (!next && complete) || now - this.#waiting >= limit;
    if (!sure) return false;
    this.#next = {utterance, position};
    return this.#here();
  }

  #here() {
    this.#waiting = null;
    return true;
  }

  /** Leaves a gap behind where waiting for it does no good any more. @param {Situation} situation */
  #leap({ahead, standing}) {
    const next = this.#next;
    const held = next?.position ? this.#utterances.get(next.utterance) : undefined;
    if (!next || !held?.frames.size) return false;
    const gap = lowest(held, next.position) - next.position;
    if (gap > LONGEST_GAP || !(standing === null ? ahead <= GIVE_UP : standing >= STANDING_MS)) return false;
    next.position += gap;
    this.given += gap;
    return true;
  }

  /** The utterance to play first of those that hold anything. @returns {number | null} */
  #first() {
    let first = null;
    for (const utterance of this.#utterances.keys()) if (first === null || beyond(utterance, first) < 0) first = utterance;
    return first;
  }
}

/** The first position held. @param {{frames: Map<number, Frame>, end: number | null}} held @param {number} from */
function lowest({frames, end}, from) {
  let found = Infinity;
  for (const position of frames.keys()) if (position >= from && position < found) found = position;
  return Number.isFinite(found) ? found : (end ?? from);
}

/** @param {Turn[]} turns */
function sum(turns) {
  return turns.reduce((ticks, turn) => ticks + turn.ticks, 0);
}
