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

// What `ibemu why NODE` says, a sentence each.
export function reasons({queue_pairs: queuePairs, mads}, {failures}) {
  return [...queuePairs.map(({why}) => why), ...mads.map(({why}) => why),
    ...failures.map(eventText)].filter((why) => why);
}
