import assert from "node:assert/strict";
import test from "node:test";

import {healthSentences} from "../../../../daemon/web/page/health_words.js";

const WELL = {links: {active: 4, init: 0, down: 0, cut: 0}, slow_count: 0,
              error_count: 0, managers: []};

test("a subnet that is well is said to be", () => {
  assert.deepEqual(healthSentences(WELL),
    ["All links are active and clean.",
     "No port says that a subnet manager is there."]);
});

test("all that is wrong is said, with its number", () => {
  const [sentence, managers] = healthSentences({
    links: {active: 0, init: 2, down: 1, cut: 1}, slow_count: 1,
    error_count: 3,
    managers: [{node: "a", port: 1, master: true},
               {node: "b", port: 2, master: false}]});
  assert.equal(sentence,
    "1 link is cut, 1 link is down, 2 links are up and not active, " +
    "1 link is slower than it could be, 3 ports count errors.");
  assert.equal(managers, "Subnet managers: a/1 (master), b/2.");
  assert.equal(healthSentences({...WELL, slow_count: 2})[0],
    "2 links are slower than they could be.");
});
