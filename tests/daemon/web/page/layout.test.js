import assert from "node:assert/strict";
import {existsSync, readFileSync} from "node:fs";
import test from "node:test";
import vm from "node:vm";

import {fold} from "../../../../daemon/web/page/fold.js";
import {place} from "../../../../daemon/web/page/layout.js";
import {dragonfly, link, modelOf, node, torus, tree} from "./fabrics.js";

// As a page has it: scripts, one after the other.
for (const name of ["dispatch", "quadtree", "collection", "timer", "force"]) {
  const path = `/usr/share/nodejs/d3-${name}/dist/d3-${name}.min.js`;
  if (existsSync(path)) vm.runInThisContext(readFileSync(path, "utf8"));
}

const LEAST_APART = 20;  // the width of a drawn node

function placed(model, aspect = 1.6) {
  const folded = fold(model, new Set());
  place(folded, aspect, globalThis.d3);
  return folded;
}

function assertReadable({units, lines}) {
  for (const {x, y, id} of units) {
    assert.ok(Number.isFinite(x) && Number.isFinite(y), `${id} has a place`);
  }
  for (const line of lines) assert.ok(Number.isFinite(line.bow));
  const places = [...units].sort((one, other) => one.x - other.x);
  for (let i = 0; i < places.length; ++i) {
    for (let k = i + 1; k < places.length; ++k) {
      if (places[k].x - places[i].x >= LEAST_APART) break;
      assert.ok(Math.abs(places[k].y - places[i].y) >= LEAST_APART,
                `${places[i].id} and ${places[k].id} cover each other`);
    }
  }
}

const FABRICS = {
  "two hosts and a cable": () => modelOf(
    [node("a", "ca"), node("b", "ca")], [link("a/1", "b/1")]),
  "one switch": () => tree({leaves: 1, spines: 0, hosts: 8}),
  "a tree": () => tree({leaves: 18, spines: 9, hosts: 6}),
  "a large tree": () => tree({leaves: 60, spines: 30, hosts: 30}),
  "a small torus": () => torus(4),
  "a torus": () => torus(8),
  "a large torus": () => torus(20),
  "a dragonfly": () => dragonfly({groups: 9, size: 4}),
  "a large dragonfly": () => dragonfly({groups: 33, size: 16}),
  "a switch without a host": () => modelOf([node("a", "switch")], []),
};

for (const [name, make] of Object.entries(FABRICS)) {
  test(`nothing covers anything else: ${name}`, () => {
    assertReadable(placed(make()));
  });
}

test("the same fabric always looks the same", () => {
  const where = () => placed(torus(5)).units.map(({x, y}) => [x, y]);
  assert.deepEqual(where(), where());
});

test("hosts are below their switches, and these below the spines", () => {
  const {units} = placed(tree({leaves: 4, spines: 2, hosts: 3}));
  const ys = (rank) => units.filter((unit) => unit.rank === rank)
    .map(({y}) => y);
  assert.ok(Math.min(...ys(0)) > Math.max(...ys(1)));
  assert.ok(Math.min(...ys(1)) > Math.max(...ys(2)));
});

test("switches that are all cabled to each other stand together", () => {
  const switches = placed(dragonfly({groups: 9, size: 4})).units
    .filter(({rank}) => rank > 0);
  const group = ({nodes}) => nodes[0].guid.split("-switch-")[0];
  for (const unit of switches) {
    const [first] = switches.filter((other) => other !== unit)
      .map((other) => ({other, away:
        Math.hypot(other.x - unit.x, other.y - unit.y)}))
      .sort((one, other) => one.away - other.away);
    assert.equal(group(first.other), group(unit), `the next of ${unit.id}`);
  }
});
