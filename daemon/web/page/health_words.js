// The words of the subnet's health.

const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

// A sentence for each thing that is worth one; the first says whether all is
// well.
export function healthSentences({links, slow_count: slow, managers,
                                 error_count: errors}) {
  const wrong = [];
  if (links.cut) wrong.push(`${count(links.cut, "link is", "links are")} cut`);
  if (links.down) {
    wrong.push(`${count(links.down, "link is", "links are")} down`);
  }
  if (links.init) {
    wrong.push(`${count(links.init, "link is", "links are")} up and not active`);
  }
  if (slow) {
    wrong.push(`${count(slow, "link is", "links are")} slower than ` +
               `${slow === 1 ? "it" : "they"} could be`);
  }
  if (errors) {
    wrong.push(`${count(errors, "port counts", "ports count")} errors`);
  }
  const names = managers.map(({node, port, master}) =>
    `${node}/${port}${master ? " (master)" : ""}`);
  return [
    wrong.length ? `${wrong.join(", ")}.` : "All links are active and clean.",
    names.length ? `Subnet managers: ${names.join(", ")}.`
      : "No port says that a subnet manager is there.",
  ];
}
