// What is shown, in the address: #node=leaf-1, #link=leaf-1/3,
// #path=node-1,node-2.  So a view can be kept, sent and gone back to.

// Returns {kind, name}, and for a path {kind, from, to}; null: none of these.
export function parseAddress(hash) {
  const found = /^#(node|link|path)=(.+)$/.exec(hash);
  if (!found) return null;
  const [, kind, rest] = found;
  try {
    if (kind !== "path") return {kind, name: decodeURIComponent(rest)};
    const [from, to, ...more] = rest.split(",").map(decodeURIComponent);
    return to === undefined || more.length ? null : {kind, from, to};
  } catch {
    return null;  // no escape of what it is
  }
}

export function addressOf({kind, name, from, to}) {
  return kind === "path"
    ? `#path=${encodeURIComponent(from)},${encodeURIComponent(to)}`
    : `#${kind}=${encodeURIComponent(name)}`;
}

// The node, or the link at "NODE/PORT"; a description may have a slash, too.
export function thingAt(model, {kind, name}) {
  if (kind === "node") return model.find(name);
  const slash = name.lastIndexOf("/");
  const node = model.find(name.slice(0, slash));
  return node && model.linkAt(node.guid, Number(name.slice(slash + 1)));
}
