import assert from "node:assert/strict";
import test from "node:test";

import {partitionMeanings, partitionTone, tonesOf} from
  "../../../../daemon/web/page/partition_words.js";

const PARTITIONS = [
  {p_key: "0x8001", full: [["0x1", 1], ["0x2", 1]], limited: [["0x3", 1]]},
  {p_key: "0x8002", full: [["0x2", 1]], limited: []},
];
const tones = tonesOf(PARTITIONS);
const link = (guid) => ({a: {guid, port: 1}, b: {guid: "0x9", port: 4}});

test("a link has the colour of its host's partition", () => {
  assert.equal(partitionTone({links: [link("0x1")]}, tones), "partition1");
  assert.equal(partitionTone({links: [link("0x3")]}, tones), "partition1");
  assert.equal(partitionTone({links: [link("0x4")]}, tones), "load0");
});

test("who is in several, and a line of several, has a colour of its own", () => {
  assert.equal(partitionTone({links: [link("0x2")]}, tones), "partition0");
  assert.equal(partitionTone({links: [link("0x1"), link("0x3")]}, tones),
               "partition1");
  assert.equal(partitionTone({links: [link("0x1"), link("0x2")]}, tones),
               "partition0");
});

test("a full and a limited key of one partition are one", () => {
  const both = tonesOf([{full: [["0x1", 1]], limited: [["0x1", 1]]}]);
  assert.equal(partitionTone({links: [link("0x1")]}, both), "partition1");
});

test("the legend has each partition's key and size", () => {
  assert.deepEqual(partitionMeanings({partitions: PARTITIONS, others: 2}), [
    ["active", "the default partition alone"],
    ["active partition1", "0x8001: 3 ports, 1 limited"],
    ["active partition2", "0x8002: 1 port"],
    ["active partition0", "several of them"],
    ["active", "2 more partitions have no colour"]]);
});
