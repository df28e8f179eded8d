// The numbers and words of what a link carried and counted.
import {rateText} from "./model.js";

const packetsText = (rate) => `${rate.toLocaleString("en",
  {maximumFractionDigits: rate < 10 ? 1 : 0})} packets/s`;
const errorsText = (count) =>
  `${count.toLocaleString("en")} ${count === 1 ? "error" : "errors"}`;

// What can be shown: of a point each of `keys`, which `names` describe.
export const KINDS = {
  load: {title: "Load", keys: ["sent", "received"],
         names: ["sent", "received"], text: rateText, least: 1000},
  packets: {title: "Packets", keys: ["sentPackets", "receivedPackets"],
            names: ["sent", "received"], text: packetsText, least: 10},
  errors: {title: "Errors", keys: ["errors"], names: ["counted"],
           text: errorsText, least: 10},
};

// One point for each look, the oldest first; `seconds` is negative, but for the
// last.
export function pointsOf({every_ms: every, looks, samples}) {
  const carried = new Map(samples.map(([ago, ...numbers]) => [ago, numbers]));
  const points = [];
  for (let ago = looks - 1; ago >= 0; --ago) {
    const [sent, received, sentPackets, receivedPackets, errors] =
      carried.get(ago) ?? [0, 0, 0, 0, 0];
    points.push({seconds: ago ? -ago * every / 1000 : 0, sent, received,
                 sentPackets, receivedPackets, errors});
  }
  return points;
}

// Of a point: "45 s ago", "3.5 min ago".
export function agoText(seconds) {
  if (!seconds) return "now";
  return seconds > -120 ? `${Math.round(-seconds)} s ago`
    : `${Math.round(-seconds / 6) / 10} min ago`;
}

export function historyWords(points, kind = "load") {
  if (!points.length) return "Nothing is known yet.";
  const {keys, text} = KINDS[kind];
  const minutes = Math.max(1, Math.round(-points[0].seconds / 60));
  const begin =
    `In ${minutes === 1 ? "the last minute" : `${minutes} minutes`}`;
  if (kind === "errors") {
    return `${begin} ${text(points.reduce((sum, {errors}) => sum + errors, 0))}.`;
  }
  const most = (key) => text(Math.max(...points.map((point) => point[key])));
  return `${begin} at most ${most(keys[0])} sent, ${most(keys[1])} received.`;
}

export function historyCsv(points) {
  return ["seconds,sent_bytes_per_second,received_bytes_per_second," +
          "sent_packets_per_second,received_packets_per_second,errors",
    ...points.map(({seconds, sent, received, sentPackets, receivedPackets,
                    errors}) =>
      [seconds, ...[sent, received, sentPackets, receivedPackets, errors]
        .map(Math.round)].join(","))]
    .join("\n") + "\n";
}
