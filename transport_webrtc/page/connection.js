/** One connection to the server, which may be one of several in a listener's life: a peer connection and its channels. */

import {Feedback} from "./feedback.js";

/** How long ICE and DTLS may take where the server has answered, ms; a path that comes back is found in between. */
const CONNECTING_MS = 6000;

/**
 * @typedef {object} Told What a connection tells, each with itself.
 * @property {(connection: Connection) => void} onopen the `control` channel is open
 * @property {(connection: Connection, data: string) => void} oncontrol
 * @property {(connection: Connection, data: ArrayBuffer) => void} onspeech
 * @property {(connection: Connection) => void} onspeechopen
 * @property {(connection: Connection) => void} onspeechclose the server ended the data track, and nothing else
 * @property {(connection: Connection) => void} onstate
 * @property {(connection: Connection, silent: number) => void} onsilence nothing came for so many ms; told again and again
 * @property {(connection: Connection) => void} onarrival something came
 * @property {(connection: Connection) => void} onend the server closed it
 */

/** Opens once, ends once. */
export class Connection {
  pc = new RTCPeerConnection();
  receiver = this.pc.addTransceiver("audio", {direction: "recvonly"}).receiver;
  control = this.pc.createDataChannel("control");
  /** @type {RTCDataChannel | null} */
  speech = null;
  feedback;
  #closed = false;

  /**
   * @param {Told} told
   * @param {boolean} speech whether speech that is sent ahead can be played
   * @param {number} [pinned] `jitterBufferTarget`, ms
   */
  constructor(told, speech, pinned) {
    this.control.onopen = () => told.onopen(this);
    this.control.onclose = () => this.#closed || told.onend(this);
    this.control.onmessage = ({data}) => {
      this.feedback.arrived();
      told.oncontrol(this, data);
    };
    if (speech) this.#offerSpeech(told);
    this.feedback = new Feedback(this.pc, this.receiver, pinned);
    this.feedback.onarrival = () => told.onarrival(this);
    this.feedback.onsilence = (silent) => told.onsilence(this, silent);
    this.pc.onconnectionstatechange = () => this.#closed || told.onstate(this);
  }

  /**
   * Offers, and waits until the connection stands. Rejects with a LegatoError where it does not come about.
   * @param {import("./whep.js").Resource} resource
   * @param {import("./whep.js").OpenOptions} options
   */
  async open(resource, options) {
    await resource.open(this.pc, options);
    await this.#standing(options.signal);
  }

  close() {
    this.#closed = true;
    this.feedback.close();
    this.pc.close();
  }

  /** @param {Told} told */
  #offerSpeech(told) {
    const channel = (this.speech = this.pc.createDataChannel("speech", {ordered: false, maxRetransmits: 0}));
    channel.binaryType = "arraybuffer";
    channel.onopen = () => told.onspeechopen(this);
    channel.onclose = () => !this.#closed && this.pc.connectionState === "connected" && told.onspeechclose(this);
    channel.onmessage = ({data}) => {
      this.feedback.arrived();
      told.onspeech(this, data);
    };
  }

  /** @param {AbortSignal} [signal] @returns {Promise<void>} */
  #standing(signal) {
    const {pc} = this;
    return new Promise((resolve, reject) => {
      const settle = () => {
        if (pc.connectionState === "connected") resolve();
        else if (signal?.aborted || ["failed", "closed"].includes(pc.connectionState)) reject(new Error("no path"));
      };
      if (signal) setTimeout(() => reject(new Error("no path in time")), CONNECTING_MS);
      signal?.addEventListener("abort", settle);
      pc.addEventListener("connectionstatechange", settle);
      settle();
    });
  }
}
