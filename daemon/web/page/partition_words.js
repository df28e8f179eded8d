// The colours and words of partitions.

const SEVERAL = "partition0";

// By the end of a link, "GUID/port": the class of its colour.
export function tonesOf(partitions) {
  const tones = new Map();
  partitions.forEach(({full, limited}, i) => {
    // A port may have a full and a limited key of one partition.
    for (const key of new Set([...full, ...limited].map((end) =>
      end.join("/")))) {
      tones.set(key, tones.has(key) ? SEVERAL : `partition${i + 1}`);
    }
  });
  return tones;
}

// Of a line, whose hosts may be in different partitions.
export function partitionTone({links}, tones) {
  const found = new Set(links.flatMap(({a, b}) => [a, b])
    .map(({guid, port}) => tones.get(`${guid}/${port}`))
    .filter((tone) => tone));
  if (!found.size) return "load0";
  return found.size > 1 ? SEVERAL : [...found][0];
}

// What the legend says: [class, text].
export function partitionMeanings({partitions, others}) {
  const ports = (count) => `${count} ${count === 1 ? "port" : "ports"}`;
  return [
    ["active", "the default partition alone"],
    ...partitions.map(({p_key: key, full, limited}, i) =>
      [`active partition${i + 1}`,
       `${key}: ${ports(full.length + limited.length)}` +
       (limited.length ? `, ${limited.length} limited` : "")]),
    [`active ${SEVERAL}`, "several of them"],
    ...(others ? [["active", `${others} more partitions have no colour`]] : []),
  ];
}
