// The fabric as the daemon last told it.

export const STATES = ["active", "init", "down", "cut"];  // the worst last

const endKey = (end) => `${end.guid}/${end.port}`;
const NO_LOAD = {sent: 0, received: 0, share: 0};

export class Model {
  nodes = new Map();  // by GUID: descriptions need not be unique
  links = new Map();  // by "GUID/port" of the first end
  faults = [];
  #ends = new Map();  // "GUID/port" of either end: the link
  #named = new Map();  // by description: how many
  #loaded = new Set();

  reset(nodes, links, faults) {
    this.nodes.clear();
    this.links.clear();
    this.#ends.clear();
    this.#named.clear();
    this.#loaded.clear();
    for (const node of nodes) {
      this.nodes.set(node.guid, {...node, links: []});
      const same = this.#named.get(node.description) ?? 0;
      this.#named.set(node.description, same + 1);
    }
    for (const link of links) this.#addLink(link);
    this.setFaults(faults);
  }

  #addLink(told) {
    const link = {...told, key: endKey(told.a), faults: [], load: NO_LOAD};
    this.links.set(link.key, link);
    for (const end of [link.a, link.b]) {
      this.#ends.set(endKey(end), link);
      this.nodes.get(end.guid).links.push(link);
    }
  }

  // False: something new is there, or a cable has moved; ask for everything.
  change({nodes, links}) {
    for (const told of nodes) {
      const node = this.nodes.get(told.guid);
      if (node?.description !== told.description) return false;
      Object.assign(node, told);
    }
    for (const told of links) {
      const link = this.links.get(endKey(told.a));
      if (!link || endKey(link.b) !== endKey(told.b)) return false;
      Object.assign(link, told);
    }
    return true;
  }

  setFaults(faults) {
    for (const link of this.links.values()) link.faults = [];
    for (const node of this.nodes.values()) node.faults = [];
    this.faults = faults;
    for (const fault of faults) {
      const place = fault.port === null
        ? this.nodes.get(fault.guid) : this.linkAt(fault.guid, fault.port);
      place?.faults.push(fault);
    }
  }

  setLoads(loads) {
    for (const link of this.#loaded) link.load = NO_LOAD;
    this.#loaded.clear();
    for (const [guid, port, sent, received, share] of loads) {
      const link = this.linkAt(guid, port);
      if (!link) continue;
      link.load = {sent, received, share};
      this.#loaded.add(link);
    }
  }

  linkAt(guid, port) {
    return this.#ends.get(`${guid}/${port}`);
  }

  // What commands and people call it.
  nameOf(guid) {
    const node = this.nodes.get(guid);
    if (!node) return guid;
    const unique = this.#named.get(node.description) === 1;
    return unique && node.description ? node.description : guid;
  }

  endName(end) {
    return `${this.nameOf(end.guid)}/${end.port}`;
  }

  linkName(link) {
    return `${this.endName(link.a)} – ${this.endName(link.b)}`;
  }

  // The links that carry something, the busiest first.
  get busy() {
    return [...this.links.values()]
      .filter(({load}) => load.sent || load.received)
      .sort((one, other) => other.load.share - one.load.share);
  }

  // The fastest that a link is now, in Gb/s.
  get fastest() {
    return Math.max(0, ...[...this.links.values()].map(speedOf));
  }

  // By what nameOf() gives, or by GUID.
  find(name) {
    if (this.nodes.has(name)) return this.nodes.get(name);
    for (const node of this.nodes.values()) {
      if (node.description === name) return node;
    }
    return null;
  }
}

export function stateOf(link) {
  if (link.cut) return "cut";
  return link.state === "armed" ? "init" : link.state;
}

export function stateWords(link) {
  const faults = link.faults.length;
  const words = {active: "active", init: `up, not active (${link.state})`,
                 down: "down", cut: "cut"}[stateOf(link)];
  return words + (faults ? `, ${faults} fault${faults > 1 ? "s" : ""}` : "");
}

const LANES = {SDR: 2.5, DDR: 5, QDR: 10, FDR10: 10.3, FDR: 14, EDR: 25,
               HDR: 50, NDR: 100, XDR: 200};  // Gb/s

// In Gb/s, of "4xHDR"; 0 where there is none.
export function speedOf({rate}) {
  const [, width, lane] = /^(\d+)x(\w+)$/.exec(rate ?? "") ?? [];
  return Number(width ?? 0) * (LANES[lane] ?? 0);
}

// Whether a node or a link is what was searched for: by a part of its name or
// of its GUID, or "lid 5".
export function matches(model, thing, words) {
  const [, lid] = /^lid\s*(\d+|0x[0-9a-f]+)$/.exec(words) ?? [];
  const ends = thing.key === undefined ? thing.ports : [thing.a, thing.b];
  if (lid !== undefined) return ends.some((end) => end.lid === Number(lid));
  const name = thing.key === undefined ? model.nameOf(thing.guid)
                                       : model.linkName(thing);
  return [name, thing.guid, ...ends.map(({guid}) => guid)].join(" ")
    .toLowerCase().includes(words);
}

// 0 (nothing) to 4 (nearly all).
export function loadLevel(share) {
  return [0.001, 0.1, 0.5, 0.9].filter((bound) => share >= bound).length;
}

// "3,000 of 13,284"
export function progressWords(count, total) {
  const words = [count, total].filter((number) => number !== undefined);
  return words.map((number) => number.toLocaleString("en")).join(" of ");
}

// Of the busier direction of a link.
export function loadText({load}) {
  return rateText(Math.max(load.sent, load.received));
}

export function rateText(bytes) {
  const units = ["B/s", "kB/s", "MB/s", "GB/s"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${bytes < 10 && unit ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}
