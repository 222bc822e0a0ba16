/**
 * The page: wires the controls to a listener and shows what it is told.
 *
 * Its address may carry `?text=…&voice=…&profile=…&play` (speaks at once, if the browser lets it), `&buffer=150` (pins the
 * receiver's buffer, ms) and `#token=…`.
 */

import {Charts} from "./charts.js";
import {EXAMPLES} from "./examples.js";
import {connect, request} from "./legato.js";
import {NetworkPanel} from "./network.js";
import {describe, explain} from "./plan.js";
import {Transcript} from "./words.js";

const POLL_MS = 250;
const address = new URLSearchParams(location.search);
let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
/** @type {import("./legato.js").Listener} */
let listener;
/** @type {{name: string, summary: string, tiers: string[]}[]} */
let voices = [];
/** @type {{name: string, summary: string}[]} */
let profiles = [];
let hasLab = false;
let poll = 0;

const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const transcript = new Transcript($("transcript"));
const charts = new Charts($("charts"));
const network = new NetworkPanel(
  {presets: $("presets"), sliders: $("sliders"), bothWays: $("both-ways")},
  async (changes) => {
    try {
      return await listener.network(changes);
    } catch (error) {
      complain(error);
      return listener.network();
    }
  },
);

/** Shows what went wrong, as a sentence. @param {any} error */
function complain(error) {
  $("problem-text").textContent = error.message;
  $("problem").hidden = false;
}

/** @param {() => Promise<unknown>} what */
async function attempt(what) {
  try {
    await what();
  } catch (error) {
    complain(error);
  }
}

/** Connects, or connects again. */
function join() {
  listener?.close();
  $("problem").hidden = true;
  const pinned = Number(address.get("buffer"));
  listener = connect({
    token,
    voice: $("voice").value || address.get("voice") || undefined,
    profile: $("profile").value || address.get("profile") || undefined,
    audio: $("audio"),
    jitterBufferTarget: pinned > 0 ? pinned : undefined,
  });
  listener.addEventListener("state", onState);
  listener.addEventListener("audible", onAudible);
  listener.addEventListener("event", (event) => {
    transcript.take(/** @type {CustomEvent} */ (event).detail);
    showControls();
  });
  listener.addEventListener("error", (event) => complain(/** @type {CustomEvent} */ (event).detail));
  const joined = listener;
  joined.connected.then(onConnected, (error) => {
    if (joined !== listener) return;
    if (error.status === 401) $("access").hidden = false;
    else complain(error);
  });
  showState("connecting", "");
}

/** @param {Event} event */
function onState(event) {
  if (event.target !== listener) return;
  const {state, message} = /** @type {CustomEvent} */ (event).detail;
  showState(state, message);
}

/** Where something silences the page while speech sounds (a phone call, for one), the speech waits. */
function onAudible() {
  if (listener.audible) release();
  else if (soundingState() === "sounding") listener.pause();
  showControls();
}

/** Says what was held back while the page was silent. */
function release() {
  for (const say of held.splice(0)) say();
}

/** @param {string} state @param {string} message */
function showState(state, message) {
  $("state").textContent = state === "closed" ? "not connected" : state;
  $("state").dataset.state = state;
  $("state").title = message;
  $("reconnect").hidden = state === "connecting" || state === "connected";
  if (state === "disconnected") complain({message});
  if (state === "connected") $("problem").hidden = true;
  if (state === "closed") {
    clearTimeout(poll);
    transcript.lose();
    $("network").hidden = true;
    if ($("access").hidden && $("problem").hidden) complain({message});
  }
  showControls();
}

async function onConnected() {
  const joined = listener;
  $("access").hidden = true;
  const command = `curl -X POST ${new URL(`v1/listen/${joined.id}/speak`, document.baseURI)}`;
  const bearer = token ? ` -H "Authorization: Bearer $TOKEN"` : "";
  $("curl").textContent = `${command}${bearer} -H "Content-Type: application/json" -d '{"say": "Hello from a shell."}'`;
  await attempt(showNetwork);
  await look(joined);
}

/** The lab answers 404 where the server runs without it. */
async function showNetwork() {
  try {
    network.show(await listener.network());
    hasLab = true;
  } catch (error) {
    if (/** @type {any} */ (error).status !== 404) throw error;
    hasLab = false;
  }
  $("network").hidden = !hasLab;
}

/**
 * Asks four times a second what the listener is, until it is closed.
 * @param {import("./legato.js").Listener} joined
 * @returns {Promise<void>}
 */
async function look(joined) {
  if (joined !== listener || joined.state === "closed") return;
  const begun = performance.now();
  try {
    const snapshot = await joined.snapshot();
    show(snapshot);
  } catch (error) {
    // While disconnected the server may be out of reach too; the state says so already.
    if (joined.state === "connected") complain(error);
  }
  poll = setTimeout(() => look(joined), Math.max(50, POLL_MS - (performance.now() - begun)));
}

