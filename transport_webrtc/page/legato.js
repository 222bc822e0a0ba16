/**
 * Legato's client: hears speech over WebRTC and says what to speak. An ES module without dependencies.
 *
 *     import {connect} from "./legato.js";
 *     const listener = connect({voice: "joe"});
 *     listener.addEventListener("word", (event) => console.log(event.detail.text));
 *     listener.say("Hello.");
 *
 * `say` may be called at once: what is said before the connection stands is sent when it does, and where the browser wants a tap
 * before it plays the audio track, with that tap.
 *
 * A connection that is lost is taken up again by itself: what is sent ahead plays on meanwhile, the speech goes on where it was heard.
 *
 * Events (`CustomEvent`, facts in `detail`): the server's own `queued started marks noticed word progress switched paused
 * resumed interrupted finished failed error`, all of them also as `event`; `state` {state, message}; `audible` {audible} when
 * the browser begins or refuses to play sound; `carrier` {carrier, why} when it is known what carries the speech, or changes.
 */

import {Carriage} from "./carriage.js";
import {Control} from "./control.js";
import {readStats} from "./feedback.js";
import {Lines} from "./lines.js";
import {Resource} from "./whep.js";

export {LegatoError, request} from "./whep.js";

/**
 * @typedef {object} ConnectOptions
 * @property {string | URL} [url] Where the server is; the page's own address if absent.
 * @property {string} [voice]
 * @property {string} [profile]
 * @property {"auto" | "data" | "audio"} [carrier] `data`: sent ahead and played by this page, where it can; `audio`: as in a call.
 * @property {string} [token] Access token, sent as `Authorization: Bearer`.
 * @property {RTCIceServer[]} [iceServers] Asked of the server if absent.
 * @property {HTMLAudioElement} [audio] Plays the audio track; made here if absent.
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
 * @property {"auto" | "data" | "audio"} [carrier] For its turn only.
 */

/** @typedef {import("./lines.js").State} State */

const HELD_BACK = "This browser holds the player's sound back, even after a tap.";

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
  /** @type {boolean | null} Whether the browser plays the sound; null until that is known. */
  audible = null;

  #control = new Control({
    post: (json) => this.#resource.request("POST", "/speak", json).catch((error) => this.#complain(error)),
    hurry: (json) => this.#lines.current.feedback.send(json),
    wanted: () => this.audible !== false || this.carrier === "data",
  });
  #carriage;
  #resource;
  #lines;

  /** @param {ConnectOptions} options */
  constructor(options) {
    super();
    const {voice, profile, carrier, token, iceServers, jitterBufferTarget: pinned} = options;
    const carriage = (this.#carriage = new Carriage(carrier ?? "auto", {
      onack: (ack) => this.#lines.current.feedback.send(ack),
      oncarrier: (fell) => this.#onCarrier(fell),
      onsound: () => this.#onSound(),
    }));
    const resource = (this.#resource = new Resource(new URL("v1/listen", new URL(options.url ?? ".", document.baseURI)), token, iceServers));
    this.#lines = new Lines(
      {resource, carriage, control: this.#control, pinned},
      {onevent: (event) => this.#onEvent(event), onstate: (state, message) => this.#onState(state, message)},
    );

    /** Plays the audio track. */
    this.audio = options.audio ?? new Audio();
    this.audio.setAttribute("playsinline", "");
    this.audio.srcObject = this.#lines.stream;
    this.audio.onplaying = () => this.#onSound();
    this.audio.onpause = () => this.#onSound();

    /** @type {Promise<void>} Settles when the connection stands; rejects with a LegatoError where it does not come about. */
    this.connected = this.#lines.open({voice, profile, carrier, ...carriage.query});
    this.connected.catch((error) => this.#lines.end(error.message));
    void this.play();
  }

  /** @returns {State} */
  get state() {
    return this.#lines.state;
  }

  /** The listener's id, given by the server; empty before its answer. */
  get id() {
    return this.#resource.url?.pathname.split("/").pop() ?? "";
  }

  /** What carries the speech; null until that is known. */
  get carrier() {
    return this.#carriage.carrier;
  }

  /** Why it is that carrier, as a sentence. */
  get why() {
    return this.#carriage.why;
  }

  /** What sounds, for recorders and meters; another one from the event `carrier` on. @returns {MediaStream} */
  get stream() {
    return this.#carriage.stream ?? this.#lines.stream;
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
    const resumed = this.#carriage.resume();
    try {
      await this.audio.play();
    } catch (error) {
      if (/** @type {Error} */ (error).name === "NotAllowedError") this.#setAudible(false);
      return false;
    }
    const sounds = await resumed;
    // The audio element may play, after a tap, and the player still may not: then the server's audio track is heard instead.
    if (!sounds && navigator.userActivation?.isActive) this.#carriage.fall(HELD_BACK);
    this.#setAudible(this.#carriage.audible);
    return this.audible === true;
  }

  /**
   * The receiver's counters (`RTCInboundRtpStreamStats`) with `rtt_ms` of the path, null where it is not known, and `player`, what the
   * data track's player counts {played, place, concealed_ticks, starved_s, buffered_ms, state}, null where there is none.
   */
  async stats() {
    return {...(await readStats(this.#lines.current.pc)), player: this.#carriage.stats()};
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
    this.#lines.end("You ended the connection.");
  }

  /** @param {object} message */
  #send(message) {
    if (this.state === "closed") this.#complain({message: "There is no connection: connect again first.", status: 0});
    else this.#control.send(message);
  }

  /** @param {{message: string, status: number}} error */
  #complain({message, status}) {
    this.#emit("error", {message, status});
  }

  /** @param {Record<string, any>} event */
  #onEvent(event) {
    if (event.event === "switched" && event.kind === "carrier") this.#carriage.moved(event.to, event.reason);
    this.#emit(event.event, event);
    this.#emit("event", event);
  }

  /** @param {boolean} fell */
  #onCarrier(fell) {
    if (fell) {
      this.#lines.current.speech?.close();
      this.#send({carrier: "audio"});
    }
    this.#onSound();
    this.#control.flush();
    this.#emit("carrier", {carrier: this.carrier, why: this.why});
  }

  /** What is not known yet, or was refused, is for `play` to find out. */
  #onSound() {
    const sounds = !this.audio.paused && this.#carriage.audible;
    if (sounds || this.audible) this.#setAudible(sounds);
  }

  /** @param {State} state @param {string} message */
  #onState(state, message) {
    if (state === "closed") {
      this.#control.close();
      this.#carriage.close();
      if (this.audio.srcObject === this.#lines.stream) this.audio.srcObject = null;
    }
    this.#emit("state", {state, message});
  }

  /** @param {boolean} audible */
  #setAudible(audible) {
    if (audible === this.audible || this.state === "closed") return;
    this.audible = audible;
    this.#control.flush();
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
