import assert from "node:assert/strict";
import test from "node:test";

import {agoText, historyCsv, historyWords, pointsOf} from
  "../../../../daemon/web/page/history_words.js";

const HISTORY = {every_ms: 5000, looks: 3, samples: [[2, 10, 20], [0, 1500, 0]]};

test("what was not told was zero", () => {
  assert.deepEqual(pointsOf(HISTORY),
    [{seconds: -10, sent: 10, received: 20},
     {seconds: -5, sent: 0, received: 0},
     {seconds: 0, sent: 1500, received: 0}]);
  assert.deepEqual(pointsOf({every_ms: 5000, looks: 0, samples: []}), []);
});

test("the greatest load is said", () => {
  assert.equal(historyWords(pointsOf(HISTORY)),
    "In the last minute at most 1.5 kB/s sent, 20 B/s received.");
  assert.match(historyWords(pointsOf({...HISTORY, looks: 361})),
               /^In 30 minutes at most /);
  assert.equal(historyWords([]), "Nothing is known yet.");
});

test("times are told in seconds or minutes", () => {
  assert.equal(agoText(0), "now");
  assert.equal(agoText(-45), "45 s ago");
  assert.equal(agoText(-210), "3.5 min ago");
});

test("each point is a line of the file", () => {
  assert.equal(historyCsv(pointsOf(HISTORY)),
    "seconds,sent_bytes_per_second,received_bytes_per_second\n" +
    "-10,10,20\n-5,0,0\n0,1500,0\n");
});
