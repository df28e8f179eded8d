// What the page gives away as files: the drawing, and what was found.
import {stateOf} from "./model.js";

const SVG = "http://www.w3.org/2000/svg";

export function saveText(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.click();
  URL.revokeObjectURL(link.href);
}

// As RFC 4180 has it.  What begins like a formula of a spreadsheet is none.
export function csvField(value) {
  const text = String(value ?? "");
  const safe = /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text))
    ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const lines = (rows) =>
  rows.map((row) => row.map(csvField).join(",") + "\r\n").join("");

// Of nodes, or of links.
export function csvOf(model, things) {
  if (things[0]?.key === undefined) {
    return lines([["node", "type", "guid", "lid", "up", "ports_linked",
                   "port_count"],
      ...things.map((node) => [node.description, node.type, node.guid,
        node.ports.map(({lid}) => lid).join(" "), node.up, node.ports_linked,
        node.port_count])]);
  }
  return lines([["node_a", "port_a", "guid_a", "node_b", "port_b", "guid_b",
                 "state", "rate", "bytes_per_second", "bytes_per_second_back",
                 "share"],
    ...things.map((link) => [
      ...[link.a, link.b].flatMap(({guid, port}) =>
        [model.nodes.get(guid)?.description, port, guid]),
      stateOf(link), link.rate, Math.round(link.load.sent),
      Math.round(link.load.received), link.load.share])]);
}

// The drawing as it is seen, with the page's style in it.
export function svgOf(drawing) {
  const copy = drawing.cloneNode(true);
  const {clientWidth: width, clientHeight: height} = drawing;
  for (const name of ["role", "tabindex", "id", "aria-labelledby",
                      "aria-describedby"]) {
    copy.removeAttribute(name);
  }
  for (const [name, value] of Object.entries({
    xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`})) {
    copy.setAttribute(name, value);
  }
  copy.querySelectorAll(".hit").forEach((hit) => hit.remove());
  const style = document.createElementNS(SVG, "style");
  style.textContent = [...document.styleSheets].flatMap(({cssRules}) =>
    [...cssRules]).map(({cssText}) => cssText).join("\n") +
    "\ntext { font-family: system-ui, 'DejaVu Sans', sans-serif; }";
  copy.prepend(style);
  return new XMLSerializer().serializeToString(copy);
}
