import assert from "node:assert/strict";
import test from "node:test";

import {Rejoining} from "../../../transport_webrtc/page/rejoining.js";

const hopeless = (/** @type {any} */ {status}) => status === 404;
const refused = (/** @type {number} */ status) => Object.assign(new Error("refused"), {status});

test("it tries until it succeeds, and lets a server have more time after each attempt", async () => {
  const patiences = [];
  const rejoining = new Rejoining({
    once: async (_, patience) => {
      if (patiences.push(patience) < 3) throw refused(0);
    },
    hopeless,
  });
  await rejoining.begin();
  assert.deepEqual(patiences, [1000, 1500, 2000]);
});

test("it stops where the server knows of nothing", async () => {
  let attempts = 0;
  const rejoining = new Rejoining({
    once: async () => {
      attempts++;
      throw refused(404);
    },
    hopeless,
  });
  await assert.rejects(rejoining.begin(), {status: 404});
  assert.equal(attempts, 1);
});

test("the network's return ends a pause, and a new attempt", async () => {
  let attempts = 0;
  const rejoining = new Rejoining({
    once: async () => {
      if (++attempts < 4) throw refused(0);
    },
    hopeless,
  });
  const begun = performance.now();
  const done = rejoining.begin();
  const hurry = setInterval(() => rejoining.hurry(), 5);
  await done;
  clearInterval(hurry);
  assert.ok(performance.now() - begun < 300, "it waited for its pauses");
});

test("once ended it tries no more", async () => {
  let aborted = false;
  const rejoining = new Rejoining({
    once: (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(refused(0));
        }),
      ),
    hopeless,
  });
  const done = rejoining.begin();
  rejoining.end();
  await done;
  assert.ok(aborted);
});
