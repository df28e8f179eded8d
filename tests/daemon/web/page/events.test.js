import assert from "node:assert/strict";
import test from "node:test";

import {eventText} from "../../../../daemon/web/page/events.js";

const end = (node, port) => ({node, port});

test("each event is one sentence", () => {
  const sentences = [
    [{event: "link", a: end("sw1", 1), b: end("sw2", 3), state: "down"},
     "link sw1/1 – sw2/3 down"],
    [{event: "port", node: "host", port: 1, state: "active", lid: 4},
     "port host/1 active, LID 4"],
    [{event: "sm", node: "host", port: 1, is_sm: true},
     "host/1 is an SM"],
    [{event: "sm", node: "host", port: 1, is_sm: false},
     "host/1 is no longer an SM"],
    [{event: "node", node: "sw1", state: "off"}, "node sw1 off"],
    [{event: "device", node: "host", state: "removed"},
     "adapter of host removed"],
    [{event: "trap", trap: 128, node: "sw1", port: 0}, "trap 128 from sw1/0"],
    [{event: "fault", name: "f", place: "sw1/1", state: "added",
      what: "loss 1%"}, "fault f at sw1/1 added: loss 1%"],
  ];
  for (const [event, sentence] of sentences) {
    assert.equal(eventText(event), sentence);
  }
});

test("an event of a later daemon is told as it is", () => {
  assert.equal(eventText({event: "new", time_ns: 1, wall: "now", more: 2}),
               "new {\"more\":2}");
});
