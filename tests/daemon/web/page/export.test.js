import assert from "node:assert/strict";
import test from "node:test";

import {csvField, csvOf} from "../../../../daemon/web/page/export.js";
import {link, modelOf, node} from "./fabrics.js";

test("a field is quoted where it has to be, and is no formula", () => {
  assert.equal(csvField("leaf-1"), "leaf-1");
  assert.equal(csvField('a "b", c'), '"a ""b"", c"');
  assert.equal(csvField("a\nb"), '"a\nb"');
  assert.equal(csvField("=1+1"), "'=1+1");
  assert.equal(csvField(-3), "-3");
  assert.equal(csvField(null), "");
});

test("nodes and links are a line each", () => {
  const model = modelOf(
    [{...node("0x1", "ca", "one"), ports: [{port: 1, lid: 3}], up: true,
      ports_linked: 1, port_count: 2}, node("0x2", "switch", "two")],
    [link("0x1/1", "0x2/3", {rate: "4xHDR"})]);
  model.setLoads([["0x1", 1, 1000.4, 10, 0.5]]);
  assert.equal(csvOf(model, [model.nodes.get("0x1")]),
    "node,type,guid,lid,up,ports_linked,port_count\r\n" +
    "one,ca,0x1,3,true,1,2\r\n");
  assert.equal(csvOf(model, [model.linkAt("0x2", 3)]).split("\r\n")[1],
    "one,1,0x1,two,3,0x2,active,4xHDR,1000,10,0.5");
});
