/** The end of the player that runs on the thread of the sound card: renders the buffer and tells where it is. */

import {PlayBuffer} from "./playbuffer.js";

/** Its status is told so often while anything is there, and while nothing is, frames: 10 and 100 ms. */
const BUSY = 480;
const IDLE = 4800;

class PlayerWorklet extends AudioWorkletProcessor {
  #buffer = new PlayBuffer();
  #latency = 0;
  /** Flushes so far: a status older than a flush is recognised by it. */
  #flushes = 0;
  #told = -IDLE;
  #state = "";
  #open = true;

  constructor() {
    super();
    this.port.onmessage = ({data}) => this.#take(data);
  }

  /** @param {Float32Array[][]} _ @param {Float32Array[][]} outputs */
  process(_, [[out]]) {
    this.#buffer.render(out, currentFrame);
    this.#tell(currentFrame + out.length);
    return this.#open;
  }

  /** @param {Record<string, any>} message one of `block`, `hold`, `latency`, `flush`, `close` */
  #take({block, hold, latency, flush, close}) {
    if (block) this.#buffer.add(block);
    if (hold) this.#buffer.hold(hold.utterance, hold.frame);
    if (latency !== undefined) this.#latency = latency;
    if (close) this.#open = false;
    if (!flush) return;
    this.#buffer.flush(currentFrame);
    this.#flushes++;
    this.#state = "";
  }

  /** @param {number} frame */
  #tell(frame) {
    const status = this.#buffer.status(frame, this.#latency);
    const period = status.state === "empty" ? IDLE : BUSY;
    if (status.state === this.#state && frame - this.#told < period) return;
    this.#state = status.state;
    this.#told = frame;
    this.port.postMessage({...status, frame, flushes: this.#flushes});
  }
}

registerProcessor("legato-player", PlayerWorklet);
