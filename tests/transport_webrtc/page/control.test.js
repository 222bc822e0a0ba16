import assert from "node:assert/strict";
import test from "node:test";

import {Control} from "../../../transport_webrtc/page/control.js";

function channel() {
  const sent = [];
  return {readyState: "open", sent, send: (/** @type {string} */ json) => sent.push(JSON.parse(json))};
}

function control(wanted = () => true) {
  return new Control({post: () => undefined, hurry: () => undefined, wanted});
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

test("over 40 % loss what is said arrives soon, and is not said again once it is answered", (context) => {
  context.mock.timers.enable({apis: ["setTimeout"]});
  let seed = 7;
  const lost = () => (seed = (seed * 48271) % 2147483647) / 2147483647 < 0.4;
  const waits = [];
  for (let number = 0; number < 200; number++) {
    let now = 0;
    let arrived = Infinity;
    let said = 0;
    const id = `${number}`;
    const arrive = () => {
      said++;
      if (lost()) return;
      arrived = Math.min(arrived, now);
      if (!lost()) one.heard(id);
    };
    const one = new Control({post: () => undefined, hurry: arrive, wanted: () => true});
    one.use(/** @type {any} */ ({readyState: "open", send: arrive}), 1000);
    one.send({id, say: "hello"});
    for (; now < 5000; context.mock.timers.tick(10)) now += 10;
    assert.ok(said <= 11);
    waits.push(Math.min(arrived, 5000));
    one.close();
  }
  waits.sort((a, b) => a - b);
  assert.ok(waits[179] <= 310, `nine of ten within ${waits[179]} ms`);
  assert.ok(waits[199] < 2000, `all within ${waits[199]} ms`);
});

test("a text that nobody could hear waits, and what is asked after it, but not the carrier", () => {
  let heard = false;
  const [one, first] = [control(() => heard), channel()];
  one.use(first, 1000);
  one.send({pause: true});
  one.send({id: "a", say: "hello"});
  one.send({stop: true});
  one.send({carrier: "audio"});
  assert.deepEqual(first.sent, [{pause: true}, {carrier: "audio"}]);
  heard = true;
  one.flush();
  assert.deepEqual(first.sent.slice(2), [{id: "a", say: "hello"}, {stop: true}]);
  one.close();
});
