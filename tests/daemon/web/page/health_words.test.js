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
