/** The voice and the profile: what there is, what is chosen, and what is said of it. */

import {request} from "./legato.js";

/** @typedef {{name: string, summary: string, tiers?: string[]}} Choice */
/** @typedef {"voice" | "profile"} Kind */

const KINDS = /** @type {const} */ (["voice", "profile"]);
/** When a choice made while something sounds takes hold. */
const LATER = {voice: "from the next utterance", profile: "after this one"};

/** Two lists and the hints below them. */
export class Choices {
  /** Whether the connection should be made anew for the chosen profile. */
  pending = false;

  /** @type {Record<Kind, Choice[]>} */
  #lists = {voice: [], profile: []};
  #places;
  #wanted;
  /** Chosen while something sounded. @type {Set<Kind>} */
  #later = new Set();

  /**
   * @param {Record<Kind, {list: HTMLSelectElement, hint: HTMLElement}>} places
   * @param {URLSearchParams} wanted may name a choice of each kind
   * @param {{busy: () => boolean, rejoin: () => void}} page whether something sounds or waits; connects anew
   */
  constructor(places, wanted, {busy, rejoin}) {
    this.#places = places;
    this.#wanted = wanted;
    for (const kind of KINDS) {
      places[kind].list.addEventListener("change", () => {
        if (busy()) this.#later.add(kind);
        // What is asked of the receiver is the listener's: a new connection takes it up, but cuts nothing off.
        if (kind === "profile") this.pending = true;
        this.#hint();
        if (kind === "profile" && !busy()) rejoin();
      });
    }
  }

  /** Fills both lists. @param {string} token */
  async fill(token) {
    const headers = token ? {Authorization: `Bearer ${token}`} : undefined;
    await Promise.all(
      KINDS.map(async (kind) => {
        this.#lists[kind] = await (await request(`v1/${kind}s`, {headers})).json();
        const options = this.#lists[kind].map(({name}) => new Option(kind === "profile" ? inWords(name) : name, name));
        this.#places[kind].list.replaceChildren(...options);
        this.#places[kind].list.value = this.#wanted.get(kind) ?? "";
      }),
    );
    this.#hint();
  }

  /** What is chosen, undefined where the server chooses. @param {Kind} kind */
  chosen(kind) {
    return this.#places[kind].list.value || undefined;
  }

  /** What a new connection asks for, before the lists are filled too. @param {Kind} kind */
  asked(kind) {
    return this.chosen(kind) ?? (this.#wanted.get(kind) || undefined);
  }

  /** Shows what the server chose, where nothing else is chosen. @param {Record<string, any>} snapshot */
  show(snapshot) {
    for (const kind of KINDS) {
      if (this.chosen(kind)) continue;
      this.#places[kind].list.value = snapshot[kind];
      this.#hint();
    }
  }

  /** Nothing sounds any more, or a new connection knows of the choice. */
  settle() {
    this.#later.clear();
    this.#hint();
  }

  /** Tiers of a voice, best first. @param {string} voice */
  tiers(voice) {
    return this.#lists.voice.find(({name}) => name === voice)?.tiers ?? [];
  }

  #hint() {
    for (const kind of KINDS) {
      const choice = this.#lists[kind].find(({name}) => name === this.chosen(kind));
      const later = this.#later.has(kind) ? ` (${LATER[kind]})` : "";
      const {hint} = this.#places[kind];
      hint.textContent = choice ? `${inWords(choice.name)}${later}: ${choice.summary.replace(/\.$/, "")}.` : "";
    }
  }
}

/** `voice_chat` as people write it. @param {string} name */
function inWords(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
