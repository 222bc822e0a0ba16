/** The HTTP side of a listener: WHEP signalling (offer, answer, late candidates, goodbye) and what lies below its address. */

/** How long candidates are awaited before the offer leaves, ms; later ones follow by PATCH. */
const GATHERING_LIMIT_MS = 500;
/** ICE servers' credentials may be good for a day, ms. */
const ASKED_AGAIN_MS = 12 * 3_600_000;
/** How long an answer may take that nobody waits for, ms: over a path that died it never comes. */
const ANSWER_MS = 10_000;
/** Browsers open no more connections to a server at once (HTTP/1.1), and keep them. */
const CONNECTIONS = 6;

/** A refusal of the server: `message` is its sentence, `status` the HTTP status (0: it could not be reached). */
export class LegatoError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.name = "LegatoError";
    this.status = status;
  }
}

/**
 * `fetch` that throws a LegatoError with the server's own sentence for everything but success.
 * @param {URL | string} url
 * @param {RequestInit} [init]
 */
export async function request(url, init) {
  let response;
  try {
    response = await fetch(url, init);
  } catch {
    throw new LegatoError("The server cannot be reached: is legato serve running?", 0);
  }
  if (response.ok) return response;
  const fallback = `The server answered ${`${response.status} ${response.statusText}`.trim()}.`;
  const body = await response.json().catch(() => ({}));
  throw new LegatoError(typeof body.error === "string" ? body.error : fallback, response.status);
}

/**
 * @typedef {object} OpenOptions
 * @property {Record<string, string | undefined>} query
 * @property {boolean} [takeover] an earlier connection is taken over
 * @property {AbortSignal} [signal]
 * @property {number} [patience] ms that an answer may take beside what it took the first time
 */

/** One listener's address on the server. */
export class Resource {
  /** @type {URL | null} Known once the server has answered the offer. */
  url = null;

  #endpoint;
  #token;
  #given;
  /** @type {RTCIceServer[] | null} */
  #servers = null;
  /** When they were asked for. */
  #asked = 0;
  /** What opens a takeover; the server gives another one with each answer. */
  #resume = "";
  /** How long the first answer took, ms. */
  #took = 0;

  /**
   * @param {URL} endpoint where offers go
   * @param {string} [token]
   * @param {RTCIceServer[]} [iceServers] asked of the server if absent
   */
  constructor(endpoint, token, iceServers) {
    this.#endpoint = endpoint;
    this.#token = token;
    this.#given = iceServers;
  }

  /** Whether a connection that is lost can be taken over. */
  get resumable() {
    return this.#resume !== "";
  }

