/** The HTTP side of a listener: WHEP signalling (offer, answer, late candidates, goodbye) and what lies below its address. */

/** How long candidates are awaited before the offer leaves, ms; later ones follow by PATCH. */
const GATHERING_LIMIT_MS = 500;

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

/** One listener's address on the server. */
export class Resource {
  /** @type {URL | null} Known once the server has answered the offer. */
  url = null;

  #pc;
  #endpoint;
  #token;
  /** @type {RTCIceCandidate[]} */
  #late = [];

  /**
   * @param {RTCPeerConnection} pc
   * @param {URL} endpoint where offers go, with their query
   * @param {string} [token]
   */
  constructor(pc, endpoint, token) {
    this.#pc = pc;
    this.#endpoint = endpoint;
    this.#token = token;
  }

  /**
   * Offers what `pc` holds and takes the answer.
   * @param {RTCIceServer[]} [iceServers] asked of the server if absent
   */
  async open(iceServers) {
    const pc = this.#pc;
    pc.setConfiguration({iceServers: iceServers ?? (await this.#iceServers())});
    await pc.setLocalDescription(await pc.createOffer());
    await gathered(pc);
    const offer = pc.localDescription?.sdp ?? "";
    pc.onicecandidate = ({candidate}) => {
      if (candidate) this.#late.push(candidate);
      void this.#trickle();
    };
    const response = await this.#fetch(this.#endpoint, "POST", "application/sdp", offer);
    this.url = new URL(response.headers.get("Location") ?? "", response.url);
    const sdp = await response.text();
    if (pc.signalingState === "closed") return this.leave();
    await pc.setRemoteDescription({type: "answer", sdp});
    await this.#trickle();
  }

  /**
   * @param {"GET" | "PUT" | "POST"} method
   * @param {string} path below the listener's own address
   * @param {string} [json]
   * @returns {Promise<any>}
   */
  async request(method, path, json) {
    if (!this.url) throw new LegatoError("There is no connection yet.", 0);
    return (await this.#fetch(this.url.href + path, method, "application/json", json)).json();
  }

  /** Lets the server forget the listener at once; it would notice by itself, later. */
  async leave() {
    if (!this.url) return;
    await fetch(this.url, {method: "DELETE", headers: this.#headers(), keepalive: true}).catch(() => undefined);
  }

  /** ICE servers in the `Link` headers of the endpoint (RFC 9725 section 4.6). @returns {Promise<RTCIceServer[]>} */
  async #iceServers() {
    const response = await this.#fetch(this.#endpoint, "OPTIONS").catch(() => null);
    const servers = [];
    for (const [, urls, rest] of (response?.headers.get("Link") ?? "").matchAll(/<([^>]+)>([^<]*)/g)) {
      if (!/rel="?ice-server"?/.test(rest)) continue;
      const value = (/** @type {string} */ name) => rest.match(new RegExp(`[; ]${name}="([^"]*)"`))?.[1];
      servers.push({urls, username: value("username"), credential: value("credential")});
    }
    return servers;
  }

  /** Sends candidates found after the offer (RFC 8840). A path may be found without them, so a refusal ends nothing. */
  async #trickle() {
    if (!this.url || !this.#late.length) return;
    const sdp = this.#pc.localDescription?.sdp ?? "";
    const lines = [/^a=ice-ufrag:.*$/m, /^a=ice-pwd:.*$/m].map((line) => sdp.match(line)?.[0] ?? "");
    lines.push("m=audio 9 UDP/TLS/RTP/SAVPF 0");
    for (const {sdpMid, candidate} of this.#late.splice(0)) lines.push(`a=mid:${sdpMid}`, `a=${candidate}`);
    const body = lines.map((line) => `${line.trim()}\r\n`).join("");
    await this.#fetch(this.url, "PATCH", "application/trickle-ice-sdpfrag", body).catch((error) =>
      console.warn(`Legato: candidates refused. ${error.message}`),
    );
  }

  /** @param {URL | string} url @param {string} method @param {string} [type] @param {string} [body] */
  #fetch(url, method, type, body) {
    return request(url, {method, body, headers: this.#headers(body === undefined ? undefined : type)});
  }

  /** @param {string} [type] @returns {Record<string, string>} */
  #headers(type) {
    return {...(type && {"Content-Type": type}), ...(this.#token && {Authorization: `Bearer ${this.#token}`})};
  }
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
