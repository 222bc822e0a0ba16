/** The lab's network: presets, and sliders that are applied while they move. What was chosen outlives a connection. */

/** How long a slider rests before it is applied, ms. */
const REST_MS = 120;
/** Capacities that the slider runs through in equal ratios, kb/s; its last place is no limit. */
const [LEAST_KBPS, MOST_KBPS] = [8, 2000];
const PLACES = 100;

const PRESETS = [
  {name: "clean", label: "Clean", title: "Nothing in the way"},
  {name: "bad", label: "Bad network", title: "28 kb/s, 5 % loss, 60 ms delay with jitter"},
  {name: "lossy", label: "Lossy", title: "10 % loss in bursts of three"},
  {name: "slow", label: "Slow", title: "100 kb/s"},
  {name: "far", label: "Far away", title: "150 ms each way"},
];

/**
 * @typedef {object} Slider
 * @property {string} key the link's name for it
 * @property {string} label
 * @property {number} max in places of the slider
 * @property {number} [min]
 * @property {number} [step]
 * @property {(place: number) => number} value of the link, at a place
 * @property {(value: number) => number} place of a value
 * @property {(value: number) => string} words for a value
 */

const same = (/** @type {number} */ value) => value;
const ms = (/** @type {number} */ value) => `${Math.round(value)} ms`;

/** @type {Slider[]} */
const SLIDERS = [
  {
    key: "rate_kbps",
    label: "Capacity",
    max: PLACES,
    value: (place) => (place >= PLACES ? 0 : Math.round(LEAST_KBPS * (MOST_KBPS / LEAST_KBPS) ** (place / PLACES))),
    place: (kbps) => (kbps ? (PLACES * Math.log(kbps / LEAST_KBPS)) / Math.log(MOST_KBPS / LEAST_KBPS) : PLACES),
    words: (kbps) => (kbps ? `${Math.round(kbps)} kb/s` : "no limit"),
  },
  {
    key: "loss",
    label: "Loss",
    max: 30,
    step: 0.5,
    value: (percent) => percent / 100,
    place: (share) => share * 100,
    words: (share) => `${Number((share * 100).toFixed(1))} %`,
  },
  {
    key: "burst",
    label: "Length of loss bursts (packets)",
    min: 1,
    max: 10,
    step: 0.5,
    value: same,
    place: same,
    words: (packets) => (packets > 1 ? `${packets} on average` : "at random"),
  },
  {key: "delay_ms", label: "Delay, one way", max: 500, step: 5, value: same, place: same, words: ms},
  {key: "jitter_ms", label: "Jitter", max: 100, value: same, place: same, words: ms},
];

/** Presets and sliders; `apply` is called with what `Listener.network` takes and answers what it answers, or nothing where it failed. */
export class NetworkPanel {
  #apply;
  #bothWays;
  #buttons;
  #controls;
  #timer = 0;
  #moving = false;
  /** @type {Record<string, any>} */
  #down = {};
  /** As the server last answered. @type {Record<string, any>} */
  #known = {down: {}};
  #custom;

  /**
   * @param {{presets: HTMLElement, sliders: HTMLElement, bothWays: HTMLInputElement}} places
   * @param {(changes: object) => Promise<Record<string, any> | undefined>} apply
   */
  constructor({presets, sliders, bothWays}, apply) {
    this.#apply = apply;
    this.#bothWays = bothWays;
    this.#buttons = PRESETS.map((preset) => presetButton(presets, preset, () => this.#choose(preset.name)));
    this.#custom = presets.appendChild(document.createElement("span"));
    Object.assign(this.#custom, {className: "custom", textContent: "custom", hidden: true});
    this.#controls = SLIDERS.map((slider) => sliderControl(sliders, slider, () => this.#moved()));
    bothWays.addEventListener("change", () => this.#moved());
  }

  /** What was chosen here, as `apply` takes it; undefined before anything was. @type {Record<string, any> | undefined} */
  chosen;

  /** Capacity down to the listener in kb/s, null where there is no limit. */
  get capacity() {
    return this.#down.rate_kbps || null;
  }

  /** Puts the sliders where the network is. @param {Record<string, any>} network */
  show(network) {
    if ("up" in network) this.#known = network;
    this.#down = network.down;
    this.#press(network.preset ?? "");
    this.#controls.forEach(({input, output}, index) => {
      const {key, place, words} = SLIDERS[index];
      const value = this.#down[key] ?? 0;
      if (!this.#moving) input.value = String(place(value));
      output.textContent = words(value);
      input.setAttribute("aria-valuetext", output.textContent);
    });
  }

  /** @param {string} preset */
  async #choose(preset) {
    clearTimeout(this.#timer);
    this.#moving = false;
    await this.#put({preset}, {preset});
  }

  /** Words follow the slider at once, the network when it rests. */
  #moved() {
    this.#moving = true;
    const values = Object.fromEntries(SLIDERS.map(({key, value}, index) => [key, value(Number(this.#controls[index].input.value))]));
    this.show({down: {...this.#down, ...values}});
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#moving = false;
      const changes = this.#bothWays.checked ? {down: values, up: values} : {down: values};
      void this.#put(changes, {...(this.chosen ?? {preset: this.#known.preset ?? "clean"}), ...changes});
    }, REST_MS);
  }

  /** @param {object} changes @param {object} chosen all that was chosen, with these changes */
  async #put(changes, chosen) {
    const answer = await this.#apply(changes);
    if (answer) this.chosen = chosen;
    this.show(answer ?? this.#known);
  }

  /** @param {string} name */
  #press(name) {
    this.#custom.hidden = name !== "";
    PRESETS.forEach((preset, index) => this.#buttons[index].setAttribute("aria-pressed", String(preset.name === name)));
  }
}

/** @param {HTMLElement} parent @param {typeof PRESETS[number]} preset @param {() => void} onclick */
function presetButton(parent, {name, label, title}, onclick) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip";
  button.dataset.preset = name;
  button.textContent = label;
  button.title = title;
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", onclick);
  parent.append(button);
  return button;
}

/** @param {HTMLElement} parent @param {Slider} slider @param {() => void} oninput */
function sliderControl(parent, {key, label, min = 0, max, step = 1}, oninput) {
  const row = document.createElement("div");
  const name = document.createElement("label");
  const input = document.createElement("input");
  const output = document.createElement("output");
  row.className = "slider";
  Object.assign(input, {type: "range", id: `network-${key}`, min: String(min), max: String(max), step: String(step), name: key});
  Object.assign(name, {htmlFor: input.id, textContent: label});
  input.addEventListener("input", oninput);
  row.append(name, output, input);
  parent.append(row);
  return {input, output};
}
