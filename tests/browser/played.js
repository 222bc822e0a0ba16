// Put into a page before its own scripts: keeps what the player of the data track renders, sample by sample in frames of its
// own context, when each of those frames leaves the loudspeaker, and when each message of the `speech` channel arrived.
(() => {
  const RATE = 48000;
  const RECORDER = `
    registerProcessor("played", class extends AudioWorkletProcessor {
      constructor() {
        super();
        this.block = new Float32Array(${RATE / 20});
        this.filled = 0;
      }
      process([[channel]]) {
        for (let i = 0; i < 128; i++) {
          this.block[this.filled++] = channel ? channel[i] : 0;
          if (this.filled < this.block.length) continue;
          this.port.postMessage([currentFrame + i + 1 - this.filled, this.block.slice()]);
          this.filled = 0;
        }
        return true;
      }
    });`;
  const played = (globalThis.played = {context: null, blocks: [], clock: [], messages: []});

  const attach = async (player) => {
    const {context} = player;
    await context.audioWorklet.addModule(URL.createObjectURL(new Blob([RECORDER], {type: "text/javascript"})));
    const recorder = new Node(context, "played", {numberOfOutputs: 0});
    recorder.port.onmessage = ({data}) => {
      played.blocks.push(data);
      const {contextTime, performanceTime} = context.getOutputTimestamp();
      played.clock.push([contextTime * RATE, performanceTime]);
    };
    player.connect(recorder);
    played.context = context;
  };

  // All that was kept since the last call: the first frame, base64 of float32, [frame, ms] of the loudspeaker.
  played.take = () => {
    const blocks = played.blocks.splice(0);
    const bytes = new Uint8Array(blocks.reduce((sum, [, samples]) => sum + samples.byteLength, 0));
    let offset = 0;
    for (const [, samples] of blocks) {
      bytes.set(new Uint8Array(samples.buffer), offset);
      offset += samples.byteLength;
    }
    let binary = "";
    for (let i = 0; i < bytes.length; i += 32768) binary += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return {begin: blocks[0]?.[0] ?? 0, samples: btoa(binary), clock: played.clock.splice(0)};
  };

  const Node = globalThis.AudioWorkletNode;
  globalThis.AudioWorkletNode = class extends Node {
    constructor(context, name, options) {
      super(context, name, options);
      if (name === "legato-player") void attach(this);
    }
  };

  const create = RTCPeerConnection.prototype.createDataChannel;
  RTCPeerConnection.prototype.createDataChannel = function (label, options) {
    const channel = create.call(this, label, options);
    if (label !== "speech") return channel;
    channel.addEventListener("message", ({data}) => {
      const view = new DataView(data);
      const frame = Math.round(played.context.currentTime * RATE);
      played.messages.push({at: performance.now(), frame, flush: (view.getUint8(0) & 15) === 2, epoch: view.getUint16(2, true)});
    });
    return channel;
  };
})();
