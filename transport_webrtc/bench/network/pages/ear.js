// Put into a page before its own scripts: records what comes out of the receiver, and reads its counters four times a
// second. Times are milliseconds since 1970, by the browser's monotonic clock.
(() => {
  const RATE = 48000;
  const BLOCK = RATE / 10;
  const TICK_MS = 250;
  const RECORDER = `
    registerProcessor("ear", class extends AudioWorkletProcessor {
      constructor() {
        super();
        this.block = new Float32Array(${BLOCK});
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
  const COUNTERS = [
    "packetsReceived", "packetsLost", "packetsDiscarded", "bytesReceived", "jitter", "jitterBufferDelay",
    "jitterBufferTargetDelay", "jitterBufferMinimumDelay", "jitterBufferEmittedCount", "concealedSamples",
    "silentConcealedSamples", "concealmentEvents", "insertedSamplesForDeceleration", "removedSamplesForAcceleration",
    "fecPacketsReceived", "nackCount", "retransmittedPacketsReceived", "totalSamplesReceived",
  ];
  const now = () => performance.timeOrigin + performance.now();
  const ear = (globalThis.ear = {blocks: [], ticks: [], connections: [], failure: null, now});

  ear.attach = async (connection, {track, receiver}) => {
    if (ear.target !== undefined) receiver.jitterBufferTarget = ear.target;
    const stream = new MediaStream([track]);
    if (ear.plays) {
      // Chromium hands nothing to Web Audio unless an element plays the stream, too.
      ear.audio = new Audio();
      ear.audio.srcObject = stream;
      void ear.audio.play();
    }
    await ear.record(stream);
    setInterval(() => ear.tick(connection).catch((error) => (ear.failure = String(error))), TICK_MS);
  };

  // Records this stream from now on, in place of the one before.
  ear.record = async (stream) => {
    ear.recorder ??= ear.open();
    const recorder = await ear.recorder;
    ear.source?.disconnect();
    ear.source = ear.context.createMediaStreamSource(stream);
    ear.source.connect(recorder);
  };

  ear.open = async () => {
    const context = (ear.context = new AudioContext({sampleRate: RATE, latencyHint: "interactive"}));
    await context.audioWorklet.addModule(URL.createObjectURL(new Blob([RECORDER], {type: "text/javascript"})));
    const recorder = new AudioWorkletNode(context, "ear", {numberOfOutputs: 1});
    // [frames of the context at the block's end, when it came, samples]
    recorder.port.onmessage = ({data: [end, samples]}) => ear.blocks.push([end, now(), samples]);
    const mute = context.createGain();
    mute.gain.value = 0;
    recorder.connect(mute).connect(context.destination);
    return recorder;
  };

  ear.tick = async (connection) => {
    const tick = {at: now()};
    for (const entry of (await connection.getStats()).values()) {
      if (entry.type === "inbound-rtp" && entry.kind === "audio") {
        for (const name of COUNTERS) if (name in entry) tick[name] = entry[name];
        tick.codec = entry.codecId;
      }
      if (entry.type === "candidate-pair" && entry.nominated) tick.roundTripTime = entry.currentRoundTripTime;
    }
    // A page that plays by itself counts by itself; how long that sound lay in a buffer is no delay, as it came ahead of its time.
    const player = await ear.player?.();
    if (player) {
      tick.concealedSamples = player.concealed_ticks;
      tick.totalSamplesReceived = player.played + player.concealed_ticks;
      for (const name of ["jitterBufferDelay", "jitterBufferEmittedCount", "silentConcealedSamples"]) delete tick[name];
    }
    ear.ticks.push(tick);
  };

  // Whether the last so many seconds were silent.
  ear.quiet = (seconds) =>
    ear.blocks.slice(-Math.ceil((seconds * RATE) / BLOCK)).every(([, , samples]) => samples.every((s) => Math.abs(s) < 0.005));

  // The recording as base64 of float32, with the end and the arrival of every block.
  ear.end = () => {
    const blocks = ear.blocks.splice(0);
    const bytes = new Uint8Array(blocks.length * BLOCK * 4);
    blocks.forEach(([, , samples], index) => bytes.set(new Uint8Array(samples.buffer), index * BLOCK * 4));
    let binary = "";
    for (let i = 0; i < bytes.length; i += 32768) binary += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return {
      samples: btoa(binary),
      ends: blocks.map(([end]) => end),
      arrivals: blocks.map(([, at]) => at),
      ticks: ear.ticks,
      failure: ear.failure,
    };
  };

  const Native = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Native {
    constructor(...given) {
      super(...given);
      ear.connections.push(this);
      this.addEventListener("track", (event) => {
        if (event.track.kind === "audio") ear.attach(this, event).catch((error) => (ear.failure = String(error)));
      });
    }
  };
})();
