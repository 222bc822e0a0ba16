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
  recovered: "the network has got better",
  stale: "the listener has not reported for a while",
  compute: "rendering cannot keep up",
  headroom: "rendering has time to spare",
  forced: "it was asked for",
  error: "the controller failed, and this is the safe choice",
});

/**
 * What the plan is.
 * @param {Record<string, any>} plan
 */
export function describe(plan) {
  const protection = protectionWords(plan);
  const parts = [
    `${kilo(plan.bitrate)} kb/s`,
    BANDWIDTHS[plan.bandwidth] ?? plan.bandwidth,
    `frames of ${plan.frame_ms} ms`,
    `tier ${plan.tier}`,
    protection ? `protection ${protection}` : "no protection",
  ];
  if (plan.playout_delay_ms) parts.push(`playout delay ${Math.round(plan.playout_delay_ms)} ms`);
  return parts.join(" · ");
}

/**
 * Why it is so.
 * @param {Record<string, any>} plan
 */
export function explain(plan) {
  return `${plan.reason}: ${REASONS[plan.reason] ?? "no more is known of this reason"}.`;
}

/** @param {number} bits per second */
export function kilo(bits) {
  const value = bits / 1000;
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}

/** @param {Record<string, any>} plan */
function protectionWords(plan) {
  const words = plan.protection && plan.protection !== "none" ? String(plan.protection) : "";
  return words && plan.loss_hint ? `${words} (for ${plan.loss_hint} % loss)` : words;
}
