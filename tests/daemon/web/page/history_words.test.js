import assert from "node:assert/strict";
import test from "node:test";

import {agoText, historyCsv, historyWords, pointsOf} from
  "../../../../daemon/web/page/history_words.js";

const HISTORY = {every_ms: 5000, looks: 3, samples: [
  [2, 10, 20, 1, 0.4, 0], [0, 1500, 0, 1234, 0, 3]]};
const NOTHING = {sent: 0, received: 0, sentPackets: 0, receivedPackets: 0,
                 errors: 0};

test("what was not told was zero", () => {
  assert.deepEqual(pointsOf(HISTORY),
    [{seconds: -10, sent: 10, received: 20, sentPackets: 1,
      receivedPackets: 0.4,
      errors: 0},
     {seconds: -5, ...NOTHING},
     {seconds: 0, ...NOTHING, sent: 1500, sentPackets: 1234, errors: 3}]);
  assert.deepEqual(pointsOf({every_ms: 5000, looks: 0, samples: []}), []);
});

test("the greatest load is said", () => {
  assert.equal(historyWords(pointsOf(HISTORY)),
    "In the last minute at most 1.5 kB/s sent, 20 B/s received.");
  assert.match(historyWords(pointsOf({...HISTORY, looks: 361})),
               /^In 30 minutes at most /);
  assert.equal(historyWords([]), "Nothing is known yet.");
});

test("packets have a greatest rate, errors a sum", () => {
  assert.equal(historyWords(pointsOf(HISTORY), "packets"),
    "In the last minute at most 1,234 packets/s sent, 0.4 packets/s received.");
  assert.equal(historyWords(pointsOf(HISTORY), "errors"),
    "In the last minute 3 errors.");
});

test("times are told in seconds or minutes", () => {
  assert.equal(agoText(0), "now");
  assert.equal(agoText(-45), "45 s ago");
  assert.equal(agoText(-210), "3.5 min ago");
});

test("each point is a line of the file", () => {
  assert.equal(historyCsv(pointsOf(HISTORY)),
    "seconds,sent_bytes_per_second,received_bytes_per_second," +
    "sent_packets_per_second,received_packets_per_second,errors\n" +
    "-10,10,20,1,0,0\n-5,0,0,0,0,0\n0,1500,0,1234,0,3\n");
});
