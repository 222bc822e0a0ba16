// Put into a blank page: a player, what comes out of it sample by sample, and what it tells.
import {Player} from "/player.js";

const RECORDER = `
  registerProcessor("recorder", class extends AudioWorkletProcessor {
    process([[channel]]) {
      this.port.postMessage([currentFrame, channel ? channel.slice() : new Float32Array(128)]);
      return true;
    }
  });`;

const lab = (globalThis.lab = {acks: [], failures: [], quanta: []});
const bytes = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const text = (data) => {
  let binary = "";
  for (let i = 0; i < data.length; i += 32768) binary += String.fromCharCode(...data.subarray(i, i + 32768));
  return btoa(binary);
};

lab.player = new Player(
  (ack) => lab.acks.push([performance.now(), text(new Uint8Array(ack))]),
  (why) => lab.failures.push(why),
);

// Hands messages to the player; the frame its clock shows.
lab.take = (messages) => {
  const {currentTime} = lab.player.context;
  for (const message of messages) lab.player.take(bytes(message).buffer);
  return Math.round(currentTime * 48000);
};

// All that sounded since the last call: the frame it began with, and base64 of float32.
lab.heard = () => {
  const quanta = lab.quanta.splice(0);
  const samples = new Float32Array(quanta.length * 128);
  quanta.forEach(([, quantum], index) => samples.set(quantum, index * 128));
  return [quanta[0]?.[0] ?? 0, text(new Uint8Array(samples.buffer))];
};

// The frame that leaves the loudspeaker at a time of `performance.now()`.
lab.frameAt = (time) => {
  const {contextTime, performanceTime} = lab.player.context.getOutputTimestamp();
  return (contextTime + (time - performanceTime) / 1000) * 48000;
};

lab.ready = lab.player.ready.then(async () => {
  const {context, node} = lab.player;
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([RECORDER], {type: "text/javascript"})));
  const recorder = new AudioWorkletNode(context, "recorder", {numberOfOutputs: 0});
  recorder.port.onmessage = ({data}) => lab.quanta.push(data);
  node.connect(recorder);
});
