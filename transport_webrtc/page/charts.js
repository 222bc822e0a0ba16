/** Six small charts of the last minute, drawn with the Plotly the server hands out; without it the numbers remain. */

import {kilo, sounding} from "./plan.js";

const WINDOW_S = 60;
const DRAW_EVERY_S = 0.45;
/** Of the page's time, at most: a slow machine draws less often. */
const DRAW_SHARE = 0.15;
/** Audio bandwidths from the lowest (RFC 6716 section 2). */
const BANDWIDTHS = ["NB", "MB", "WB", "SWB", "FB"];

/** Over so long what the data track sends is counted, which goes in bundles, s. */
const COUNTED_S = 1;

/** @typedef {{at: number, snapshot: Record<string, any>, capacity: number | null, wire?: number | null}} Sample `at` in s, `capacity` and `wire`, what is sent, in kb/s */
/**
 * A line and its place in the key; a colour means the same in every chart: `--plan` what the plan says, `--wire` what is
 * sent, `--network` what the network did, `--ear` what reaches the ear.
 * @typedef {object} Line
 * @property {string} name
 * @property {string} colour
 * @property {string} [dash]
 * @property {(sample: Sample, charts: Charts) => number | null} pick
 * @property {(sample: Sample) => string} value the present in words, empty where it is not known
 */
/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} [note] what it is, in a sentence
 * @property {(sample: Sample) => string} [more] beside the key
 * @property {Line[]} lines the first is the chart's own and drawn last
 * @property {(charts: Charts, most: number) => object} axis Plotly's y axis; `most` is the highest value drawn
 */

const network = (/** @type {Sample} */ sample) => sample.snapshot.reports?.network;
const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
const words = (/** @type {any} */ value, /** @type {(value: any) => string} */ say) => (value == null ? "" : say(value));
const or = (/** @type {any} */ value, scale = 1) => (value == null ? null : value * scale);

/** An axis from zero that small values do not fill. @param {number} least @param {string} unit */
const fromZero = (least, unit) => (/** @type {Charts} */ _, /** @type {number} */ most) => ({
  range: [0, Math.max(least, most * 1.08)],
  ticksuffix: unit,
});
const kbps = (/** @type {number} */ value) => `${value.toFixed(0)} kb/s`;
const opinion = (/** @type {Sample} */ {snapshot}) => (sounding(snapshot) ? or(snapshot.opinion) : null);

/** @type {Chart[]} */
const CHARTS = [
  {
    title: "Bitrate",
    lines: [
      {
        name: "speech (plan)",
        colour: "--plan",
        pick: ({snapshot}) => or(snapshot.plan?.bitrate, 1e-3),
        value: ({snapshot}) => words(snapshot.plan?.bitrate, (bits) => `${kilo(bits)} kb/s`),
      },
      {
        name: "on the wire (with headers)",
        colour: "--wire",
        pick: ({wire}) => wire ?? null,
        value: ({wire}) => words(wire, kbps),
      },
      {
        name: "capacity",
        colour: "--network",
        dash: "dot",
        pick: ({capacity}) => capacity,
        value: ({capacity}) => words(capacity, kbps),
      },
    ],
    axis: fromZero(40, " kb/s"),
  },
  {
    title: "Bandwidth",
    lines: [
      {
        name: "plan",
        colour: "--plan",
        pick: ({snapshot}) => index(BANDWIDTHS, snapshot.plan?.bandwidth),
        value: ({snapshot}) => snapshot.plan?.bandwidth ?? "",
      },
    ],
    axis: () => steps(BANDWIDTHS),
  },
  {
    title: "Tier",
    lines: [
      {
        name: "plan",
        colour: "--plan",
        pick: ({snapshot}, charts) => index(charts.tiers, snapshot.plan?.tier),
        value: ({snapshot}) => snapshot.plan?.tier ?? "",
      },
    ],
    axis: (charts) => steps(charts.tiers),
  },
  {
    title: "Round-trip time",
    more: (sample) => words(network(sample)?.queue_delay_ms, (ms) => `${ms.toFixed(0)} ms above the lowest`),
    lines: [
      {
        name: "network",
        colour: "--network",
        pick: (sample) => or(network(sample)?.rtt_ms),
        value: (sample) => words(network(sample)?.rtt_ms, (ms) => `${ms.toFixed(0)} ms`),
      },
    ],
    axis: fromZero(200, " ms"),
  },
  {
    title: "Loss",
    lines: [
      {
        name: "lost in the network",
        colour: "--network",
        pick: (sample) => or(network(sample)?.loss, 100),
        value: (sample) => words(network(sample)?.loss, percent),
      },
      {
        name: "concealed at the ear",
        colour: "--ear",
        pick: ({snapshot}) => or(snapshot.reports?.heard?.concealed, 100),
        value: ({snapshot}) => words(snapshot.reports?.heard?.concealed, percent),
      },
    ],
    axis: fromZero(10, " %"),
  },
  {
    title: "Opinion",
    note: "How people would rate this sound, estimated while something sounds: 1 is bad, 5 excellent.",
    lines: [
      {
        name: "at the ear",
        colour: "--ear",
        pick: opinion,
        value: (sample) => words(opinion(sample), (mos) => `${mos.toFixed(1)} of 5`),
      },
    ],
    axis: () => ({range: [0.9, 5.1], tickvals: [1, 2, 3, 4, 5]}),
  },
];

