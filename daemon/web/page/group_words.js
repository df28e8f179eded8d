// What a group of nodes is called, by what its members are called.

const PLURALS = {leaf: "leaves", switch: "switches"};
const plural = (noun) => PLURALS[noun] ?? `${noun}s`;

const NUMBERED = /^(?:(.+)[-_./ :])?([a-z]+)[-_./ ]?\d+$/i;

// "pod-7-leaf-12": {place: "pod-7", noun: "leaf"}; null of what has no number.
function partsOf(name) {
  const [, place, noun] = NUMBERED.exec(name) ?? [];
  return noun ? {place: place ?? "", noun} : null;
}

// Where a node is, by its name; "" where its name does not say so.
export const placeOf = ({description}) => partsOf(description)?.place ?? "";

// [place or "", "18 leaves"], as far as all agree.
export function groupWords(nodes, noun) {
  const parts = nodes.map(({description}) => partsOf(description));
  const same = (key) => parts.every((part) =>
    part && part[key].toLowerCase() === parts[0][key].toLowerCase());
  return [same("place") ? parts[0].place : "",
          `${nodes.length} ${plural(same("noun") ? parts[0].noun : noun)}`];
}
