// The numbers and words of what a link carried.
import {rateText} from "./model.js";

// One point for each look, the oldest first; `seconds` is negative, but for the
// last.
export function pointsOf({every_ms: every, looks, samples}) {
  const carried = new Map(samples.map(([ago, sent, received]) =>
    [ago, {sent, received}]));
  const points = [];
  for (let ago = looks - 1; ago >= 0; --ago) {
    points.push({seconds: ago ? -ago * every / 1000 : 0,
                 ...(carried.get(ago) ?? {sent: 0, received: 0})});
  }
  return points;
}

// Of a point: "45 s ago", "3.5 min ago".
export function agoText(seconds) {
  if (!seconds) return "now";
  return seconds > -120 ? `${Math.round(-seconds)} s ago`
    : `${Math.round(-seconds / 6) / 10} min ago`;
}

export function historyWords(points) {
  if (!points.length) return "Nothing is known yet.";
  const most = (key) => Math.max(...points.map((point) => point[key]));
  const minutes = Math.max(1, Math.round(-points[0].seconds / 60));
  return `In ${minutes === 1 ? "the last minute" : `${minutes} minutes`} at ` +
    `most ${rateText(most("sent"))} sent, ${rateText(most("received"))} ` +
    "received.";
}

export function historyCsv(points) {
  return ["seconds,sent_bytes_per_second,received_bytes_per_second",
    ...points.map(({seconds, sent, received}) =>
      `${seconds},${Math.round(sent)},${Math.round(received)}`)]
    .join("\n") + "\n";
}