/** The charts and what they remember. */
export class Charts {
  /** Tiers of the sounding voice, the lowest first. @type {string[]} */
  tiers = [];

  /** @type {Sample[]} */
  #samples = [];
  /** @type {{chart: Chart, values: HTMLElement[], more: HTMLElement, plot: HTMLElement}[]} */
  #figures = [];
  #next = 0;

  /** @param {HTMLElement} container */
  constructor(container) {
    for (const chart of CHARTS) {
      const figure = element("figure", "chart");
      const caption = element("figcaption", "");
      caption.append(element("span", "title", chart.title));
      const values = chart.lines.map((line) => {
        const key = element("span", "key");
        const swatch = element("span", line.dash ? "swatch dotted" : "swatch");
        swatch.style.color = `var(${line.colour})`;
        const value = element("span", "value");
        key.append(swatch, element("span", "", line.name), value);
        caption.append(key);
        return value;
      });
      const more = element("span", "more");
      const plot = element("div", "plot");
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", `${chart.title} over the last ${WINDOW_S} seconds`);
      caption.append(more);
      if (chart.note) caption.append(element("span", "more", chart.note));
      figure.append(caption, plot);
      container.append(figure);
      this.#figures.push({chart, values, more, plot});
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  /** Takes what the listener is now. @param {Sample} sample */
  add(sample) {
    sample.wire = this.#wire(sample);
    this.#samples.push(sample);
    while (this.#samples[0].at < sample.at - WINDOW_S - 1) this.#samples.shift();
    for (const {chart, values, more} of this.#figures) {
      chart.lines.forEach((line, place) => (values[place].textContent = line.value(sample) || "–"));
      more.textContent = chart.more?.(sample) ?? "";
    }
    if (sample.at >= this.#next && document.visibilityState === "visible") {
      const begun = performance.now();
      this.#draw();
      const cost = (performance.now() - begun) / 1000;
      this.#next = sample.at + Math.max(DRAW_EVERY_S, cost / DRAW_SHARE);
    }
  }

  /** What both tracks send, kb/s. @param {Sample} sample @returns {number | null} */
  #wire({at, snapshot}) {
    const before = this.#samples.findLast((one) => one.at <= at - COUNTED_S);
    const bytes = snapshot.delivery?.bytes - before?.snapshot.delivery?.bytes;
    const ahead = before && bytes >= 0 ? (bytes * 8) / 1000 / (at - before.at) : 0;
    return snapshot.sent?.kbps == null ? null : snapshot.sent.kbps + ahead;
  }

  #draw() {
    const plotly = /** @type {any} */ (globalThis).Plotly;
    const now = this.#samples.at(-1)?.at;
    if (!plotly || now === undefined) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const x = this.#samples.map(({at}) => at - now);
    for (const {chart, plot} of this.#figures) {
      const traces = chart.lines.toReversed().map(({name, colour: of, dash, pick}) => ({
        x,
        y: this.#samples.map((sample) => pick(sample, this)),
        name,
        mode: "lines",
        cliponaxis: false,
        line: {color: colour(of), width: 2, shape: "hv", dash: dash ?? "solid"},
      }));
      const most = Math.max(0, ...traces.flatMap(({y}) => y.map((value) => value ?? 0)));
      const axis = {gridcolor: colour("--line"), zeroline: false, fixedrange: true};
      const layout = {
        margin: {l: 60, r: 18, t: 6, b: 28},
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: {color: colour("--muted"), size: 11, family: "system-ui, sans-serif"},
        showlegend: false,
        xaxis: {...axis, ticks: "outside", ticklen: 7, tickcolor: "rgba(0,0,0,0)", range: [-WINDOW_S, 0], tickvals: [-60, -40, -20, 0], ticktext: ["−60 s", "−40 s", "−20 s", "now"]},
        yaxis: {...axis, nticks: 5, ...chart.axis(this, most)},
      };
      plotly.react(plot, traces, layout, {staticPlot: true, responsive: true});
    }
  }
}

/** @param {string[]} names from the lowest */
function steps(names) {
  return {range: [-0.4, names.length - 0.6], tickvals: names.map((_, place) => place), ticktext: names};
}

/** @param {string[]} names @param {string | undefined} name @returns {number | null} */
function index(names, name) {
  const place = name === undefined ? -1 : names.indexOf(name);
  return place < 0 ? null : place;
}

/** @param {string} tag @param {string} className @param {string} [text] */
function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
