import assert from "node:assert/strict";
import test from "node:test";

import {begins, locate, nearest} from "../../../transport_webrtc/page/locating.js";

const TEXT = "Room, and every lamp on board swung to the same side. Below a door was knocking, and then somebody shut a door.";
const words = (/** @type {string} */ text) => text.split(" ").map((word, index) => ({text: word, start: index, end: index + 1}));
const said = (/** @type {string} */ text, /** @type {({from: number, to: number} | null)[]} */ places) =>
  places.map((place) => place && text.slice(place.from, place.to));

test("a word stands where it is a word, not within another", () => {
  assert.equal(nearest(TEXT, "a", TEXT.indexOf("every"), 4)?.from, TEXT.indexOf("a door was"));
  assert.equal(nearest("They oughtn't", "ought", 0, 1), null);
});

test("where there are no spaces a word may touch another", () => {
  assert.deepEqual(said("这个很不错", locate("这个很不错", words("这个 不错"), 0)), ["这个", "不错"]);
});

test("what the text spells differently stands nowhere, and what follows it does", () => {
  assert.deepEqual(said("At 12 we go", locate("At 12 we go", words("at twelve we go"), 0)), ["At", null, "we", "go"]);
});

test("words before which others were left out are known by those that follow them", () => {
  const clause = words("a door was knocking and");
  assert.equal(begins(TEXT, clause, TEXT.indexOf(" every"), 4), TEXT.indexOf("a door was"));
  assert.equal(begins(TEXT, words("below a door was"), TEXT.indexOf(" Below"), 0.5), TEXT.indexOf("Below"));
  assert.equal(begins(TEXT, words("sub a door was"), TEXT.indexOf(" Below"), 0.5), TEXT.indexOf("a door was"));
  assert.equal(begins(TEXT, words("nothing of it"), 5, 0.5), 5);
});

test("of several places the one counts that is as far away as people speak meanwhile", () => {
  assert.equal(nearest(TEXT, "door", TEXT.indexOf("Below"), 1)?.from, TEXT.indexOf("door was"));
  assert.equal(nearest(TEXT, "door", TEXT.indexOf("Below"), 4)?.from, TEXT.indexOf("door."));
});
