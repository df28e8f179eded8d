import assert from "node:assert/strict";
import test from "node:test";

import {addressOf, parseAddress, thingAt} from
  "../../../../daemon/web/page/address.js";
import {link, modelOf, node} from "./fabrics.js";

test("what an address says can be read again", () => {
  for (const shown of [{kind: "node", name: "leaf 1/a, #2"},
                       {kind: "link", name: "leaf-1/3"},
                       {kind: "path", from: "a,b", to: "c d"}]) {
    assert.deepEqual(parseAddress(addressOf(shown)), shown);
  }
});

test("what is no address of the page is none", () => {
  for (const hash of ["", "#", "#node=", "#nodes=a", "#path=a", "#path=a,b,c",
                      "#node=%E0%A4%A"]) {
    assert.equal(parseAddress(hash), null, hash);
  }
});

test("a link is found by one of its ends, also of a name with a slash", () => {
  const model = modelOf([node("0x1", "ca", "host/a"), node("0x2", "ca", "b")],
                        [link("0x1/1", "0x2/3")]);
  const cable = model.linkAt("0x1", 1);
  assert.equal(thingAt(model, {kind: "link", name: "host/a/1"}), cable);
  assert.equal(thingAt(model, {kind: "link", name: "b/3"}), cable);
  assert.equal(thingAt(model, {kind: "node", name: "b"}).guid, "0x2");
  assert.ok(!thingAt(model, {kind: "link", name: "b/1"}));
  assert.ok(!thingAt(model, {kind: "link", name: "nobody/1"}));
  assert.ok(!thingAt(model, {kind: "node", name: "nobody"}));
});
