// Fabrics as the daemon tells them, for the tests of the page.
import {Model} from "../../../../daemon/web/page/model.js";

export function node(guid, type, description = guid) {
  return {guid, type, description, on: true};
}

// `a` and `b`: "guid/port".
export function link(a, b, more = {}) {
  const end = (text) => {
    const [guid, port] = text.split("/");
    return {guid, port: Number(port)};
  };
  return {a: end(a), b: end(b), state: "active", cut: false, ...more};
}

export function modelOf(nodes, links, faults = []) {
  const model = new Model();
  model.reset(nodes, links, faults);
  return model;
}

// Leaves with hosts, each leaf connected to every spine.
export function tree({leaves, spines, hosts}) {
  const nodes = [], links = [];
  for (let s = 1; s <= spines; ++s) nodes.push(node(`spine-${s}`, "switch"));
  for (let l = 1; l <= leaves; ++l) {
    nodes.push(node(`leaf-${l}`, "switch"));
    for (let h = 1; h <= hosts; ++h) {
      nodes.push(node(`host-${l}-${h}`, "ca"));
      links.push(link(`host-${l}-${h}/1`, `leaf-${l}/${h}`));
    }
    for (let s = 1; s <= spines; ++s) {
      links.push(link(`leaf-${l}/${hosts + s}`, `spine-${s}/${l}`));
    }
  }
  return modelOf(nodes, links);
}

// Groups of switches that are all cabled to each other; a cable joins each two
// groups.
export function dragonfly({groups, size}) {
  const nodes = [], links = [];
  const name = (g, s) => `group-${g + 1}-switch-${s % size + 1}`;
  for (let g = 0; g < groups; ++g) {
    for (let s = 0; s < size; ++s) {
      nodes.push(node(name(g, s), "switch"), node(`host-${g}-${s}`, "ca"));
      links.push(link(`host-${g}-${s}/1`, `${name(g, s)}/1`));
      for (let t = 0; t < s; ++t) {
        links.push(link(`${name(g, s)}/${2 + t}`, `${name(g, t)}/${1 + s}`));
      }
    }
    for (let other = 0; other < g; ++other) {
      links.push(link(`${name(g, other)}/${size + 1 + other}`,
                      `${name(other, g)}/${size + 1 + g}`));
    }
  }
  return modelOf(nodes, links);
}

// Switches in a ring of `width` by `width` rings, a host at each.
export function torus(width) {
  const nodes = [], links = [];
  const name = (x, y) => `sw-${x % width}-${y % width}`;
  for (let x = 0; x < width; ++x) {
    for (let y = 0; y < width; ++y) {
      nodes.push(node(name(x, y), "switch"), node(`host-${x}-${y}`, "ca"));
      links.push(link(`host-${x}-${y}/1`, `${name(x, y)}/5`));
    }
  }
  for (let x = 0; x < width; ++x) {
    for (let y = 0; y < width; ++y) {
      links.push(link(`${name(x, y)}/1`, `${name(x + 1, y)}/2`),
                 link(`${name(x, y)}/3`, `${name(x, y + 1)}/4`));
    }
  }
  return modelOf(nodes, links);
}
