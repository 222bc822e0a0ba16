/** Six small charts of the last minute, drawn with the Plotly the server hands out; without it the numbers remain. */

import {kilo} from "./plan.js";

const WINDOW_S = 60;
const DRAW_EVERY_S = 0.45;
/** Of the page's time, at most: a slow machine draws less often. */
const DRAW_SHARE = 0.15;
/** Audio bandwidths from the lowest (RFC 6716 section 2). */
const BANDWIDTHS = ["NB", "MB", "WB", "SWB", "FB"];

/** @typedef {{at: number, snapshot: Record<string, any>, capacity: number | null}} Sample `at` in s, `capacity` in kb/s */
/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {(sample: Sample) => string} value the present in words
 * @property {(sample: Sample) => [string, string][]} [more] beside it, smaller: words and their colour
 * @property {{name: string, colour: string, dash?: string, pick: (sample: Sample, charts: Charts) => number | null}[]} lines
 * @property {(charts: Charts) => object} axis Plotly's y axis
 */

const network = (/** @type {Sample} */ sample) => sample.snapshot.reports?.network;
const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;
const words = (/** @type {any} */ value, /** @type {(value: any) => string} */ say) => (value == null ? "" : say(value));
const or = (/** @type {any} */ value, scale = 1) => (value == null ? null : value * scale);

/** @type {Chart[]} */
const CHARTS = [
  {
    title: "Bitrate",
    value: ({snapshot}) => words(snapshot.plan?.bitrate, (bits) => `${kilo(bits)} kb/s`),
    more: ({snapshot, capacity}) => [
      [words(snapshot.sent?.kbps, (kbps) => `sent ${kbps.toFixed(0)} kb/s`), "--second"],
      [words(capacity, (kbps) => `capacity ${kbps.toFixed(0)}`), "--third"],
    ],
    lines: [
      {name: "capacity", colour: "--third", dash: "dot", pick: ({capacity}) => capacity},
      {name: "sent, with headers", colour: "--second", pick: ({snapshot}) => or(snapshot.sent?.kbps)},
      {name: "bitrate", colour: "--accent", pick: ({snapshot}) => or(snapshot.plan?.bitrate, 1e-3)},
    ],
    axis: () => ({rangemode: "tozero", ticksuffix: " k"}),
  },
  {
    title: "Bandwidth",
    value: ({snapshot}) => snapshot.plan?.bandwidth ?? "",
    lines: [{name: "bandwidth", colour: "--accent", pick: ({snapshot}) => index(BANDWIDTHS, snapshot.plan?.bandwidth)}],
    axis: () => steps(BANDWIDTHS),
  },
  {
    title: "Tier",
    value: ({snapshot}) => snapshot.plan?.tier ?? "",
    lines: [{name: "tier", colour: "--accent", pick: ({snapshot}, charts) => index(charts.tiers, snapshot.plan?.tier)}],
    axis: (charts) => steps(charts.tiers),
  },
  {
    title: "Round-trip time",
    value: (sample) => words(network(sample)?.rtt_ms, (ms) => `${ms.toFixed(0)} ms`),
    more: (sample) => [[words(network(sample)?.queue_delay_ms, (ms) => `queueing ${ms.toFixed(0)} ms`), "--muted"]],
    lines: [{name: "RTT", colour: "--accent", pick: (sample) => or(network(sample)?.rtt_ms)}],
    axis: () => ({rangemode: "tozero", ticksuffix: " ms"}),
  },
  {
    title: "Loss",
    value: (sample) => words(network(sample)?.loss, percent),
    more: ({snapshot}) => [[words(snapshot.reports?.heard?.concealed, (share) => `concealed ${percent(share)}`), "--second"]],
    lines: [
      {name: "concealed", colour: "--second", pick: ({snapshot}) => or(snapshot.reports?.heard?.concealed, 100)},
      {name: "lost", colour: "--accent", pick: (sample) => or(network(sample)?.loss, 100)},
    ],
    axis: () => ({rangemode: "tozero", ticksuffix: " %"}),
  },
  {
    title: "Opinion",
    value: ({snapshot}) => words(snapshot.opinion, (mos) => `${mos.toFixed(1)} of 5`),
    more: () => [["expected: 1 bad, 5 excellent", "--muted"]],
    lines: [{name: "opinion", colour: "--accent", pick: ({snapshot}) => or(snapshot.opinion)}],
    axis: () => ({range: [0.9, 5.1], tickvals: [1, 2, 3, 4, 5]}),
  },
];

/** The charts and what they remember. */
export class Charts {
  /** Tiers of the sounding voice, the lowest first. @type {string[]} */
  tiers = [];

  /** @type {Sample[]} */
  #samples = [];
  /** @type {{chart: Chart, value: HTMLElement, more: HTMLElement, plot: HTMLElement}[]} */
  #figures = [];
  #next = 0;

  /** @param {HTMLElement} container */
  constructor(container) {
    for (const chart of CHARTS) {
      const figure = element("figure", "chart");
      const caption = element("figcaption", "");
      const value = element("span", "value");
      const more = element("span", "more");
      const plot = element("div", "plot");
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", `${chart.title} over the last ${WINDOW_S} seconds`);
      caption.append(element("span", "title", chart.title), value, more);
      figure.append(caption, plot);
      container.append(figure);
      this.#figures.push({chart, value, more, plot});
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  /** Takes what the listener is now. @param {Sample} sample */
  add(sample) {
    this.#samples.push(sample);
    while (this.#samples[0].at < sample.at - WINDOW_S - 1) this.#samples.shift();
    for (const {chart, value, more} of this.#figures) {
      value.textContent = chart.value(sample) || "–";
      const beside = chart.more?.(sample).filter(([text]) => text) ?? [];
      more.replaceChildren(...beside.map(([text, colour]) => element("span", "", text, `var(${colour})`)));
    }
    if (sample.at >= this.#next && document.visibilityState === "visible") {
      const begun = performance.now();
      this.#draw();
      const cost = (performance.now() - begun) / 1000;
      this.#next = sample.at + Math.max(DRAW_EVERY_S, cost / DRAW_SHARE);
    }
  }

  #draw() {
    const plotly = /** @type {any} */ (globalThis).Plotly;
    const now = this.#samples.at(-1)?.at;
    if (!plotly || now === undefined) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const x = this.#samples.map(({at}) => at - now);
    for (const {chart, plot} of this.#figures) {
      const traces = chart.lines.map(({name, colour: of, dash, pick}) => ({
        x,
        y: this.#samples.map((sample) => pick(sample, this)),
        name,
        mode: "lines",
        cliponaxis: false,
        line: {color: colour(of), width: 2, shape: "hv", dash: dash ?? "solid"},
      }));
      const axis = {gridcolor: colour("--line"), zeroline: false, fixedrange: true};
      const layout = {
        margin: {l: 54, r: 18, t: 6, b: 22},
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: {color: colour("--muted"), size: 11, family: "system-ui, sans-serif"},
        showlegend: false,
        xaxis: {...axis, range: [-WINDOW_S, 0], tickvals: [-40, -20, 0], ticktext: ["−40 s", "−20 s", "now"]},
        yaxis: {...axis, nticks: 5, ...chart.axis(this)},
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

/** @param {string} tag @param {string} className @param {string} [text] @param {string} [colour] */
function element(tag, className, text = "", colour = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  made.style.color = colour;
  return made;
}
