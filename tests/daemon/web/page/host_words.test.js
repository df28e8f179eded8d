import assert from "node:assert/strict";
import test from "node:test";

import {OBJECTS, queuePairFacts, queuePairText, reasons} from
  "../../../../daemon/web/page/host_words.js";

test("a queue pair tells its peer and its process where it has one", () => {
  const qp = {qpn: 18, type: "RC", state: "RTS", pid: 4711,
              peer: {lid: 3, qpn: 19, node: "node-2"}};
  assert.equal(queuePairText(qp), "0x12 RC, RTS – node-2 0x13, process 4711");
  qp.peer.node = null;
  assert.equal(queuePairText(qp), "0x12 RC, RTS – LID 3 0x13, process 4711");
  assert.equal(queuePairText({...qp, peer: null, pid: null}), "0x12 RC, RTS");
});

test("what a queue pair has depends on its type, and on what is known", () => {
  const qp = {send: {posted: 3, size: 16, outstanding: 2},
              receive: {posted: 10, size: 16},
              counters: {rnr_nak_retry_err: 2}};
  const queues = [["send queue", "3 of 16, 2 outstanding"],
                  ["receive queue", "10 of 16"]];
  const counted = [["rnr_nak_retry_err", "2"]];
  assert.deepEqual(queuePairFacts(qp), [...queues, ...counted]);
  assert.deepEqual(queuePairFacts({...qp, receive: null, counters: {}},
                                  {pkey_index: 1, sq_psn: 255, qkey: 17}),
    [queues[0], ["receive queue", "shared"], ["Q_Key", "0x11"],
     ["P_Key index", "1"], ["next PSN to send", "0xff"]]);
  const connected = {pkey_index: 0, sq_psn: 1, rq_psn: 2, path_mtu: 1024,
    qp_access_flags: ["remote-write", "remote-read"],
    ah_attr: {dlid: 5, sl: 1, grh: {dgid: "fe80::1"}}};
  const path = [["path", "LID 5, SL 1, GID fe80::1"], ["path MTU", "1024"],
                ["access", "remote-write, remote-read"], ["P_Key index", "0"],
                ["next PSN to send", "0x1"], ["next PSN to come", "0x2"]];
  assert.deepEqual(queuePairFacts(qp, connected),
                   [...queues, ...path, ...counted]);
  const reliable = {...connected, timeout: 14, timeout_ns: 67108864,
    retry_cnt: 7, rnr_retry: 7, min_rnr_timer_ns: 640000, max_rd_atomic: 1,
    max_dest_rd_atomic: 4};
  assert.deepEqual(queuePairFacts(qp, reliable), [...queues, ...path,
    ["timeout", "67.108864 ms"], ["retries", "7"], ["RNR retries", "no end"],
    ["RNR timer", "0.64 ms"], ["READs and atomics", "1 to the peer, 4 from it"],
    ...counted]);
  const words = new Map(queuePairFacts(qp,
    {...reliable, timeout: 0, timeout_ns: null, rnr_retry: 3}));
  const armed = new Map(queuePairFacts(qp, {...connected,
    path_mig_state: "ARMED", alt_ah_attr: connected.ah_attr, alt_port_num: 2}));
  assert.equal(armed.get("alternate path"), "LID 5, SL 1, GID fe80::1; port 2");
  assert.equal(armed.get("migration"), "ARMED");
  assert.equal(words.get("timeout"), "none");
  assert.equal(words.get("RNR retries"), "3");
});

test("what failed is told of queue pairs, MADs, connections and calls, and then "
     + "what had trouble and which faults acted", () => {
  const end = (node, address) => ({node, address, port: 7174});
  const failure = {event: "connection", from: end("a", "10.0.0.1"),
                   to: end("b", "10.0.0.2"), space: "RDMA_PS_TCP",
                   state: "rejected", by: "to", why: "nobody listens",
                   reason: 8};
  assert.deepEqual(
    reasons({queue_pairs: [{why: null, trouble: "sent packets again"},
                           {why: "RETRY_EXC_ERR", trouble: null}],
             mads: [{why: "SM Get(NodeInfo): no answer"}],
             calls: [{why: "CREATE_CQ was refused", count: 1},
                     {why: "CREATE_QP was refused", count: 3}],
             faults: [{name: "fault-1", acts: 1, removed: false, what: "loss"},
                      {name: "old", acts: 2, removed: true, what: "delay"}]},
            {failures: [failure]}),
    ["RETRY_EXC_ERR", "SM Get(NodeInfo): no answer",
     "connection a 10.0.0.1:7174 → b 10.0.0.2:7174 RDMA_PS_TCP rejected by b: "
     + "nobody listens (8)",
     "CREATE_CQ was refused", "CREATE_QP was refused (3 times)",
     "sent packets again", "fault-1 acted once: loss",
     "old acted 2 times, and was removed: delay"]);
  assert.deepEqual(reasons({queue_pairs: [], mads: [], calls: [], faults: []},
                           {failures: []}), []);
});

test("each object of a program is one line", () => {
  const lines = Object.fromEntries(OBJECTS.map(({method, text}) =>
    [method, text]));
  const cq = {handle: 1, size: 100, waiting: 3, channel: true, send: [18],
              receive: [18, 19], pid: 7};
  assert.equal(lines["cq.list"](cq),
    "1: 3 of 100, with a channel, queue pairs 0x12, 0x13, process 7");
  assert.equal(
    lines["cq.list"]({...cq, channel: false, send: [], receive: []}),
    "1: 3 of 100, process 7");
  assert.equal(
    lines["mr.list"]({rkey: 31, length: 4096, access: "remote read", pid: 7}),
    "0x1f: 4096 bytes, remote read, process 7");
  assert.equal(
    lines["srq.list"]({handle: 2, size: 10, posted: 4, receive: [18], pid: 7}),
    "2: 4 of 10, queue pair 0x12, process 7");
  assert.equal(lines["mcast.list"]({mgid: "ff12::1", qpn: 18, pid: 7}),
    "ff12::1: queue pair 0x12, process 7");
});
