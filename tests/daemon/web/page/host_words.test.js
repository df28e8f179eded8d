import assert from "node:assert/strict";
import test from "node:test";

import {queuePairText, reasons} from
  "../../../../daemon/web/page/host_words.js";

test("a queue pair tells its peer and its process where it has one", () => {
  const qp = {qpn: 18, type: "RC", state: "RTS", pid: 4711,
              peer: {lid: 3, qpn: 19, node: "node-2"}};
  assert.equal(queuePairText(qp), "0x12 RC, RTS – node-2 0x13, process 4711");
  qp.peer.node = null;
  assert.equal(queuePairText(qp), "0x12 RC, RTS – LID 3 0x13, process 4711");
  assert.equal(queuePairText({...qp, peer: null, pid: null}), "0x12 RC, RTS");
});

test("what failed is told of queue pairs, MADs and connections, in this order",
     () => {
  const end = (node, address) => ({node, address, port: 7174});
  const failure = {event: "connection", from: end("a", "10.0.0.1"),
                   to: end("b", "10.0.0.2"), space: "RDMA_PS_TCP",
                   state: "rejected", by: "to", why: "nobody listens",
                   reason: 8};
  assert.deepEqual(
    reasons({queue_pairs: [{why: null}, {why: "RETRY_EXC_ERR"}],
             mads: [{why: "SM Get(NodeInfo): no answer"}]},
            {failures: [failure]}),
    ["RETRY_EXC_ERR", "SM Get(NodeInfo): no answer",
     "connection a 10.0.0.1:7174 → b 10.0.0.2:7174 RDMA_PS_TCP rejected by b: "
     + "nobody listens (8)"]);
  assert.deepEqual(reasons({queue_pairs: [], mads: []}, {failures: []}), []);
});
