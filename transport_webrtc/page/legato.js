/**
 * Legato's client: hears speech over WebRTC and says what to speak. An ES module without dependencies.
 *
 *     import {connect} from "./legato.js";
 *     const listener = connect({voice: "joe"});
 *     listener.addEventListener("word", (event) => console.log(event.detail.text));
 *     listener.say("Hello.");
 *
 * `say` may be called at once: what is said before the connection stands is sent when it does.
 *
 * Events (`CustomEvent`, facts in `detail`): the server's own `queued started marks word progress switched paused resumed
 * interrupted finished failed error`, all of them also as `event`; `state` {state, message}; `audible` {audible} when
 * the browser begins or refuses to play sound.
 */

import {Feedback, readStats} from "./feedback.js";
import {LegatoError, Resource} from "./whep.js";

export {LegatoError, request} from "./whep.js";

/**
 * @typedef {object} ConnectOptions
 * @property {string | URL} [url] Where the server is; the page's own address if absent.
 * @property {string} [voice]
 * @property {string} [profile]
 * @property {string} [token] Access token, sent as `Authorization: Bearer`.
 * @property {RTCIceServer[]} [iceServers] Asked of the server if absent.
 * @property {HTMLAudioElement} [audio] Plays the speech; made here if absent.
 * @property {number} [jitterBufferTarget] ms; pins the receiver's buffer, whatever the server asks for.
 *
 * @typedef {object} SayOptions The server's words for an utterance.
 * @property {string} [id] The caller's; repeats of one id are harmless.
 * @property {boolean} [more] Further pieces follow under the same id.
 * @property {string} [voice]
 * @property {number} [speed]
 * @property {string} [profile]
 * @property {number} [priority]
 * @property {boolean} [interrupt] Cuts off what is sounding.
 * @property {number} [at] Seconds after the server received it.
 * @property {"resume" | "restart" | "skip"} [keep]
 *
 * @typedef {"connecting" | "connected" | "disconnected" | "closed"} State `disconnected` may heal by itself.
 */

/** How long nothing may come from the server before the listener counts as disconnected, ms: three of its slowest pings. */
const SILENCE_LIMIT_MS = 3500;
const NOTHING_ARRIVES = "Nothing arrives from the server; waiting for the network.";

/**
 * Connects to a server; returns at once.
 * @param {ConnectOptions} [options]
 * @returns {Listener}
 */
export function connect(options = {}) {
  return new Listener(options);
}

/** One connection that hears speech. */
export class Listener extends EventTarget {
  /** @type {State} */
  state = "connecting";
  /** @type {boolean | null} Whether the browser plays the sound; null until that is known. */
  audible = null;

  #pc = new RTCPeerConnection();
  #control = this.#pc.createDataChannel("control");
  #receiver = this.#pc.addTransceiver("audio", {direction: "recvonly"}).receiver;
  #stream = new MediaStream([this.#receiver.track]);
  #feedback;
  #resource;
  /** @type {string[]} */
  #waiting = [];
  #watch = 0;

  /** @param {ConnectOptions} options */
  constructor(options) {
    super();
    const endpoint = new URL("v1/listen", new URL(options.url ?? ".", document.baseURI));
    for (const name of /** @type {const} */ (["voice", "profile"])) {
      if (options[name]) endpoint.searchParams.set(name, options[name]);
    }
    this.#resource = new Resource(this.#pc, endpoint, options.token);
    this.#feedback = new Feedback(this.#pc, this.#receiver, options.jitterBufferTarget);
    this.#feedback.onarrival = () => this.state === "disconnected" && this.#setState("connected");
    this.#control.onopen = () => this.#flush();
    this.#control.onmessage = ({data}) => this.#onControl(data);
    this.#control.onclose = () => this.#end("The server ended the connection.", false);
    this.#pc.onconnectionstatechange = () => this.#onConnection();

    /** Plays the speech. */
    this.audio = options.audio ?? new Audio();
    this.audio.setAttribute("playsinline", "");
    this.audio.srcObject = this.#stream;
    this.audio.onplaying = () => this.#setAudible(true);
    this.audio.onpause = () => this.#setAudible(false);

    /** @type {Promise<void>} Settles when the connection stands; rejects with a LegatoError where it does not come about. */
    this.connected = this.#open(options.iceServers);
    this.connected.catch((error) => this.#end(error.message));
    void this.play();
  }

  /** The listener's id, given by the server; empty before its answer. */
  get id() {
    return this.#resource.url?.pathname.split("/").pop() ?? "";
  }

  /**
   * Speaks a text after those already waiting. Returns the utterance's id.
   * @param {string} text
   * @param {SayOptions} [options]
   */
  say(text, options = {}) {
    const id = options.id ?? freshId();
    this.#send({...options, id, say: text});
    return id;
  }

  /** Cuts off what is sounding and speaks `text`. @param {string} text @param {SayOptions} [options] */
  interrupt(text, options = {}) {
    return this.say(text, {...options, interrupt: true});
  }

  /** Cuts off the utterance `id`; without one, what sounds and all that waits. @param {string} [id] */
  stop(id) {
    this.#send({stop: true, id});
  }

  /** Holds the utterance `id`, or the one whose turn it is. @param {string} [id] */
  pause(id) {
    this.#send({pause: true, id});
  }

  /** Goes on where `pause` held it. @param {string} [id] */
  resume(id) {
    this.#send({resume: true, id});
  }

  /** Drops what waits behind the sounding utterance. */
  clear() {
    this.#send({clear: true});
  }

  /**
   * Asks the browser to play; true once it does, false where it wants a tap first. Call it from a tap or a click.
   * @returns {Promise<boolean>}
   */
  async play() {
    try {
      await this.audio.play();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "NotAllowedError") this.#setAudible(false);
      return false;
    }
    this.#setAudible(true);
    return true;
  }

