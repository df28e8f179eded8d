import assert from "node:assert/strict";
import test from "node:test";

import {healthSentences} from "../../../../daemon/web/page/health_words.js";

test("a subnet that is well is said to be", () => {
  assert.deepEqual(healthSentences({wrong: [], managers: []}),
    ["All links are active and clean.",
     "No port says that a subnet manager is there."]);
});

test("all that is wrong is said in a sentence, and who manages the subnet", () => {
  assert.deepEqual(healthSentences({
    wrong: ["1 link is cut", "3 ports count errors"],
    managers: [{node: "a", port: 1, master: true},
               {node: "b", port: 2, master: false}]}),
    ["1 link is cut, 3 ports count errors.",
     "Subnet managers: a/1 (master), b/2."]);
});

test("when a manager swept is said with it, not how long ago", () => {
  const of = (sweep) => healthSentences({wrong: [], managers: [
    {node: "a", port: 1, master: true, sweep}]})[1];
  assert.equal(of({under_way: true, seconds: 1.2, ago: 0, gets: 5, sets: 0}),
    "Subnet managers: a/1 (master, sweeping).");
  const ended = {under_way: false, seconds: 0.42, gets: 1000, sets: 243};
  for (const ago of [3, 30]) {
    assert.equal(of({...ended, ago}), "Subnet managers: a/1 (master, " +
      "last sweep took 0.4 s: 1243 SMPs, 243 of them Set).");
  }
  assert.equal(of({under_way: false, seconds: 0, ago: 9, gets: 0, sets: 0}),
    "Subnet managers: a/1 (master, last sweep took 0.0 s).", "the built-in one");
});
