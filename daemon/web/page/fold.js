// What is drawn as one thing: a node by itself, the hosts of a switch, many
// switches.

import {placeOf} from "./group_words.js";

export const MOST_HOSTS = 150;  // drawn one by one
const MOST_SWITCHES = 300;
const MOST_LINES = 4000;
const MOST_GROUPS = 100;  // of switches that form no tree

const isHost = (node) => node.type === "ca";

function peerOf(model, node, link) {
  const end = link.a.guid === node.guid ? link.b : link.a;
  return model.nodes.get(end.guid);
}

// Hops from the nearest host, by node; what no host reaches counts as beside
// one.
export function ranksOf(model) {
  const ranks = new Map();
  let edge = [...model.nodes.values()].filter(isHost);
  for (const host of edge) ranks.set(host, 0);
  for (let rank = 1; edge.length; ++rank) {
    const next = [];
    for (const node of edge) {
      for (const link of node.links) {
        const peer = peerOf(model, node, link);
        if (ranks.has(peer)) continue;
        ranks.set(peer, rank);
        next.push(peer);
      }
    }
    edge = next;
  }
  for (const node of model.nodes.values()) {
    if (!ranks.has(node)) ranks.set(node, 1);
  }
  return ranks;
}

// Whether switches are in layers: few cables join two of one.
export function isLayered(model, ranks) {
  let inside = 0, all = 0;
  for (const link of model.links.values()) {
    const a = ranks.get(model.nodes.get(link.a.guid));
    const b = ranks.get(model.nodes.get(link.b.guid));
    if (a === 0 || b === 0) continue;
    all += 1;
    if (a === b) inside += 1;
  }
  return inside * 4 <= all;
}

function single(node, rank) {
  return {id: node.guid, kind: isHost(node) ? "host" : node.type, rank,
          nodes: [node], home: null};
}

// Switches that form no tree: those of one place, if their names tell places,
// or those that follow each other.
function neighbourhoods(switches) {
  const byPlace = new Map();
  for (const node of switches) {
    const place = placeOf(node);
    if (!byPlace.has(place)) byPlace.set(place, []);
    byPlace.get(place).push(node);
  }
  if (byPlace.size > 1 && byPlace.size <= MOST_GROUPS) {
    return [...byPlace.values()];
  }
  const size = Math.ceil(switches.length / MOST_GROUPS);
  return Array.from({length: Math.ceil(switches.length / size)}, (_, i) =>
    switches.slice(i * size, (i + 1) * size));
}

// Switches that see the same neighbours are one: those of a pod, and those
// above it.
function groupSwitches(model, switches, ranks, layered, expanded) {
  const groupOf = new Map();
  const groups = [];
  const add = (members) => {
    const id = `switches:${members[0].guid}`;
    const rank = ranks.get(members[0]);
    if (members.length === 1 || expanded.has(id)) {
      for (const node of members) groupOf.set(node, single(node, rank));
      groups.push(...members.map((node) => groupOf.get(node)));
      return;
    }
    const group = {id, kind: "switches", rank, nodes: members, home: null};
    for (const node of members) groupOf.set(node, group);
    groups.push(group);
  };
  if (!layered) {
    for (const members of neighbourhoods(switches)) add(members);
    return {groups, groupOf};
  }
  const highest = switches.reduce((most, node) =>
    Math.max(most, ranks.get(node)), 1);
  for (let rank = 1; rank <= highest; ++rank) {
    const alike = new Map();
    for (const node of switches) {
      if (ranks.get(node) !== rank) continue;
      const seen = new Set();
      for (const link of node.links) {
        const peer = peerOf(model, node, link);
        const other = ranks.get(peer);
        if (rank === 1 && other > rank) seen.add(peer.guid);
        // One's own group is known below, so that is what counts there.
        if (rank > 1 && other < rank && other > 0) {
          seen.add(groupOf.get(peer).id);
        }
      }
      const key = [...seen].sort().join();
      if (!alike.has(key)) alike.set(key, []);
      alike.get(key).push(node);
    }
    for (const members of alike.values()) add(members);
  }
  return {groups, groupOf};
}

function foldAt(level, model, ranks, layered, expanded) {
  const switches = [], hosts = [];
  for (const node of model.nodes.values()) {
    (isHost(node) ? hosts : switches).push(node);
  }
  let groups, groupOf;
  if (level === 2) {
    ({groups, groupOf} =
      groupSwitches(model, switches, ranks, layered, expanded));
  } else {
    groupOf = new Map(switches.map((node) =>
      [node, single(node, ranks.get(node))]));
    groups = [...groupOf.values()];
  }
  // Hosts are at the switch of their first cable.
  const guests = new Map();
  for (const host of hosts) {
    const peers = host.links.map((link) => peerOf(model, host, link));
    const home = groupOf.get(peers.find((peer) => !isHost(peer))) ?? null;
    if (!guests.has(home)) guests.set(home, []);
    guests.get(home).push(host);
  }
  for (const [home, members] of guests) {
    const id = `hosts:${home?.id ?? "none"}`;
    if (level === 0 || members.length === 1 || expanded.has(id)) {
      for (const host of members) {
        const unit = {...single(host, 0), home};
        groupOf.set(host, unit);
        groups.push(unit);
      }
      continue;
    }
    const unit = {id, kind: "hosts", rank: 0, nodes: members, home};
    for (const host of members) groupOf.set(host, unit);
    groups.push(unit);
  }
  return {units: groups, lines: linesBetween(model, groupOf), unitOf: groupOf};
}

// One line for all links of two units, unless there are few of two nodes.
function linesBetween(model, unitOf) {
  const pairs = new Map();
  for (const link of model.links.values()) {
    const a = unitOf.get(model.nodes.get(link.a.guid));
    const b = unitOf.get(model.nodes.get(link.b.guid));
    if (a === b) continue;
    const key = a.id < b.id ? `${a.id} ${b.id}` : `${b.id} ${a.id}`;
    if (!pairs.has(key)) pairs.set(key, {a, b, links: []});
    pairs.get(key).links.push(link);
  }
  const lines = [];
  const MOST_BESIDE = 4;
  for (const [key, {a, b, links}] of pairs) {
    const alone = a.nodes.length === 1 && b.nodes.length === 1;
    if (!alone || links.length > MOST_BESIDE) {
      lines.push({id: key, a, b, links, bend: 0});
      continue;
    }
    links.forEach((link, i) => {
      // All bend as seen from the same end.
      const turn = link.a.guid === a.nodes[0].guid ? 1 : -1;
      lines.push({id: link.key, links: [link], bend:
                  turn * (i - (links.length - 1) / 2),
                  a: turn > 0 ? a : b, b: turn > 0 ? b : a});
    });
  }
  return lines;
}

// {units, lines, unitOf, layered, level}: as little folded as stays readable.
// `expanded`: ids of groups that are to be shown one by one.
export function fold(model, expanded) {
  const ranks = ranksOf(model);
  const layered = isLayered(model, ranks);
  const hosts = [...model.nodes.values()].filter(isHost).length;
  let level = hosts > MOST_HOSTS ? 1 : 0;
  if (model.nodes.size - hosts > MOST_SWITCHES) level = 2;
  let folded = foldAt(level, model, ranks, layered, expanded);
  if (level < 2 && folded.lines.length > MOST_LINES && !expanded.size) {
    level += 1;
    folded = foldAt(level, model, ranks, layered, expanded);
  }
  return {...folded, layered, level};
}
