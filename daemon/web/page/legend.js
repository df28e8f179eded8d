// What the lines of the drawing mean: not by their colours alone.
import {make} from "./elements.js";

const MEANINGS = {
  load: [["active", "active"], ["active load2", "10 % load"],
         ["active load4", "90 % load"]],
  speed: [["active speed4", "as fast as any here"],
          ["active speed3", "half of it or more"],
          ["active speed2", "a quarter or more"], ["active speed1", "less"]],
  errors: [["active", "active"],
           ["active errors", "one of the ten ports with most errors"]],
};
const ALWAYS = [
  ["init", "not active"], ["down", "down"], ["cut", "cut ✕"],
  ["active faulty", "fault !"], ["active marked", "chosen, path"],
];

// `colour`: what active links are coloured by; `partitions`: what it means by
// partition.
export function drawLegend(list, colour, partitions) {
  list.replaceChildren();
  for (const [name, text] of [...(MEANINGS[colour] ?? partitions), ...ALWAYS]) {
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
