import assert from "node:assert/strict";
import test, {mock} from "node:test";

import {Repeats} from "../../../transport_webrtc/page/repeats.js";

test("what is not answered goes again, the first time soon, and no more once it is answered", () => {
  mock.timers.enable({apis: ["setTimeout"]});
  const sent = [];
  const repeats = new Repeats((json) => sent.push(JSON.parse(json)));
  repeats.begin({id: "a", say: "hello"});
  mock.timers.tick(30);
  assert.deepEqual(sent, [{say: {id: "a", say: "hello"}}]);
  mock.timers.tick(149);
  assert.equal(sent.length, 1);
  mock.timers.tick(1);
  assert.equal(sent.length, 2);
  repeats.answered("a");
  mock.timers.tick(1000);
  assert.equal(sent.length, 2);
  mock.timers.reset();
});

test("a text that is still open and one that is too long are left to the reliable channel", () => {
  mock.timers.enable({apis: ["setTimeout"]});
  const sent = [];
  const repeats = new Repeats((json) => sent.push(json));
  repeats.begin({id: "a", say: "and", more: true});
  repeats.begin({id: "b", say: "x".repeat(1001)});
  mock.timers.tick(1000);
  assert.deepEqual(sent, []);
  repeats.close();
  mock.timers.reset();
});
