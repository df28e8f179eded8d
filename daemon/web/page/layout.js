// Where everything is drawn: the same fabric always looks the same.

const HOST_STEP = 34, CELL_LEAST = 66, ROW_STEP = 34;
const MOST_IN_CIRCLE = 24;

const mean = (numbers) =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

function guestsOf(units) {
  const guests = new Map();
  for (const unit of units) {
    if (unit.rank !== 0) continue;
    if (!guests.has(unit.home)) guests.set(unit.home, []);
    guests.get(unit.home).push(unit);
  }
  return guests;
}

const columnsFor = (count) =>
  count <= 8 ? count : Math.ceil(Math.sqrt(count * 2));

// In rows below (x, y), the first row at y.
function placeRows(units, x, y) {
  const columns = columnsFor(units.length);
  units.forEach((unit, i) => {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, units.length - row * columns);
    unit.x = x + (i % columns - (inRow - 1) / 2) * HOST_STEP;
    unit.y = y + row * ROW_STEP;
  });
}

// Hosts below, their switches above, and so on.  Each unit of a higher layer
// stands near the middle of those that it is connected to.
function placeLayers(units, lines, aspect) {
  const guests = guestsOf(units);
  const layers = [];
  for (const unit of units) {
    if (unit.rank > 0) (layers[unit.rank] ??= []).push(unit);
  }
  const below = new Map(units.map((unit) => [unit, []]));
  for (const {a, b} of lines) {
    if (a.rank < b.rank) below.get(b).push(a);
    if (b.rank < a.rank) below.get(a).push(b);
  }
  let width = 0;
  for (const unit of layers[1]) {
    const count = guests.get(unit)?.length ?? 0;
    const cell = Math.max(CELL_LEAST, (columnsFor(count) + 0.7) * HOST_STEP);
    unit.x = width + cell / 2;
    width += cell;
  }
  const rest = 200;  // hosts, margins
  const gap = Math.max(110, (width / aspect - rest) /
                            Math.max(1, layers.length - 2));
  for (let rank = 1; rank < layers.length; ++rank) {
    const layer = layers[rank] ?? [];
    if (rank > 1) {
      const middle = new Map(layer.map((unit) =>
        [unit, below.get(unit).length ? mean(below.get(unit).map(({x}) => x))
          : width / 2]));
      layer.sort((one, other) => middle.get(one) - middle.get(other));
      layer.forEach((unit, i) => {
        unit.x = (i + 0.5) * width / layer.length;
      });
    }
    for (const unit of layer) unit.y = -gap * (rank - 1);
  }
  for (const unit of layers[1]) {
    placeRows(guests.get(unit) ?? [], unit.x, 80);
  }
  // Beside all others: who is at a higher switch, or at none.
  let lonely = width + CELL_LEAST;
  for (const [home, group] of guests) {
    if (home?.rank === 1) continue;
    placeRows(group, lonely, home ? home.y + 80 : 80);
    lonely += (columnsFor(group.length) + 1) * HOST_STEP;
  }
}

function placeCircle(units, guests) {
  const radius = Math.max(60, units.length * 32);
  units.forEach((unit, i) => {
    const angle = 2 * Math.PI * i / units.length - Math.PI / 2;
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    Object.assign(unit, {x: x * radius, y: y * radius});
    (guests.get(unit) ?? []).forEach((guest, k, all) => {
      const aside = (k - (all.length - 1) / 2) * HOST_STEP;
      guest.x = x * (radius + 70) - y * aside;
      guest.y = y * (radius + 70) + x * aside;
    });
  });
}

function placeGrid(units, guests) {
  const most = Math.max(0, ...units.map((unit) =>
    guests.get(unit)?.length ?? 0));
  const columns = Math.ceil(Math.sqrt(units.length));
  const width = Math.max(130, (columnsFor(most) + 1.5) * HOST_STEP);
  const rows = most ? Math.ceil(most / columnsFor(most)) : 0;
  const height = 90 + rows * ROW_STEP;
  units.forEach((unit, i) => {
    unit.x = (i % columns) * width;
    unit.y = Math.floor(i / columns) * height;
    // A little aside, so that no line runs straight through the next one.
    placeRows(guests.get(unit) ?? [], unit.x + 20, unit.y + 42);
  });
}

// Gives each unit its x and y, and each line the "bow" by which it keeps clear
// of what is between its ends.
// `aspect`: how much wider than high the drawing may be.
export function place({units, lines, layered}, aspect) {
  const switches = units.filter((unit) => unit.rank > 0);
  const guests = guestsOf(units);
  const tree = layered && switches.some((unit) => unit.rank === 1);
  if (switches.length === 0) {
    placeCircle(units, new Map());
  } else if (tree) {
    placeLayers(units, lines, aspect);
  } else if (switches.length <= MOST_IN_CIRCLE) {
    placeCircle(switches, guests);
    placeRows(guests.get(null) ?? [], 0, 0);
  } else {
    placeGrid(switches, guests);
    placeRows(guests.get(null) ?? [], -150, 0);
  }
  for (const line of lines) {
    const length = Math.hypot(line.a.x - line.b.x, line.a.y - line.b.y);
    const crosses = !tree && switches.length > MOST_IN_CIRCLE && length > 180;
    line.bow = line.bend * 14 + (crosses ? length / 8 : 0);
  }
}