  /** The receiver's counters (`RTCInboundRtpStreamStats`) with `rtt_ms` of the path, null where it is not known. */
  stats() {
    return readStats(this.#pc);
  }

  /** What the server says of this listener now: plan, reports, opinion, queue. */
  snapshot() {
    return this.#resource.request("GET", "");
  }

  /**
   * The network between the server and this listener, where the server runs with its lab; `changes` change it.
   * @param {object} [changes] `{down: {...}, up: {...}}` or `{preset: name}`
   */
  network(changes) {
    return this.#resource.request(changes ? "PUT" : "GET", "/network", changes && JSON.stringify(changes));
  }

  /** Ends the connection. */
  close() {
    this.#end("You ended the connection.");
  }

  /** @param {RTCIceServer[]} [iceServers] */
  async #open(iceServers) {
    await this.#resource.open(iceServers);
    await new Promise((resolve, reject) => {
      const settle = () => {
        if (this.state === "connected") resolve(undefined);
        if (this.state === "closed") reject(new LegatoError("No connection came about. Is UDP blocked on the way?", 0));
      };
      this.addEventListener("state", settle);
      settle();
    });
  }

  /** @param {object} message */
  #send(message) {
    if (this.state === "closed") return this.#emit("error", {message: "There is no connection: connect again first.", status: 0});
    this.#waiting.push(JSON.stringify(message));
    if (this.#control.readyState === "open") this.#flush();
  }

  /** Sends what waits; what is too long for the channel goes by HTTP. */
  #flush() {
    const limit = this.#pc.sctp?.maxMessageSize ?? 0;
    for (const json of this.#waiting.splice(0)) {
      if (new Blob([json]).size <= limit) this.#control.send(json);
      else this.#resource.request("POST", "/speak", json).catch(({message, status}) => this.#emit("error", {message, status}));
    }
  }

  /** @param {string} data */
  #onControl(data) {
    const event = JSON.parse(data);
    this.#emit(event.event, event);
    this.#emit("event", event);
  }

  #onConnection() {
    const state = this.#pc.connectionState;
    if (state === "connected") {
      this.#feedback.lastArrival = performance.now();
      this.#watch ||= setInterval(() => this.#checkSilence(), 500);
      this.#setState("connected");
    } else if (state === "disconnected") {
      this.#setState("disconnected", NOTHING_ARRIVES);
    } else if (state === "failed" || state === "closed") {
      this.#end("The connection was lost.");
    }
  }

  /** ICE notices a dead path after about 6 s; pings that do not come say it sooner. */
  #checkSilence() {
    const silence = performance.now() - this.#feedback.lastArrival;
    if (this.state === "connected" && this.#feedback.isOpen && silence > SILENCE_LIMIT_MS) {
      this.#setState("disconnected", NOTHING_ARRIVES);
    }
  }

  /** @param {string} message @param {boolean} goodbye whether the server does not know yet */
  #end(message, goodbye = true) {
    if (this.state === "closed") return;
    this.#setState("closed", message);
    clearInterval(this.#watch);
    if (this.audio.srcObject === this.#stream) this.audio.srcObject = null;
    // In this order: a server that saw the connection close would not know the listener that says goodbye.
    void Promise.resolve(goodbye && this.#resource.leave()).finally(() => this.#pc.close());
  }

  /** @param {State} state @param {string} [message] */
  #setState(state, message = "") {
    if (state === this.state) return;
    this.state = state;
    this.#emit("state", {state, message});
  }

  /** @param {boolean} audible */
  #setAudible(audible) {
    if (audible === this.audible || this.state === "closed") return;
    this.audible = audible;
    this.#emit("audible", {audible});
  }

  /** @param {string} name @param {object} detail */
  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail}));
  }
}

/** An id nobody else has; `crypto.randomUUID` exists in secure contexts only. */
function freshId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