/** @param {Record<string, any>} snapshot */
function show(snapshot) {
  const voice = voices.find(({name}) => name === snapshot.voice);
  if (!$("voice").value) select("voice", snapshot.voice);
  if (!$("profile").value) select("profile", snapshot.profile);
  charts.tiers = [...(snapshot.reports?.compute?.tiers ?? voice?.tiers ?? [])].reverse();
  charts.add({at: performance.now() / 1000, snapshot, capacity: hasLab ? network.capacity : null});
  if (snapshot.plan) {
    const strong = document.createElement("strong");
    strong.textContent = describe(snapshot.plan);
    $("plan").replaceChildren("Plan: ", strong, document.createElement("br"), `Reason: ${explain(snapshot.plan)}`);
  }
}

/** @returns {"sounding" | "paused" | undefined} */
function soundingState() {
  const states = transcript.active.map(({state}) => state);
  return states.includes("paused") ? "paused" : states.includes("sounding") ? "sounding" : undefined;
}

/** Buttons and the tap follow what is possible now. */
function showControls() {
  const active = transcript.active;
  $("pause").textContent = soundingState() === "paused" ? "Resume" : "Pause";
  $("pause").disabled = !soundingState();
  $("stop").disabled = !active.length;
  $("interrupt").disabled = !active.length;
  $("clear").disabled = !active.some(({state}) => state === "queued");
  $("tap").hidden = listener.audible !== false || listener.state === "closed" || !(held.length || active.length);
}

/** Texts that wait for a tap. @type {(() => void)[]} */
let held = [];

/** Speaks the text once the browser plays sound: speech that nobody hears would be lost. @param {boolean} interrupt */
async function speak(interrupt) {
  const text = $("text").value;
  if (!text.trim()) return complain({message: "There is no text to speak: write something first."});
  if (listener.state === "closed") join();
  const options = {voice: $("voice").value || undefined, profile: $("profile").value || undefined};
  const say = () => transcript.begin(interrupt ? listener.interrupt(text, options) : listener.say(text, options), text);
  if (await listener.play()) say();
  else held.push(say);
  showControls();
}

async function tap() {
  if (!(await listener.play())) return complain({message: "Your browser still refuses to play sound; allow it for this page."});
  release();
  if (soundingState() === "paused") listener.resume();
  showControls();
}

/** @param {"voice" | "profile"} what @param {string} name */
function select(what, name) {
  $(what).value = name;
  showHints();
}

function showHints() {
  for (const [what, list] of /** @type {const} */ ([["voice", voices], ["profile", profiles]])) {
    const chosen = list.find(({name}) => name === $(what).value);
    $(`${what}-hint`).textContent = chosen ? `${chosen.name}: ${chosen.summary.replace(/\.$/, "")}.` : "";
  }
}

async function fillChoices() {
  const headers = token ? {Authorization: `Bearer ${token}`} : undefined;
  const [ofVoices, ofProfiles] = await Promise.all(
    ["v1/voices", "v1/profiles"].map(async (path) => (await request(path, {headers})).json()),
  );
  [voices, profiles] = [ofVoices, ofProfiles];
  for (const [what, list] of /** @type {const} */ ([["voice", voices], ["profile", profiles]])) {
    const names = list.map(({name}) => name);
    $(what).replaceChildren(...names.map((name) => new Option(name)));
    select(what, names.includes(address.get(what) ?? "") ? address.get(what) ?? "" : "");
  }
}

function wire() {
  $("text").value = address.get("text") ?? EXAMPLES.Greeting;
  for (const [name, text] of Object.entries(EXAMPLES)) {
    const button = document.createElement("button");
    Object.assign(button, {type: "button", className: "chip", textContent: name});
    button.addEventListener("click", () => ($("text").value = text));
    $("examples").append(button);
  }
  $("play").addEventListener("click", () => attempt(() => speak(false)));
  $("interrupt").addEventListener("click", () => attempt(() => speak(true)));
  $("pause").addEventListener("click", () => ($("pause").textContent === "Pause" ? listener.pause() : listener.resume()));
  $("stop").addEventListener("click", () => listener.stop());
  $("clear").addEventListener("click", () => listener.clear());
  $("tap").addEventListener("click", () => attempt(tap));
  $("reconnect").addEventListener("click", join);
  $("problem-close").addEventListener("click", () => ($("problem").hidden = true));
  $("voice").addEventListener("change", showHints);
  $("profile").addEventListener("change", () => {
    showHints();
    // What is asked of the receiver is the listener's: a new connection takes it up, unless speech would be cut off.
    if (!transcript.active.length) join();
  });
  $("access").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    token = $("token").value;
    void begin();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void attempt(() => speak(false));
  });
  addEventListener("pagehide", () => listener?.close());
}

async function begin() {
  join();
  try {
    await fillChoices();
  } catch (error) {
    // Without its token the page asks for it, and begins again with it.
    if (/** @type {any} */ (error).status !== 401) complain(error);
    return;
  }
  if (address.has("play")) await attempt(() => speak(false));
}

wire();
void begin();
