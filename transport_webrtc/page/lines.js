/** A listener's connections, one after the other: the newest carries everything, and when it is lost another one is tried until it stands. */

import {Connection} from "./connection.js";
import {PATIENCE_MS, Rejoining} from "./rejoining.js";
import {LegatoError} from "./whep.js";

const NOTHING_ARRIVES = "Nothing arrives from the server; waiting for the network.";
const TRIES_AGAIN = "The connection was lost; another one is tried. What was sent ahead plays on.";
const NO_CONNECTION = "No connection came about. Is UDP blocked on the way?";
/** A connection of which nothing came for so long is given up for another one, ms: an outage of a few seconds heals sooner than a
 * connection comes about on a path that just had one. */
const GIVEN_UP_MS = 5500;

/**
 * @typedef {"connecting" | "connected" | "disconnected" | "reconnecting" | "closed"} State
 * `disconnected` may heal by itself; `reconnecting`: another connection is tried until one stands.
 */

/** Owns the connections, and the stream of the audio track that goes on through all of them. */
export class Lines {
  /** @type {State} */
  state = "connecting";
  stream = new MediaStream();
  /** The newest that stood, or the first. @type {Connection} */
  current;

  #resource;
  #carriage;
  #control;
  #pinned;
  #told;
  /** @type {Rejoining | null} */
  #rejoining = null;
  /** Number of the last event. */
  #last = 0;

  /**
   * @param {object} parts
   * @param {import("./whep.js").Resource} parts.resource
   * @param {import("./carriage.js").Carriage} parts.carriage
   * @param {import("./control.js").Control} parts.control
   * @param {number} [parts.pinned] `jitterBufferTarget`, ms
   * @param {object} told
   * @param {(event: Record<string, any>) => void} told.onevent an event of the server, each once
   * @param {(state: State, message: string) => void} told.onstate
   */
  constructor({resource, carriage, control, pinned}, told) {
    [this.#resource, this.#carriage, this.#control, this.#pinned, this.#told] = [resource, carriage, control, pinned, told];
    this.current = this.#make();
    this.stream.addTrack(this.current.receiver.track);
  }

  /** The first of them: settles when it stands, rejects with a LegatoError where it does not come about. @param {Record<string, string | undefined>} query */
  async open(query) {
    try {
      await this.current.open(this.#resource, {query});
    } catch (error) {
      throw error instanceof LegatoError ? error : new LegatoError(NO_CONNECTION, 0);
    }
  }

  /** @param {string} message @param {boolean} [goodbye] whether the server does not know yet */
  end(message, goodbye = true) {
    if (this.state === "closed") return;
    this.#setState("closed", message);
    this.#rejoining?.end();
    // In this order: a server that saw the connection close would keep the speech of the listener that says goodbye.
    void Promise.resolve(goodbye && this.#resource.leave()).finally(() => this.current.close());
  }

  /** @returns {Connection} */
  #make() {
    const current = (/** @type {(connection: Connection) => void} */ then) => (/** @type {Connection} */ connection) => {
      if (connection === this.current) then(connection);
    };
    return new Connection(
      {
        onopen: (connection) => this.#adopt(connection),
        oncontrol: (_, data) => this.#onEvent(JSON.parse(data)),
        onspeech: (_, data) => this.#carriage.take(data),
        onspeechopen: (connection) => this.#adopt(connection) && this.#carriage.opened(),
        onspeechclose: current(() => this.#carriage.fall("The server ended the data track.")),
        onarrival: current(() => this.#onArrival()),
        onsilence: (connection, silent) => connection === this.current && this.#onSilence(silent),
        onstate: (connection) => this.#onConnection(connection),
        onend: current(() => this.#lose("The server ended the connection.")),
      },
      this.#carriage.playable,
      this.#pinned,
    );
  }

  /** It stands: everything goes over it. @param {Connection} connection */
  #adopt(connection) {
    if (this.state === "closed") return false;
    const before = this.current;
    this.current = connection;
    if (connection !== before) {
      this.stream.addTrack(connection.receiver.track);
      this.stream.removeTrack(before.receiver.track);
      before.close();
    }
    if (this.state !== "connected") {
      connection.feedback.watch();
      this.#carriage.connected();
      this.#setState("connected");
    }
    if (connection.control.readyState === "open") this.#control.use(connection.control, connection.pc.sctp?.maxMessageSize ?? 0);
    return true;
  }

  /** @param {Record<string, any>} event */
  #onEvent(event) {
    this.#control.heard(event.id);
    if (event.number <= this.#last) return;
    this.#last = event.number;
    this.#told.onevent(event);
  }

  #onArrival() {
    this.#control.heard();
    if (this.state !== "disconnected" && this.state !== "reconnecting") return;
    this.#rejoining?.end();
    this.#rejoining = null;
    this.#adopt(this.current);
  }

  /** @param {number} silent ms */
  #onSilence(silent) {
    if (this.state === "connected") this.#setState("disconnected", NOTHING_ARRIVES);
    if (silent > GIVEN_UP_MS) this.#lose("The connection was lost.");
  }

  /** @param {Connection} connection */
  #onConnection(connection) {
    const state = connection.pc.connectionState;
    if (state === "connected") this.#adopt(connection);
    else if (connection !== this.current) return;
    else if (state === "disconnected" && this.state === "connected") this.#setState("disconnected", NOTHING_ARRIVES);
    else if (state === "failed" || state === "closed") this.#lose("The connection was lost.");
  }

  /** Takes the speech over to another connection, until one stands or the server knows nothing of it any more. @param {string} why */
  #lose(why) {
    if (this.state === "closed" || this.#rejoining) return;
    if (this.state === "connecting" || !this.#resource.resumable) return this.end(why, this.state === "connecting");
    this.#control.hold();
    this.#setState("reconnecting", TRIES_AGAIN);
    void this.#resource.shake(PATIENCE_MS[0]);
    const rejoining = (this.#rejoining = new Rejoining({
      once: (signal, patience) => this.#rejoin(signal, patience),
      hopeless: ({status}) => status >= 400 && status < 500 && status !== 409 && status !== 429,
    }));
    rejoining.begin().then(
      () => this.#rejoining === rejoining && (this.#rejoining = null),
      () => this.end(why, false),
    );
  }

  /** @param {AbortSignal} signal @param {number} patience */
  async #rejoin(signal, patience) {
    const connection = this.#make();
    const query = {...this.#carriage.query, after: String(this.#last), player: this.#carriage.kept ? "kept" : "fresh"};
    try {
      await connection.open(this.#resource, {query, takeover: true, signal, patience});
      this.#adopt(connection);
    } catch (error) {
      if (connection !== this.current) connection.close();
      throw error;
    }
  }

  /** @param {State} state @param {string} [message] */
  #setState(state, message = "") {
    if (state === this.state) return;
    this.state = state;
    this.#told.onstate(state, message);
  }
}
