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

// What `ibemu why NODE` says, a sentence each.
export function reasons({queue_pairs: queuePairs, mads}, {failures}) {
  return [...queuePairs.map(({why}) => why), ...mads.map(({why}) => why),
    ...failures.map(eventText)].filter((why) => why);
}