  /**
   * Offers what `pc` holds and takes the answer.
   * @param {RTCPeerConnection} pc
   * @param {OpenOptions} options
   */
  async open(pc, {query, takeover = false, signal, patience = 0}) {
    const limit = () => limited(signal, patience, this.#took);
    pc.setConfiguration({iceServers: this.#given ?? (await this.#iceServers(limit()))});
    await pc.setLocalDescription(await pc.createOffer());
    await gathered(pc);
    const offer = pc.localDescription?.sdp ?? "";
    /** @type {RTCIceCandidate[]} */
    const late = [];
    let answered = false;
    const trickle = () => (answered && late.length ? this.#trickle(pc, late.splice(0)) : undefined);
    pc.onicecandidate = ({candidate}) => {
      if (candidate) late.push(candidate);
      void trickle();
    };
    const endpoint = new URL(this.#endpoint);
    const asked = takeover ? {...query, takeover: "1"} : query;
    for (const [name, value] of Object.entries(asked)) if (value) endpoint.searchParams.set(name, value);
    const token = takeover ? this.#resume : this.#token;
    const begun = performance.now();
    const response = await this.#fetch(endpoint, "POST", "application/sdp", offer, {token, signal: limit()});
    this.#took ||= performance.now() - begun;
    this.#resume = response.headers.get("Legato-Resume-Token") ?? "";
    this.url = new URL(response.headers.get("Location") ?? "", response.url);
    const sdp = await response.text();
    if (pc.signalingState === "closed") return takeover ? undefined : this.leave();
    await pc.setRemoteDescription({type: "answer", sdp});
    answered = true;
    await trickle();
  }

  /**
   * @param {"GET" | "PUT" | "POST"} method
   * @param {string} path below the listener's own address
   * @param {string} [json]
   * @returns {Promise<any>}
   */
  async request(method, path, json) {
    if (!this.url) throw new LegatoError("There is no connection yet.", 0);
    const signal = AbortSignal.timeout(ANSWER_MS);
    return (await this.#fetch(this.url.href + path, method, "application/json", json, {signal})).json();
  }

  /**
   * Rids the browser of connections that died with the network without its knowing: each would hold up an attempt until that ran
   * out of time. Asked so much at once, it uses all of them, and closes those that do not answer in time.
   * @param {number} patience ms
   */
  async shake(patience) {
    const signal = limited(undefined, patience, this.#took);
    const asked = Array.from({length: CONNECTIONS - 1}, () => this.#fetch(this.#endpoint, "OPTIONS", undefined, undefined, {signal}));
    await Promise.allSettled(asked);
  }

  /** Lets the server forget the listener at once; it would notice by itself, later. */
  async leave() {
    if (!this.url) return;
    await fetch(this.url, {method: "DELETE", headers: this.#headers(), keepalive: true}).catch(() => undefined);
  }

  /**
   * ICE servers in the `Link` headers of the endpoint (RFC 9725 section 4.6), asked again when credentials may have run out.
   * @param {AbortSignal} [signal]
   * @returns {Promise<RTCIceServer[]>}
   */
  async #iceServers(signal) {
    if (this.#servers && performance.now() - this.#asked < ASKED_AGAIN_MS) return this.#servers;
    const response = await this.#fetch(this.#endpoint, "OPTIONS", undefined, undefined, {signal}).catch(() => null);
    if (!response) return this.#servers ?? [];
    /** @type {RTCIceServer[]} */
    const servers = (this.#servers = []);
    this.#asked = performance.now();
    for (const [, urls, rest] of (response.headers.get("Link") ?? "").matchAll(/<([^>]+)>([^<]*)/g)) {
      if (!/rel="?ice-server"?/.test(rest)) continue;
      const value = (/** @type {string} */ name) => rest.match(new RegExp(`[; ]${name}="([^"]*)"`))?.[1];
      servers.push({urls, username: value("username"), credential: value("credential")});
    }
    return servers;
  }

  /**
   * Sends candidates found after the offer (RFC 8840). A path may be found without them, so a refusal ends nothing.
   * @param {RTCPeerConnection} pc @param {RTCIceCandidate[]} late
   */
  async #trickle(pc, late) {
    const sdp = pc.localDescription?.sdp ?? "";
    const lines = [/^a=ice-ufrag:.*$/m, /^a=ice-pwd:.*$/m].map((line) => sdp.match(line)?.[0] ?? "");
    lines.push("m=audio 9 UDP/TLS/RTP/SAVPF 0");
    for (const {sdpMid, candidate} of late) lines.push(`a=mid:${sdpMid}`, `a=${candidate}`);
    const body = lines.map((line) => `${line.trim()}\r\n`).join("");
    await this.#fetch(/** @type {URL} */ (this.url), "PATCH", "application/trickle-ice-sdpfrag", body).catch((error) =>
      console.warn(`Legato: candidates refused. ${error.message}`),
    );
  }

  /**
   * @param {URL | string} url @param {string} method @param {string} [type] @param {string} [body]
   * @param {{token?: string, signal?: AbortSignal}} [other] `token` in place of the access token
   */
  #fetch(url, method, type, body, {token = this.#token, signal} = {}) {
    return request(url, {method, body, signal, headers: this.#headers(body === undefined ? undefined : type, token)});
  }

  /** @param {string} [type] @param {string} [token] @returns {Record<string, string>} */
  #headers(type, token = this.#token) {
    return {...(type && {"Content-Type": type}), ...(token && {Authorization: `Bearer ${token}`})};
  }
}

/** A signal that also ends an exchange that takes too long: over a network that is back another attempt is sooner through. @param {AbortSignal | undefined} signal @param {number} patience @param {number} took */
function limited(signal, patience, took) {
  if (!patience) return signal;
  const limit = AbortSignal.timeout(Math.round(patience + 3 * took));
  return signal ? AbortSignal.any([signal, limit]) : limit;
}

/** Waits until all candidates are known, within reason. @param {RTCPeerConnection} pc */
async function gathered(pc) {
  if (pc.iceGatheringState === "complete") return;
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, GATHERING_LIMIT_MS);
    pc.onicegatheringstatechange = () => {
      if (pc.iceGatheringState !== "complete") return;
      clearTimeout(timer);
      resolve(undefined);
    };
  });
}
