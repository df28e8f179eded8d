import assert from "node:assert/strict";
import test from "node:test";

import {fold, isLayered, MOST_HOSTS, ranksOf}
  from "../../../../daemon/web/page/fold.js";
import {groupWords} from "../../../../daemon/web/page/group_words.js";
import {dragonfly, link, modelOf, node, torus, tree} from "./fabrics.js";

const NONE = new Set();
const kinds = ({units}) => units.reduce((counts, {kind}) =>
  ({...counts, [kind]: (counts[kind] ?? 0) + 1}), {});
const isWhole = (folded, model) => {
  const nodes = folded.units.flatMap((unit) => unit.nodes);
  assert.equal(new Set(nodes).size, nodes.length, "no node is in two units");
  assert.equal(nodes.length, model.nodes.size);
};

test("a rank is the number of hops from the nearest host", () => {
  const model = tree({leaves: 2, spines: 2, hosts: 2});
  const ranks = ranksOf(model);
  const rank = (guid) => ranks.get(model.nodes.get(guid));
  assert.equal(rank("host-1-2"), 0);
  assert.equal(rank("leaf-2"), 1);
  assert.equal(rank("spine-1"), 2);
});

test("what no host reaches counts as beside one", () => {
  const model = modelOf([node("alone", "switch")], []);
  assert.equal(ranksOf(model).get(model.nodes.get("alone")), 1);
});

test("a tree has layers, a torus has none", () => {
  for (const [model, layered] of [
    [tree({leaves: 4, spines: 2, hosts: 2}), true], [torus(4), false]]) {
    assert.equal(isLayered(model, ranksOf(model)), layered);
  }
});

test("a small fabric is drawn node by node", () => {
  const model = tree({leaves: 4, spines: 2, hosts: 3});
  const folded = fold(model, NONE);
  assert.equal(folded.level, 0);
  assert.deepEqual(kinds(folded), {host: 12, switch: 6});
  assert.equal(folded.lines.length, 12 + 8);
  isWhole(folded, model);
});

test("many hosts are one for each switch", () => {
  const hosts = MOST_HOSTS / 10 + 1;
  const model = tree({leaves: 10, spines: 2, hosts});
  const folded = fold(model, NONE);
  assert.equal(folded.level, 1);
  assert.deepEqual(kinds(folded), {hosts: 10, switch: 12});
  isWhole(folded, model);
  const line = folded.lines.find(({a, b}) =>
    a.kind === "hosts" || b.kind === "hosts");
  assert.equal(line.links.length, hosts);
});

test("a group that is opened shows its hosts one by one", () => {
  const model = tree({leaves: 10, spines: 2, hosts: 20});
  const [group] = fold(model, NONE).units.filter(({kind}) => kind === "hosts");
  const opened = fold(model, new Set([group.id]));
  assert.deepEqual(kinds(opened), {hosts: 9, host: 20, switch: 12});
  isWhole(opened, model);
});

test("many switches that see the same neighbours are one", () => {
  const model = tree({leaves: 300, spines: 10, hosts: 1});
  const folded = fold(model, NONE);
  assert.equal(folded.level, 2);
  assert.equal(kinds(folded).switches, 2);  // all leaves, all spines
  isWhole(folded, model);
});

test("many switches without layers are few groups", () => {
  const model = torus(20);
  const folded = fold(model, NONE);
  assert.equal(folded.level, 2);
  assert.ok(kinds(folded).switches <= 100);
  isWhole(folded, model);
});

test("many switches without layers are together where their names say so", () => {
  const model = dragonfly({groups: 33, size: 16});
  const folded = fold(model, NONE);
  const names = folded.units.filter(({kind}) => kind === "switches")
    .map(({nodes}) => groupWords(nodes, "switch").join(": "));
  assert.deepEqual(names, Array.from({length: 33}, (_, i) =>
    `group-${i + 1}: 16 switches`));
  isWhole(folded, model);
});

test("cables side by side are lines that bend apart", () => {
  const model = modelOf(
    [node("a", "switch"), node("b", "switch")],
    [link("a/1", "b/1"), link("b/2", "a/2"), link("a/3", "b/3")]);
  const {lines} = fold(model, NONE);
  assert.equal(lines.length, 3);
  assert.equal(new Set(lines.map(({a, bend}) =>
    a.id === "a" ? bend : -bend)).size, 3);
});

test("more cables side by side than can be told apart are one line", () => {
  const links = Array.from({length: 5}, (_, i) =>
    link(`a/${i + 1}`, `b/${i + 1}`));
  const {lines} = fold(modelOf([node("a", "switch"), node("b", "switch")],
                               links), NONE);
  assert.equal(lines.length, 1);
  assert.equal(lines[0].links.length, 5);
});
