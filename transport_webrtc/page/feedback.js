/** The listener's side of the `feedback` channel: what the receiver saw goes back with the answer to every ping. */

/** With more bytes waiting, an answer to a ping would be old when it arrives. */
const WAITING_LIMIT_BYTES = 4096;
/** How long nothing may come from the server, by whatever way, before that is told, ms: two of its slowest pings. */
const SILENCE_LIMIT_MS = 2200;
const LOOK_MS = 250;
/** A look that comes so much late, ms, was held up with everything else on this page, and says nothing of the path. */
const LATE_MS = 750;

/**
 * The receiver's counters (`RTCInboundRtpStreamStats`) with `rtt_ms` of the path, null where it is not known.
 * @param {RTCPeerConnection} pc
 * @returns {Promise<Record<string, any>>}
 */
export async function readStats(pc) {
  let inbound = {};
  let rtt = NaN;
  for (const entry of (await pc.getStats()).values()) {
    if (entry.type === "inbound-rtp" && entry.kind === "audio") inbound = entry;
    if (entry.type === "candidate-pair" && entry.nominated) rtt = entry.currentRoundTripTime ?? NaN;
  }
  return {...inbound, rtt_ms: Number.isFinite(rtt) ? rtt * 1000 : null};
}

/** Answers pings and sets the buffer the server asks for. */
export class Feedback {
  /** @type {(silent: number) => void} Called again and again, with the ms for which nothing came: ICE notices it after about 6 s only. */
  onsilence = () => undefined;
  /** @type {() => void} Called whenever something came. */
  onarrival = () => undefined;

  #pc;
  #channel;
  #receiver;
  #pinned;
  /** When the server was last heard of on this channel, in `performance.now()` milliseconds. */
  #lastArrival = 0;
  #watch = 0;
  #looked = 0;
  #packets = 0;

  /**
   * @param {RTCPeerConnection} pc
   * @param {RTCRtpReceiver} receiver
   * @param {number} [pinned] `jitterBufferTarget` in ms that stays, whatever the server asks for
   */
  constructor(pc, receiver, pinned) {
    this.#pc = pc;
    this.#receiver = receiver;
    this.#pinned = pinned;
    if (pinned !== undefined) receiver.jitterBufferTarget = pinned;
    this.#channel = pc.createDataChannel("feedback", {ordered: false, maxRetransmits: 0});
    this.#channel.onmessage = ({data}) => void this.#onMessage(data);
  }

  get isOpen() {
    return this.#channel.readyState === "open";
  }

  /** The connection stands: from now on silence is noticed. */
  watch() {
    this.#lastArrival = performance.now();
    this.#looked = this.#lastArrival;
    this.#watch ||= setInterval(() => void this.#look(), LOOK_MS);
  }

  /** Something came from the server. */
  arrived() {
    this.#lastArrival = performance.now();
    this.onarrival();
  }

  /** Ends the watch. */
  close() {
    clearInterval(this.#watch);
  }

  /** Sends what is of use only at once; where the channel is closed or full it is let go. @param {string | ArrayBuffer} data */
  send(data) {
    if (!this.isOpen || this.#channel.bufferedAmount > WAITING_LIMIT_BYTES) return;
    this.#channel.send(/** @type {string} */ (data));
  }

  /** Packets of the audio track are a sign of life, too, and are looked for where there is no other. */
  async #look() {
    const now = performance.now();
    const late = now - this.#looked > LOOK_MS + LATE_MS;
    this.#looked = now;
    if (late) this.#lastArrival = Math.max(this.#lastArrival, now - LATE_MS);
    if (!this.isOpen || now - this.#lastArrival < LATE_MS) return;
    const {packetsReceived = 0} = await readStats(this.#pc);
    if (packetsReceived > this.#packets) this.arrived();
    this.#packets = packetsReceived;
    const silent = performance.now() - this.#lastArrival;
    if (silent > SILENCE_LIMIT_MS) this.onsilence(silent);
  }

  /** @param {string} data */
  async #onMessage(data) {
    const arrival = performance.now();
    this.arrived();
    const {p, t, jbt} = JSON.parse(data);
    if (jbt !== undefined && this.#pinned === undefined) this.#receiver.jitterBufferTarget = jbt;
    if (p === undefined) return;
    const stats = await readStats(this.#pc);
    this.#packets = stats.packetsReceived ?? 0;
    const counters = [
      stats.packetsReceived,
      stats.packetsLost,
      stats.jitter * 1e6,
      stats.concealedSamples,
      stats.totalSamplesReceived,
      stats.jitterBufferDelay * 1e3,
      stats.jitterBufferEmittedCount,
      stats.bytesReceived,
      stats.silentConcealedSamples,
    ];
    const s = counters.every(Number.isFinite) ? counters.map(Math.round) : undefined;
    const h = Math.round((performance.now() - arrival) * 1000) / 1000;
    this.send(JSON.stringify({p, t, h, s}));
  }
}
