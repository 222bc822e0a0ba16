/** The utterances of this listener in their order, each word lit when it is heard. */

import {begins, locate, nearest} from "./locating.js";

/** How many ended utterances stay on the page. */
const KEPT = 5;
/** Before each state's name. */
const SIGNS = /** @type {Record<string, string>} */ ({
  queued: "…",
  sounding: "▶",
  paused: "⏸",
  finished: "✓",
  interrupted: "✂",
  failed: "✕",
});

/** @typedef {import("./locating.js").Word} Word */

/** The list on the page. */
export class Transcript {
  #list;
  /** @type {Map<string, Utterance>} */
  #utterances = new Map();

  /** @param {HTMLElement} list */
  constructor(list) {
    this.#list = list;
  }

  /** @param {string} id @param {string} text */
  begin(id, text) {
    if (this.#utterances.has(id)) return;
    const utterance = new Utterance(text);
    this.#utterances.set(id, utterance);
    utterance.item.dataset.id = id;
    this.#list.append(utterance.item);
    this.#list.scrollTop = this.#list.scrollHeight;
    const ended = [...this.#utterances].filter(([, one]) => one.ended);
    for (const [old, {item}] of ended.slice(0, -KEPT)) {
      item.remove();
      this.#utterances.delete(old);
    }
  }

  /** Takes one of the server's events. @param {Record<string, any>} event */
  take(event) {
    if (!event.id) return;
    this.begin(event.id, "");
    const utterance = /** @type {Utterance} */ (this.#utterances.get(event.id));
    if (event.event === "marks") utterance.mark(event.words);
    else if (event.event === "word") this.#follow(utterance.hear(/** @type {any} */ (event)));
    else utterance.show(event);
  }

  /** Marks everything that has not ended as lost with its connection. */
  lose() {
    for (const utterance of this.#utterances.values()) {
      if (!utterance.ended) utterance.show({event: "failed", message: "Lost with the connection."});
    }
  }

  /** Utterances that are sounding, paused or waiting. */
  get active() {
    return [...this.#utterances.values()].filter((one) => !one.ended);
  }

  /** Keeps the lit word in sight by scrolling the list alone. @param {HTMLElement | undefined} word */
  #follow(word) {
    if (!word) return;
    const {offsetTop: top, offsetHeight: height} = word;
    const {scrollTop, clientHeight} = this.#list;
    // Rows are equally high, so that a list that begins with a whole row ends with one.
    const row = parseFloat(getComputedStyle(this.#list).lineHeight);
    const inRow = top + height / 2;
    if (inRow < scrollTop || inRow + 1.5 * row > scrollTop + clientHeight) {
      this.#list.scrollTop = Math.max(0, Math.floor(inRow / row) - 1) * row;
    }
  }
}

class Utterance {
  item = document.createElement("li");
  state = "queued";

  #words = document.createElement("span");
  #label = document.createElement("span");
  #text;
  #marked = 0;
  /** @type {Map<number, HTMLElement>} by the tick at which the word begins */
  #spans = new Map();

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
    this.#words.className = "words";
    this.#words.textContent = text;
    this.#label.className = "state";
    this.item.append(this.#label, this.#words);
    this.show({event: "queued"});
  }

  get ended() {
    return ["finished", "interrupted", "failed"].includes(this.state);
  }

  /** Turns the next words of the text into spans that can be lit, and what lies between them. @param {Word[]} words */
  mark(words) {
    if (!words.length) return;
    if (this.#text.length === this.#marked && !this.ended) this.#append(words);
    const begin = begins(this.#text, words, this.#marked, this.#seconds(words[0]));
    const places = locate(this.#text, words, begin);
    /** Of the first word since the last one found that the text spells differently. @type {number | null} */
    let unplaced = null;
    places.forEach((place, index) => {
      const {start} = words[index];
      if (!place) unplaced ??= start;
      else {
        this.#span(this.#marked, place.from, unplaced ?? start - 1);
        this.#span(place.from, place.to, start);
        unplaced = null;
      }
    });
  }

  /** Lights a word. One that no marks told of (a narrow network is spared them) is looked for. @param {Word} word */
  hear(word) {
    if (!this.#spans.has(word.start)) {
      const place = nearest(this.#text, word.text, this.#marked, this.#seconds(word));
      if (place) {
        this.#span(this.#marked, place.from, word.start - 1);
        this.#span(place.from, place.to, word.start);
      }
    }
    return this.light(word.start);
  }

  /** Since the last word before it that is known to stand somewhere. @param {Word} word */
  #seconds({start}) {
    return (start - Math.max(0, ...[...this.#spans.keys()].filter((at) => at < start))) / 48_000;
  }

  /** Makes a span of the text between two places, the first where spans end so far. @param {number} from @param {number} to @param {number} start tick at which it is lit */
  #span(from, to, start) {
    const whole = this.#text.slice(from, to);
    const text = whole.trim();
    if (!/[\p{L}\p{N}]/u.test(text)) return;
    const begin = from + whole.indexOf(text);
    const rest = /** @type {Text} */ (this.#words.lastChild);
    const span = document.createElement("span");
    const tail = rest.splitText(begin - this.#marked);
    span.textContent = text;
    tail.deleteData(0, text.length);
    tail.before(span);
    this.#spans.set(start, span);
    this.#marked = begin + text.length;
  }

  /** Lights the word that begins at `start`, and counts those before it as spoken. @param {number} start */
  light(start) {
    for (const [at, span] of this.#spans) {
      span.className = at < start ? "spoken" : at === start ? "current" : "";
    }
    return this.#spans.get(start);
  }

  /** @param {Record<string, any>} event */
  show(event) {
    const states = {started: "sounding", resumed: "sounding", finished: "finished"};
    const known = ["queued", "paused", "interrupted", "failed"];
    const state = states[/** @type {keyof typeof states} */ (event.event)] ?? (known.includes(event.event) && event.event);
    if (!state) return;
    this.state = state;
    this.item.dataset.state = state;
    this.#label.textContent = `${SIGNS[state]} ${event.message ? `${state}: ${event.message}` : state}`;
    if (state === "finished") this.light(Infinity);
    if (state === "interrupted" || state === "failed") this.#words.querySelector(".current")?.classList.replace("current", "spoken");
  }

  /** A text that was handed over elsewhere shows up with its words. @param {Word[]} words */
  #append(words) {
    const more = words.map(({text}) => text).join(" ");
    this.#text += this.#text ? ` ${more}` : more;
    const rest = this.#words.lastChild;
    if (rest instanceof Text) rest.appendData(this.#text.slice(this.#marked));
    else this.#words.append(this.#text.slice(this.#marked));
  }
}
