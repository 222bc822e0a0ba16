/** The utterances of this listener in their order, each word lit when it is heard. */

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

/** @typedef {{text: string, start: number, end: number}} Word times in ticks of the utterance */

/** Words of the text that may stand between two that were told of: some are spelt differently. */
const SKIPPED = 4;
/** Nobody speaks more of them a second. */
const WORDS_A_SECOND = 5;

/**
 * Where the words stand in the text, in order; null for a word that the text spells differently ("12" said "twelve").
 * @param {string} text
 * @param {Word[]} words
 * @param {number} from index in `text` at which to begin
 * @param {number} skipping words of the text that may be passed over on the way to the next one
 * @returns {({from: number, to: number} | null)[]}
 */
export function locate(text, words, from, skipping = SKIPPED) {
  const haystack = text.toLowerCase();
  return words.map(({text: word}) => {
    const needle = word.toLowerCase();
    const index = needle ? haystack.indexOf(needle, from) : -1;
    const skipped = index < 0 ? "" : text.slice(from, index);
    // A word far ahead is another one of the same spelling.
    if (index < 0 || skipped.trim().split(/\s+/).length > skipping) return null;
    from = index + needle.length;
    return {from: index, to: from};
  });
}

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

  /** Turns the next words of the text into spans that can be lit. @param {Word[]} words */
  mark(words) {
    if (this.#text.length === this.#marked && !this.ended) this.#append(words);
    const places = locate(this.#text, words, this.#marked);
    places.forEach((place, index) => {
      if (!place) return;
      const rest = /** @type {Text} */ (this.#words.lastChild);
      const span = document.createElement("span");
      const tail = rest.splitText(place.from - this.#marked);
      span.textContent = this.#text.slice(place.from, place.to);
      tail.deleteData(0, place.to - place.from);
      tail.before(span);
      this.#spans.set(words[index].start, span);
      this.#marked = place.to;
    });
  }

  /** Lights a word. One that no marks told of (a narrow network is spared them) is looked for. @param {Word} word */
  hear(word) {
    if (!this.#spans.has(word.start)) this.#find(word);
    return this.light(word.start);
  }

  /** Turns a word, and the text before it that nothing was told of, into spans. @param {Word} word */
  #find(word) {
    const since = Math.max(0, ...[...this.#spans.keys()].filter((start) => start < word.start));
    const skipping = SKIPPED + (WORDS_A_SECOND * (word.start - since)) / 48_000;
    const [place] = locate(this.#text, [word], this.#marked, skipping);
    if (!place) return;
    const before = this.#text.slice(this.#marked, place.from).trim();
    const passed = before ? [{text: before, start: word.start - 1, end: word.start}] : [];
    this.mark([...passed, word]);
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
