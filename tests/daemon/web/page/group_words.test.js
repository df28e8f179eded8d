import assert from "node:assert/strict";
import test from "node:test";

import {groupWords, placeOf} from "../../../../daemon/web/page/group_words.js";

const named = (...names) => names.map((description) => ({description}));

test("a group is called by where its members are and what they are", () => {
  assert.deepEqual(groupWords(named("pod-7-leaf-1", "pod-7-leaf-2"), "switch"),
                   ["pod-7", "2 leaves"]);
  assert.deepEqual(groupWords(named("rack 3/switch1", "rack 3/switch12"), "x"),
                   ["rack 3", "2 switches"]);
  assert.deepEqual(groupWords(named("core-1", "core-2", "core-3"), "switch"),
                   ["", "3 cores"]);
});

test("it is called by what all of them have in common", () => {
  assert.deepEqual(groupWords(named("pod-7-leaf-1", "pod-7-spine-1"), "switch"),
                   ["pod-7", "2 switches"]);
  assert.deepEqual(groupWords(named("pod-7-leaf-1", "pod-8-leaf-1"), "switch"),
                   ["", "2 leaves"]);
  assert.deepEqual(groupWords(named("SwitchX - Mellanox", "core-1"), "switch"),
                   ["", "2 switches"]);
});

test("a name without a number says nothing of a place", () => {
  const [torus, group, other] = named("sw-1", "group-4-switch-2", "Quantum Mlx");
  assert.equal(placeOf(torus), "");
  assert.equal(placeOf(group), "group-4");
  assert.equal(placeOf(other), "");
});
