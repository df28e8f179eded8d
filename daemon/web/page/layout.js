// Where everything is drawn: the same fabric always looks the same.

const HOST_STEP = 34, CELL_LEAST = 66, ROW_STEP = 34;
const GROUP_LEAST = 96;  // of switches, which have two lines of words

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

const leastOf = ({kind}) => kind === "switches" ? GROUP_LEAST : CELL_LEAST;

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
// stands near the middle of those that it is connected to.  Returns the step of
// the first layer of switches.
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
    const cell = Math.max(leastOf(unit), (columnsFor(count) + 0.7) * HOST_STEP);
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
  return width / layers[1].length;
}

function placeCircle(units) {
  const radius = Math.max(60, units.length * 32);
  units.forEach((unit, i) => {
    const angle = 2 * Math.PI * i / units.length - Math.PI / 2;
    unit.x = Math.cos(angle) * radius;
    unit.y = Math.sin(angle) * radius;
  });
}

const CLEARANCE = 30;  // around a switch and its hosts
const DROP = 46;       // from a switch to its first row of hosts
const STEPS = 300;     // until a fabric has come to rest

// The room that a switch takes with the hosts below it.
function cellOf(unit, guests) {
  const count = guests.get(unit)?.length ?? 0;
  const columns = columnsFor(count);
  const rows = count ? Math.ceil(count / columns) : 0;
  return {unit, width: Math.max(leastOf(unit), columns * HOST_STEP) + CLEARANCE,
          height: CLEARANCE + (rows ? DROP + rows * ROW_STEP : 0) + 24};
}

// By how much the cells have to be drawn apart until none covers another.
function spread(cells) {
  let factor = 1;
  cells.forEach((one, i) => {
    for (const other of cells.slice(i + 1)) {
      factor = Math.max(factor, Math.min(
        (one.width + other.width) / 2 / Math.abs(one.x - other.x),
        (one.height + other.height) / 2 / Math.abs(one.y - other.y)));
    }
  });
  return factor;
}

// A spring for each cable between two cells.  `close`: a third cell has cables to
// both, which the switches of one group have, and seldom those of two.
function springsOf(cells, lines) {
  const cell = new Map(cells.map((each) => [each.unit, each]));
  const near = new Map(cells.map((each) => [each, new Set()]));
  const springs = [];
  for (const {a, b} of lines) {
    const [source, target] = [cell.get(a), cell.get(b)];
    if (!source || !target) continue;
    near.get(source).add(target);
    near.get(target).add(source);
    springs.push({source, target});
  }
  return springs.map(({source, target}) => {
    const [ones, others] = [near.get(source), near.get(target)];
    return {source, target, degree: Math.min(ones.size, others.size),
            close: [...ones].some((each) => others.has(each))};
  });
}

// Cables draw switches together, which push each other away otherwise: so
// neighbours are near each other, and groups can be told apart.
function placeByForce(switches, lines, guests, force) {
  const cells = switches.map((unit) => cellOf(unit, guests));
  const size = Math.max(...cells.map(({width, height}) =>
    Math.hypot(width, height)));
  const springs = springsOf(cells, lines);
  // Where there are groups, what joins them pulls less.
  const [length, pull] = springs.some(({close}) => close) ? [1.5, 0.6] : [1, 3];
  force.forceSimulation(cells).stop()
    .force("link", force.forceLink(springs)
      .distance(({close}) => size * (close ? 0.6 : length))
      .strength(({close, degree}) => close ? 0.9 : pull / degree))
    .force("charge", force.forceManyBody().strength(-size * 8))
    .force("x", force.forceX().strength(0.02))
    .force("y", force.forceY().strength(0.03))
    .tick(STEPS);
  const factor = spread(cells);
  for (const {unit, x, y} of cells) {
    unit.x = x * factor;
    unit.y = y * factor;
    placeRows(guests.get(unit) ?? [], unit.x, unit.y + DROP);
  }
}

// Gives each unit its x and y, and each line the "bow" by which it keeps clear
// of its neighbours; and the plan the "step" between switches side by side.
// `aspect`: how much wider than high the drawing may be; `force`: d3-force.
export function place(plan, aspect, force) {
  const {units, lines, layered} = plan;
  plan.step = CELL_LEAST + CLEARANCE;
  const switches = units.filter((unit) => unit.rank > 0);
  const guests = guestsOf(units);
  if (switches.length === 0) {
    placeCircle(units);
  } else if (layered && switches.some((unit) => unit.rank === 1)) {
    plan.step = placeLayers(units, lines, aspect);
  } else {
    placeByForce(switches, lines, guests, force);
    placeRows(guests.get(null) ?? [], -150, 0);
  }
  for (const line of lines) line.bow = line.bend * 14;
}
