import assert from "node:assert/strict";
import test from "node:test";

import {Control} from "../../../transport_webrtc/page/control.js";

function channel() {
  const sent = [];
  return {readyState: "open", sent, send: (/** @type {string} */ json) => sent.push(JSON.parse(json))};
}

function control() {
  return new Control({post: () => undefined, hurry: () => undefined});
}

test("what is asked before there is a channel waits for one", () => {
  const [one, first] = [control(), channel()];
  one.send({id: "a", say: "hello"});
  one.use(first, 1000);
  one.send({stop: true});
  assert.deepEqual(first.sent, [{id: "a", say: "hello"}, {stop: true}]);
  one.close();
});

test("what a dead connection swallowed goes again over the next, once and in order", () => {
  const [one, first, second] = [control(), channel(), channel()];
  one.use(first, 1000);
  one.send({id: "a", say: "known"});
  one.heard("a");
  one.send({id: "b", say: "lost"});
  one.send({pause: true});
  one.hold();
  one.send({resume: true});
  assert.equal(first.sent.length, 3);
  one.use(second, 1000);
  assert.deepEqual(second.sent, [{id: "b", say: "lost"}, {pause: true}, {resume: true}]);
  one.close();
});

test("what came after the server was heard is not asked again, but for a text that it never answered", () => {
  const [one, first, second] = [control(), channel(), channel()];
  one.use(first, 1000);
  one.send({id: "a", say: "unanswered"});
  one.send({stop: true});
  one.heard();
  one.use(second, 1000);
  assert.deepEqual(second.sent, [{id: "a", say: "unanswered"}]);
  one.close();
});
