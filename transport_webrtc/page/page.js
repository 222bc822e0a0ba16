/**
 * The page: wires the controls to a listener and shows what it is told.
 *
 * Its address may carry `?text=…&voice=…&profile=…&play` (speaks at once, if the browser lets it), `&carrier=audio`,
 * `&buffer=150` (pins the receiver's buffer, ms) and `#token=…`.
 */

import {Charts} from "./charts.js";
import {Choices} from "./choices.js";
import {offerExamples} from "./examples.js";
import {connect, request} from "./legato.js";
import {NetworkPanel} from "./network.js";
import {showPlan} from "./plan.js";
import {Transcript} from "./words.js";

const POLL_MS = 250;
/** Between questions that stay without an answer, ms; the last again and again. */
const RETRY_MS = [1000, 2000];
/** A server that ended the connection may still answer while it stops: asked after so long, ms. */
const PROBE_MS = [100, 1000, 2000, 2000];
const UNREACHABLE = "The server cannot be reached: is legato serve running?";
const address = new URLSearchParams(location.search);
let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
/** @type {import("./legato.js").Listener} */
let listener;
/** Whether the server answered last time. */
let reachable = true;
let hasLab = false;
let poll = 0;

const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const transcript = new Transcript($("transcript"));
const charts = new Charts($("charts"));
const network = new NetworkPanel({presets: $("presets"), sliders: $("sliders"), bothWays: $("both-ways")}, (changes) =>
  listener.network(changes).catch(complain),
);
const choices = new Choices(
  {voice: {list: $("voice"), hint: $("voice-hint")}, profile: {list: $("profile"), hint: $("profile-hint")}},
  address,
  {busy: () => transcript.active.length > 0, rejoin: join},
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
  const left = listener;
  // What the old one says of its end concerns nobody any more.
  listener = /** @type {any} */ (undefined);
  left?.close();
  transcript.lose();
  clearTimeout(poll);
  reachable = true;
  choices.pending = false;
  $("problem").hidden = true;
  const pinned = Number(address.get("buffer"));
  listener = connect({
    token,
    voice: choices.asked("voice"),
    profile: choices.asked("profile"),
    carrier: /** @type {any} */ (address.get("carrier") ?? undefined),
    audio: $("audio"),
    jitterBufferTarget: pinned > 0 ? pinned : undefined,
  });
  listener.addEventListener("state", onState);
  listener.addEventListener("audible", onAudible);
  const joined = listener;
  listener.addEventListener("event", (event) => {
    if (joined !== listener) return;
    transcript.take(/** @type {CustomEvent} */ (event).detail);
    showControls();
    if (transcript.active.length) return;
    choices.settle();
    if (choices.pending) join();
  });
  listener.addEventListener("error", (event) => complain(/** @type {CustomEvent} */ (event).detail));
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
function onAudible(/** @type {Event} */ event) {
  if (event.target !== listener) return;
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
  const [up, tries] = [state === "connecting" || state === "connected", state === "reconnecting"];
  const shown = reachable || tries;
  $("state").textContent = state === "closed" ? "not connected" : shown ? state : "server unreachable";
  $("state").dataset.state = shown || !up ? state : "disconnected";
  $("state").title = message;
  $("reconnect").hidden = tries || (reachable && up);
  document.body.classList.toggle("stale", !reachable || state !== "connected");
  // Without a listener there is no network to change; what was chosen waits for the next one.
  $("network").inert = !reachable || state === "closed" || state === "connecting";
  if (!shown) complain({message: UNREACHABLE});
  else if (state === "disconnected" || tries) complain({message});
  else if (state === "connected") $("problem").hidden = true;
  if (state === "closed") {
    clearTimeout(poll);
    transcript.lose();
    if ($("access").hidden && $("problem").hidden) complain({message});
    void probe(listener);
  }
  showControls();
}

/** @param {boolean} now */
function setReachable(now) {
  if (now === reachable) return;
  reachable = now;
  showState(listener.state, now ? "" : UNREACHABLE);
}

/** After the end of a connection: did the server end with it? @param {import("./legato.js").Listener} ended */
async function probe(ended) {
  for (const pause of PROBE_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (ended !== listener || !reachable) return;
    try {
      await request("healthz");
    } catch (error) {
      if (ended === listener && /** @type {any} */ (error).status === 0) setReachable(false);
    }
  }
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

/** A new connection begins with a clean network; what was chosen holds on. The lab answers 404 where there is none. */
async function showNetwork() {
  try {
    network.show(await listener.network(network.chosen));
    hasLab = true;
  } catch (error) {
    if (/** @type {any} */ (error).status !== 404) throw error;
    hasLab = false;
  }
  $("network").hidden = !hasLab;
}

/**
 * Asks four times a second what the listener is, until it is closed; seldom where the server does not answer.
 * @param {import("./legato.js").Listener} joined
 * @param {number} [failures] in a row
 * @returns {Promise<void>}
 */
async function look(joined, failures = 0) {
  if (joined !== listener || joined.state === "closed") return;
  const begun = performance.now();
  let pause = POLL_MS;
  try {
    const snapshot = await joined.snapshot();
    if (joined !== listener) return;
    failures = 0;
    setReachable(true);
    if (joined.state !== "closed") show(snapshot);
  } catch (error) {
    if (joined !== listener || joined.state === "closed") return;
    pause = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)];
    const {status} = /** @type {any} */ (error);
    setReachable(status !== 0);
    // While disconnected the state says it already.
    if (status !== 0 && joined.state === "connected") complain(error);
  }
  poll = setTimeout(() => look(joined, failures), Math.max(50, pause - (performance.now() - begun)));
}

/** @param {Record<string, any>} snapshot */
function show(snapshot) {
  choices.show(snapshot);
  charts.tiers = [...(snapshot.reports?.compute?.tiers ?? choices.tiers(snapshot.voice))].reverse();
  charts.add({at: performance.now() / 1000, snapshot, capacity: hasLab ? network.capacity : null});
  if (snapshot.plan) showPlan($("plan"), $("reason"), snapshot, listener);
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
  $("said").hidden = !$("transcript").childElementCount;
  $("tap").hidden = listener.audible !== false || listener.state === "closed" || !(held.length || active.length);
}

/** Texts that wait for a tap. @type {(() => void)[]} */
let held = [];

/** Speaks the text once the browser plays sound: speech that nobody hears would be lost. @param {boolean} interrupt */
async function speak(interrupt) {
  const text = $("text").value;
  if (!text.trim()) return complain({message: "There is no text to speak: write something first."});
  if (listener.state === "closed") join();
  const options = {voice: choices.chosen("voice"), profile: choices.chosen("profile")};
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

function wire() {
  offerExamples($("examples"), $("text"), address.get("text"));
  $("fine").open = matchMedia("(min-width: 62rem)").matches;
  $("play").addEventListener("click", () => attempt(() => speak(false)));
  $("interrupt").addEventListener("click", () => attempt(() => speak(true)));
  $("pause").addEventListener("click", () => ($("pause").textContent === "Pause" ? listener.pause() : listener.resume()));
  $("stop").addEventListener("click", () => listener.stop());
  $("clear").addEventListener("click", () => listener.clear());
  $("tap").addEventListener("click", () => attempt(tap));
  $("reconnect").addEventListener("click", join);
  $("problem-close").addEventListener("click", () => ($("problem").hidden = true));
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
    await choices.fill(token);
  } catch (error) {
    // Without its token the page asks for it, and begins again with it.
    if (/** @type {any} */ (error).status !== 401) complain(error);
    return;
  }
  if (address.has("play")) await attempt(() => speak(false));
}

wire();
void begin();
