// Put into a page before its own scripts: records what comes out of the receiver of every peer connection and out of every
// player of speech sent ahead, together, and keeps what the server told and the connections, so that their statistics can be read.
(() => {
  const RATE = 48000;
  const RECORDER = `
    registerProcessor("ear", class extends AudioWorkletProcessor {
      constructor() {
        super();
        this.block = new Float32Array(${RATE / 10});
        this.filled = 0;
      }
      process([[channel]]) {
        for (let i = 0; i < 128; i++) {
          this.block[this.filled++] = channel ? channel[i] : 0;
          if (this.filled < this.block.length) continue;
          this.port.postMessage([currentFrame + i + 1, this.block.slice()]);
          this.filled = 0;
        }
        return true;
      }
    });`;
  const ear = (globalThis.ear = {blocks: [], connections: [], events: [], failure: null});

  const open = async () => {
    const context = (ear.context = new AudioContext({sampleRate: RATE, latencyHint: "interactive"}));
    await context.audioWorklet.addModule(URL.createObjectURL(new Blob([RECORDER], {type: "text/javascript"})));
    const recorder = new AudioWorkletNode(context, "ear", {numberOfOutputs: 1});
    // [frames of the context at the block's end, when it came, samples]
    recorder.port.onmessage = ({data: [end, samples]}) => ear.blocks.push([end, performance.now(), samples]);
    const mute = context.createGain();
    mute.gain.value = 0;
    recorder.connect(mute).connect(context.destination);
    // After 30 s of pure silence Chromium runs a context by a timer that slips when the machine is busy.
    const whisper = new ConstantSourceNode(context, {offset: 1e-6});
    whisper.connect(context.destination);
    whisper.start();
    addEventListener("click", () => context.resume(), true);
    return recorder;
  };

  ear.attach = async (stream) => {
    const recorder = await (ear.recorder ??= open());
    ear.context.createMediaStreamSource(stream).connect(recorder);
  };

  const listen = (stream) => ear.attach(stream).catch((error) => (ear.failure = String(error)));

  // Clears the recording: what follows is one run.
  ear.begin = () => ear.blocks.splice(0);

  // The recording as base64 of float32, when its first sample came (`performance.now()`), and how much faster than the
  // wall clock it ran: between the promptest block of the first third and that of the last, so that late messages do
  // not count.
  ear.end = () => {
    const blocks = ear.blocks.splice(0);
    const third = Math.ceil(blocks.length / 3);
    const promptest = (part) => part.reduce((best, block) => (lag(block) < lag(best) ? block : best), part[0]);
    const lag = ([end, at]) => at - (end / RATE) * 1000;
    const [first, last] = [promptest(blocks.slice(0, third)), promptest(blocks.slice(-third))];
    const slip = blocks.length < 6 ? null : (((last[0] - first[0]) / RATE) * 1000) / (last[1] - first[1]) - 1;
    const bytes = new Uint8Array(blocks.reduce((sum, [, , samples]) => sum + samples.byteLength, 0));
    let offset = 0;
    for (const [, , samples] of blocks) {
      bytes.set(new Uint8Array(samples.buffer), offset);
      offset += samples.byteLength;
    }
    let binary = "";
    for (let i = 0; i < bytes.length; i += 32768) binary += String.fromCharCode(...bytes.subarray(i, i + 32768));
    const begun = blocks.length ? ((blocks[0][0] - blocks[0][2].length) / RATE) * 1000 + lag(promptest(blocks)) : null;
    return {slip, begun, samples: btoa(binary), failure: ear.failure};
  };

  // Counters of the newest connection's receiver.
  ear.stats = async () => {
    for (const entry of (await ear.connections.at(-1).getStats()).values()) {
      if (entry.type === "inbound-rtp" && entry.kind === "audio") return entry;
    }
    return null;
  };

  const destination = AudioContext.prototype.createMediaStreamDestination;
  AudioContext.prototype.createMediaStreamDestination = function () {
    const node = destination.call(this);
    listen(node.stream);
    return node;
  };

  const Native = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Native {
    constructor(...given) {
      super(...given);
      ear.connections.push(this);
      this.addEventListener("track", ({track}) => {
        if (track.kind === "audio") listen(new MediaStream([track]));
      });
    }
    createDataChannel(label, options) {
      const channel = super.createDataChannel(label, options);
      if (label === "control") channel.addEventListener("message", ({data}) => ear.events.push(JSON.parse(data)));
      return channel;
    }
  };
})();
