// What the lines of the drawing mean: not by their colours alone.
import {make} from "./elements.js";

const MEANINGS = [
  ["active", "active"], ["active load2", "10 % load"],
  ["active load4", "90 % load"], ["init", "not active"], ["down", "down"],
  ["cut", "cut ✕"], ["active faulty", "fault !"],
  ["active marked", "chosen, path"],
];

export function drawLegend(list) {
  for (const [name, text] of MEANINGS) {
    const image = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    image.setAttribute("class", "sample");
    image.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(image.namespaceURI, "g");
    line.setAttribute("class", name);
    const path = document.createElementNS(image.namespaceURI, "path");
    path.setAttribute("class", "line");
    path.setAttribute("d", "M2 7H46");
    line.append(path);
    image.append(line);
    list.append(make("div", {}, make("dt", {}, image), make("dd", {}, text)));
  }
}
