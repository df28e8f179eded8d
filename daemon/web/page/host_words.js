// The words of what there is on a host.
import {eventText} from "./events.js";

const hex = (number) => `0x${number.toString(16)}`;

export const withProcess = (text, {pid}) =>
  text + (pid ? `, process ${pid}` : "");

// "0x12 RC, RTS – node-2 0x13, process 4711"
export function queuePairText(qp) {
  const {qpn, type, state, peer} = qp;
  const whose = peer && (peer.node ?? `LID ${peer.lid}`);
  return withProcess(`${hex(qpn)} ${type}, ${state}` +
                     (peer ? ` – ${whose} ${hex(peer.qpn)}` : ""), qp);
}

const fill = ({posted, size}) => `${posted} of ${size}`;

function pathText({dlid, sl, grh}) {
  return `LID ${dlid}, SL ${sl}` + (grh ? `, GID ${grh.dgid}` : "");
}

const alternatePath = (its) => its.alt_ah_attr
  ? [["alternate path",
      `${pathText(its.alt_ah_attr)}; port ${its.alt_port_num}`],
     ["migration", its.path_mig_state]]
  : [];

// In the words of `ibemu qp show`.
function attributeFacts(its) {
  const path = its.ah_attr && [
    ["path", pathText(its.ah_attr)], ...alternatePath(its),
    ["path MTU", `${its.path_mtu}`],
    ["access", its.qp_access_flags.join(", ") || "none"]];
  const psns = [["next PSN to send", hex(its.sq_psn)],
    ...(its.rq_psn === undefined ? []
                                 : [["next PSN to come", hex(its.rq_psn)]])];
  const reliability = its.timeout !== undefined && [
    ["timeout", its.timeout_ns === null ? "none"
                                        : `${its.timeout_ns / 1e6} ms`],
    ["retries", `${its.retry_cnt}`],
    ["RNR retries", its.rnr_retry === 7 ? "no end" : `${its.rnr_retry}`],
    ["RNR timer", `${its.min_rnr_timer_ns / 1e6} ms`],
    ["READs and atomics",
     `${its.max_rd_atomic} to the peer, ${its.max_dest_rd_atomic} from it`]];
  return [...(path || []),
    ...(its.qkey === undefined ? [] : [["Q_Key", hex(its.qkey)]]),
    ["P_Key index", `${its.pkey_index}`], ...psns, ...(reliability || [])];
}

// What a queue pair has, a name and a text each: how full its queues are, its
// attributes where these are known, and what it has counted.
export function queuePairFacts({send, receive, counters}, attributes) {
  return [
    ["send queue", `${fill(send)}, ${send.outstanding} outstanding`],
    ["receive queue", receive ? fill(receive) : "shared"],
    ...(attributes ? attributeFacts(attributes) : []),
    ...Object.entries(counters).map(([name, count]) => [name, `${count}`])];
}

// ", queue pairs 0x12, 0x13"; nothing where there are none.
const users = (qpns) => qpns.length
  ? `, queue pair${qpns.length > 1 ? "s" : ""} ${qpns.map(hex).join(", ")}` : "";

// What programs make beside queue pairs: the method that lists them, and the
// line of one.
export const OBJECTS = [
  {method: "cq.list", title: "Completion queues", text: (cq) => withProcess(
    `${cq.handle}: ${cq.waiting} of ${cq.size}` +
    (cq.channel ? ", with a channel" : "") +
    users([...new Set([...cq.send, ...cq.receive])]), cq)},
  {method: "mr.list", title: "Memory regions", text: (mr) => withProcess(
    `${hex(mr.rkey)}: ${mr.length} bytes, ${mr.access}`, mr)},
  {method: "srq.list", title: "Shared receive queues", text: (srq) =>
    withProcess(`${srq.handle}: ${srq.posted} of ${srq.size}` +
                users(srq.receive), srq)},
  {method: "mcast.list", title: "Multicast groups", text: (member) =>
    withProcess(`${member.mgid}: queue pair ${hex(member.qpn)}`, member)},
];

const times = (count) => count === 1 ? "once" : `${count} times`;

// What `ibemu why NODE` says, a sentence each.
export function reasons({queue_pairs: queuePairs, mads, calls, faults},
                        {failures}) {
  return [
    ...queuePairs.map(({why}) => why), ...mads.map(({why}) => why),
    ...failures.map(eventText),
    ...calls.map(({why, count}) => why + (count > 1 ? ` (${times(count)})` : "")),
    ...queuePairs.map(({trouble}) => trouble),
    ...faults.map(({name, acts, removed, what}) => `${name} acted ` +
      `${times(acts)}${removed ? ", and was removed" : ""}: ${what}`),
  ].filter((why) => why);
}
