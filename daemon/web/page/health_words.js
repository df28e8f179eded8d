// The words of the subnet's health.

// A sentence for each thing that is worth one; the first says whether all is
// well.
export function healthSentences({wrong, managers}) {
  const names = managers.map(({node, port, master}) =>
    `${node}/${port}${master ? " (master)" : ""}`);
  return [
    wrong.length ? `${wrong.join(", ")}.` : "All links are active and clean.",
    names.length ? `Subnet managers: ${names.join(", ")}.`
      : "No port says that a subnet manager is there.",
  ];
}
