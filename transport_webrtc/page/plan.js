/** A plan in words, as the page says it. */

/** RFC 6716 section 2. */
const BANDWIDTHS = /** @type {Record<string, string>} */ ({
  NB: "narrowband, up to 4 kHz",
  MB: "medium-band, up to 6 kHz",
  WB: "wideband, up to 8 kHz",
  SWB: "super-wideband, up to 12 kHz",
  FB: "fullband, up to 20 kHz",
});

const REASONS = /** @type {Record<string, string>} */ ({
  start: "this is where a listener begins",
  steady: "nothing has changed",
  congested: "the network carries less than was sent",
  loss: "packets are being lost",
  recovered: "the network carries more",
  stale: "the listener has not reported for a while",
  compute: "rendering cannot keep up",
  headroom: "rendering has time to spare",
  forced: "it was asked for",
  error: "the controller failed, and this is the safe choice",
});

/** Whether speech is on its way now. @param {Record<string, any>} snapshot */
export function sounding(snapshot) {
  return snapshot.speaking?.sounding === "sounding";
}

/**
 * Puts what the plan is into a list of definitions, and why into a paragraph.
 * @param {HTMLElement} list @param {HTMLElement} reason @param {Record<string, any>} snapshot
 * @param {{carrier: string | null, why: string}} carriage what carries the speech, and why
 */
export function showPlan(list, reason, snapshot, {carrier, why}) {
  const chips = describe(snapshot, carrier).map(([name, value]) => {
    const chip = document.createElement("div");
    if (name === "Carrier") chip.title = why;
    for (const [tag, text] of [["dt", name], ["dd", value]]) {
      chip.appendChild(document.createElement(tag)).textContent = text;
    }
    return chip;
  });
  list.replaceChildren(...chips);
  reason.textContent = explain(snapshot);
}

/**
 * What the plan is: names and values.
 * @param {Record<string, any>} snapshot
 * @param {string | null} carrier
 * @returns {[string, string][]}
 */
function describe({plan, lead_s: lead}, carrier) {
  const data = carrier === "data";
  return [
    ["Carrier", data ? "data track, ahead of its time" : carrier ? "audio track, as in a call" : "not known yet"],
    ["Speech", `${kilo(plan.bitrate)} kb/s`],
    ["Bandwidth", BANDWIDTHS[plan.bandwidth] ?? plan.bandwidth],
    ["Frames", `${plan.frame_ms} ms`],
    ["Tier", plan.tier],
    data ? ["Lead", typeof lead === "number" ? `${lead.toFixed(1)} s` : "–"] : ["Protection", protectionWords(plan)],
    ...(data ? [] : [delayWords(plan)]),
  ];
}

/** @param {Record<string, any>} plan @returns {[string, string]} */
function delayWords({playout_delay_ms: delay}) {
  return ["Playout delay", delay ? ms(delay) : "as the browser likes"];
}

/**
 * Why it is so: what changed last, why and when.
 * @param {Record<string, any>} snapshot
 */
function explain(snapshot) {
  const change = lastChange(snapshot);
  if (!sounding(snapshot)) return `Nothing is being sent, so nothing is tried.${change && ` Last change: ${change}`}`;
  return change || `${because(snapshot.plan.reason)}.`;
}

/** `24 → 32 kb/s: recovered …, 3 s ago.`; empty where nothing changed yet. @param {Record<string, any>} snapshot */
function lastChange({plans, connected_s}) {
  for (let place = (plans?.length ?? 0) - 1; place > 0; place--) {
    const what = differences(plans[place - 1], plans[place]);
    const {reason, at} = plans[place];
    if (what) return `${what}: ${reason === "steady" ? "steady (only fitted anew)" : because(reason)}, ${ago((connected_s ?? at) - at)}.`;
  }
  return "";
}

/** @param {Record<string, any>} before @param {Record<string, any>} after */
function differences(before, after) {
  const step = (/** @type {(plan: Record<string, any>) => string} */ say, what = "", unit = "") =>
    say(before) === say(after) ? "" : `${what}${say(before)} → ${say(after)}${unit}`;
  return [
    step(({bitrate}) => kilo(bitrate), "", " kb/s"),
    step(({bandwidth}) => bandwidth, ""),
    step(({frame_ms}) => `${frame_ms}`, "frames ", " ms"),
    step(({tier}) => tier, "tier "),
    step(protectionWords, "protection "),
    step(({playout_delay_ms}) => `${Math.round(playout_delay_ms ?? 0)}`, "playout delay ", " ms"),
  ]
    .filter(Boolean)
    .join(", ");
}

/** @param {string} reason */
function because(reason) {
  return `${reason} (${REASONS[reason] ?? "no more is known of this reason"})`;
}

/** @param {number} seconds */
function ago(seconds) {
  if (seconds < 1) return "just now";
  return seconds < 100 ? `${Math.round(seconds)} s ago` : `${Math.round(seconds / 60)} min ago`;
}

/** @param {number} value */
function ms(value) {
  return `${Math.round(value)} ms`;
}

/** @param {number} bits per second */
export function kilo(bits) {
  const value = bits / 1000;
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}

/** @param {Record<string, any>} plan */
function protectionWords(plan) {
  const words = plan.protection ? String(plan.protection) : "none";
  return words !== "none" && plan.loss_hint ? `${words} (for ${plan.loss_hint} % loss)` : words;
}
