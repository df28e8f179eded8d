// The words of the subnet's health.

// Says the same as long as the sweep is the last one.
function sweepWords(sweep) {
  if (!sweep) return [];
  if (sweep.under_way) return ["sweeping"];
  const all = sweep.gets + sweep.sets;
  return [`last sweep took ${sweep.seconds.toFixed(1)} s` +
    (all ? `: ${all} SMPs, ${sweep.sets} of them Set` : "")];
}

// A sentence for each thing that is worth one; the first says whether all is
// well.
export function healthSentences({wrong, managers}) {
  const names = managers.map((manager) => {
    const facts = [...(manager.master ? ["master"] : []),
                   ...sweepWords(manager.sweep)];
    return `${manager.node}/${manager.port}` +
      (facts.length ? ` (${facts.join(", ")})` : "");
  });
  return [
    wrong.length ? `${wrong.join(", ")}.` : "All links are active and clean.",
    names.length ? `Subnet managers: ${names.join(", ")}.`
      : "No port says that a subnet manager is there.",
  ];
}
