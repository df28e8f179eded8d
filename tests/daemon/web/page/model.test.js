import assert from "node:assert/strict";
import test from "node:test";

import {loadLevel, matches, progressWords, rateText, speedOf, stateOf,
        stateWords}
  from "../../../../daemon/web/page/model.js";
import {link, modelOf, node} from "./fabrics.js";

const pair = () => modelOf(
  [node("0x1", "ca", "one"), node("0x2", "ca", "two")],
  [link("0x1/1", "0x2/3")]);

test("a link is found by either of its ends", () => {
  const model = pair();
  assert.equal(model.linkAt("0x1", 1), model.linkAt("0x2", 3));
  assert.equal(model.linkAt("0x1", 2), undefined);
  assert.deepEqual(model.nodes.get("0x2").links, [model.linkAt("0x1", 1)]);
});

test("nodes are called by their description where that names one only", () => {
  const model = modelOf([node("0x1", "ca", "twin"), node("0x2", "ca", "twin"),
                         node("0x3", "ca", "single"), node("0x4", "ca", "")],
                        [link("0x1/1", "0x3/1")]);
  assert.equal(model.nameOf("0x1"), "0x1");
  assert.equal(model.nameOf("0x3"), "single");
  assert.equal(model.nameOf("0x4"), "0x4");
  assert.equal(model.nameOf("0x5"), "0x5");
  assert.equal(model.linkName(model.linkAt("0x1", 1)), "0x1/1 – single/1");
  assert.equal(model.find("single").guid, "0x3");
  assert.equal(model.find("0x4").guid, "0x4");
  assert.equal(model.find("nobody"), null);
});

test("what is told of a known node and link changes it", () => {
  const model = pair();
  assert.ok(model.change({
    nodes: [{...node("0x1", "ca", "one"), on: false}],
    links: [link("0x1/1", "0x2/3", {state: "down", cut: true})]}));
  assert.equal(model.nodes.get("0x1").on, false);
  assert.equal(model.nodes.get("0x1").links.length, 1);
  assert.equal(stateOf(model.linkAt("0x2", 3)), "cut");
});

test("what the page does not know makes it ask for everything", () => {
  const nothing = {nodes: [], links: []};
  assert.ok(pair().change(nothing));
  assert.equal(pair().change({...nothing, nodes: [node("0x9", "ca")]}), false);
  assert.equal(pair().change(
    {...nothing, nodes: [node("0x1", "ca", "renamed")]}), false);
  assert.equal(pair().change(
    {...nothing, links: [link("0x1/1", "0x2/4")]}), false);
});

test("faults are at the link or at the node that they concern", () => {
  const model = pair();
  model.setFaults([{name: "lossy", guid: "0x2", port: 3},
                   {name: "slow", guid: "0x1", port: null},
                   {name: "elsewhere", guid: "0x7", port: 1}]);
  assert.deepEqual(model.linkAt("0x1", 1).faults.map(({name}) => name),
                   ["lossy"]);
  assert.deepEqual(model.nodes.get("0x1").faults.map(({name}) => name),
                   ["slow"]);
  assert.equal(stateWords(model.linkAt("0x1", 1)), "active, 1 fault");
  model.setFaults([]);
  assert.equal(stateWords(model.linkAt("0x1", 1)), "active");
});

test("a load is over when it is not told again", () => {
  const model = pair();
  model.setLoads([["0x1", 1, 5, 6, 0.5], ["0x9", 1, 1, 1, 1]]);
  assert.deepEqual(model.linkAt("0x2", 3).load,
                   {sent: 5, received: 6, share: 0.5});
  model.setLoads([]);
  assert.equal(model.linkAt("0x2", 3).load.sent, 0);
});

test("a link that is armed is up and not active", () => {
  assert.equal(stateOf({state: "armed"}), "init");
  assert.equal(stateWords({state: "armed", faults: []}),
               "up, not active (armed)");
});

test("loads have five levels", () => {
  assert.deepEqual([0, 0.001, 0.1, 0.5, 0.9, 1].map(loadLevel),
                   [0, 1, 2, 3, 4, 4]);
});

test("progress is told with the whole where that is known", () => {
  assert.equal(progressWords(3000, 13284), "3,000 of 13,284");
  assert.equal(progressWords(3000, undefined), "3,000");
});

test("rates have two digits at least and a unit", () => {
  assert.deepEqual([0, 999, 1000, 12345, 5e6, 2e9, 3e12].map(rateText),
                   ["0 B/s", "999 B/s", "1.0 kB/s", "12 kB/s", "5.0 MB/s",
                    "2.0 GB/s", "3000 GB/s"]);
});

test("a search finds names, GUIDs and LIDs", () => {
  const ports = [{port: 1, lid: 7, guid: "0xabc1"}];
  const model = modelOf(
    [{...node("0xab", "ca", "Node-1"), ports}, node("0xcd", "switch", "sw")],
    [link("0xab/1", "0xcd/2")]);
  const one = model.nodes.get("0xab"), cable = model.linkAt("0xab", 1);
  Object.assign(cable.a, {lid: 7});
  for (const words of ["node-1", "0xab", "abc1", "lid 7", "lid 0x7"]) {
    assert.ok(matches(model, one, words), words);
  }
  assert.ok(!matches(model, one, "lid 77"));
  assert.ok(!matches(model, one, "sw"));
  for (const words of ["node-1/1", "sw/2", "0xcd", "lid 7"]) {
    assert.ok(matches(model, cable, words), words);
  }
  assert.ok(!matches(model, cable, "lid 8"));
});

test("the speed of a link is that of all its lanes", () => {
  assert.equal(speedOf({rate: "4xHDR"}), 200);
  assert.equal(speedOf({rate: "1xSDR"}), 2.5);
  assert.equal(speedOf({rate: null}), 0);
  const model = modelOf([node("0x1", "ca"), node("0x2", "ca")],
                        [link("0x1/1", "0x2/1", {rate: "2xNDR"})]);
  assert.equal(model.fastest, 200);
});
