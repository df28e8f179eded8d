// The drawing: SVG, so that it follows the style sheet.
import {groupWords} from "./group_words.js";
import {loadLevel, speedOf, STATES, stateOf} from "./model.js";

const SVG = "http://www.w3.org/2000/svg";
// Between neighbours, on the screen: for names, and for names that stand
// upright.
const PIXELS_FOR_LABELS = 56, PIXELS_FOR_UPRIGHT = 13;
const MANY_LINES = 300;
const LEAST_SCALE = 0.02;

function make(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function shapeOf(unit) {
  switch (unit.kind) {
    case "host":
      return [make("circle", {r: 9})];
    case "hosts":
      return [make("rect", {x: -24, y: -10, width: 48, height: 26, rx: 11}),
              make("rect", {x: -27, y: -14, width: 54, height: 26, rx: 11})];
    case "switches":
      return [make("rect", {x: -38, y: -12, width: 84, height: 34, rx: 3}),
              make("rect", {x: -42, y: -17, width: 84, height: 34, rx: 3})];
    case "router":
      return [make("path", {d: "M0-18 24 0 0 18-24 0Z"})];
    default:
      return [make("rect", {x: -26, y: -12, width: 52, height: 24, rx: 3})];
  }
}

// The classes of lines by which they are coloured.
export function loadTone({links}) {
  return `load${loadLevel(Math.max(...links.map(({load}) => load.share)))}`;
}

// Those of the slowest link that is up.
export function speedTone({links}, fastest) {
  const speeds = links.map(speedOf).filter((speed) => speed);
  const share = speeds.length ? Math.min(...speeds) / fastest : 1;
  return `speed${[0.25, 0.5, 0.999].filter((bound) => share >= bound).length + 1}`;
}

export function errorTone({links}, errors) {
  const counts = (end) => errors.some(({guid, port}) =>
    guid === end.guid && port === end.port);
  return links.some(({a, b}) => counts(a) || counts(b)) ? "errors" : "load0";
}

// The lines of a label.
function unitLines(unit) {
  if (unit.kind === "hosts") return [`${unit.nodes.length} hosts`];
  if (unit.kind !== "switches") {
    return [unit.nodes[0].description || unit.nodes[0].guid];
  }
  return groupWords(unit.nodes, "switch").filter((words) => words);
}

// "pod-7: 18 leaves"
export const unitLabel = (unit) => unitLines(unit).join(": ");

// A name of one node stands upright where there is little room.  A group has two
// labels: one that lies, of which the first words stay when there is less room,
// and one that stands.
function labelsOf(unit) {
  const lines = unitLines(unit);
  if (unit.nodes.length === 1) {
    return [make("text", {class: "label", y: unit.kind === "host" ? 22 : 4},
                 shorten(lines[0]))];
  }
  const [first, more] = lines.length > 1
    ? [shorten(lines[0]), make("tspan", {x: 0, dy: "1.2em"}, lines[1])]
    : [lines[0].split(" ")[0],
       make("tspan", {}, ` ${lines[0].split(" ")[1]}`)];
  return [make("text", {class: "label lying", y: lines.length > 1 ? -3 : 3},
               first, more),
          make("text", {class: "label standing", dy: ".35em"},
               standingLabel(unit))];
}

const standingLabel = (unit) => unitLines(unit).map(shorten).join(": ");

const shorten = (text) => text.length > 14 ? `${text.slice(0, 13)}…` : text;

// On the screen, for the names of these that stand upright.
const roomFor = (units) =>
  Math.max(24, ...units.map((unit) => standingLabel(unit).length * 6 + 4));

function pathOf({a, b, bow}) {
  if (!bow) return `M${a.x} ${a.y}L${b.x} ${b.y}`;
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const x = (a.x + b.x) / 2 - (b.y - a.y) / length * bow * 2;
  const y = (a.y + b.y) / 2 + (b.x - a.x) / length * bow * 2;
  return `M${a.x} ${a.y}Q${x} ${y} ${b.x} ${b.y}`;
}

function middleOf({a, b, bow}) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  return [(a.x + b.x) / 2 - (b.y - a.y) / length * bow,
          (a.y + b.y) / 2 + (b.x - a.x) / length * bow];
}

export class Drawing {
  #svg;
  #scene = make("g", {});
  #units = new Map();  // by unit: its element
  #lines = new Map();  // by line: its elements
  #lineOf = new Map();  // by link
  #plan = {units: [], lines: [], unitOf: new Map(), step: 1};
  #view = {x: 0, y: 0, scale: 1};
  #marked = [];
  #tone = (line) => loadTone(line);
  #touched = false;

  // `choose`: called with a unit or a line.
  constructor(svg, choose) {
    this.#svg = svg;
    svg.append(this.#scene);
    this.#listen(choose);
    new ResizeObserver(() => this.#touched || this.fit()).observe(svg);
  }

  get aspect() {
    const {clientWidth, clientHeight} = this.#svg;
    return clientWidth && clientHeight ? clientWidth / clientHeight : 1.5;
  }

  show(plan) {
    this.#plan = plan;
    this.#units.clear();
    this.#lines.clear();
    this.#lineOf.clear();
    const lines = make("g", {}), units = make("g", {});
    for (const line of plan.lines) {
      const d = pathOf(line);
      const [x, y] = middleOf(line);
      const badge = make("text", {class: "badge", x, y: y + 5});
      const element = make("g", {"data-line": line.id},
        make("path", {class: "hit", d}), make("path", {class: "line", d}),
        badge);
      this.#lines.set(line, {element, badge});
      for (const link of line.links) this.#lineOf.set(link, line);
      lines.append(element);
    }
    for (const unit of plan.units) {
      const element = make("g", {"data-unit": unit.id,
        transform: `translate(${unit.x} ${unit.y})`}, ...shapeOf(unit),
        ...labelsOf(unit), make("title", {}, unitLabel(unit)));
      this.#units.set(unit, element);
      units.append(element);
    }
    this.#svg.classList.toggle("dense", plan.lines.length > MANY_LINES);
    this.#scene.replaceChildren(lines, units);
    this.refresh();
    if (!this.#touched) this.fit();
  }

  // `tone`: gives the class of a line's colour, by what its links are.
  colourBy(tone) {
    this.#tone = tone;
    this.refresh();
  }

  // States and loads, of what is drawn already.
  refresh() {
    for (const [line, {element, badge}] of this.#lines) {
      const states = line.links.map(stateOf);
      const worst = states.reduce((one, other) =>
        STATES.indexOf(one) > STATES.indexOf(other) ? one : other);
      const faulty = line.links.some((link) => link.faults.length);
      const bad = states.filter((state) => state === worst).length;
      const part = worst !== "active" && line.links.length > 1;
      badge.textContent = (part ? `${bad} of ${line.links.length} ` : "") +
        (worst === "cut" ? "✕" : "") + (faulty ? "!" : "");
      element.setAttribute("class", `${worst} ${this.#tone(line)}` +
        (faulty ? " faulty" : "") + (line.links.length > 1 ? " many" : "") +
        (this.#marked.includes(line) ? " marked" : ""));
    }
    for (const [unit, element] of this.#units) {
      const off = unit.nodes.filter((node) => !node.up).length;
      const faulty = unit.nodes.some((node) => node.faults.length);
      element.setAttribute("class", unit.kind +
        (off === unit.nodes.length ? " off" : off ? " some-off" : "") +
        (faulty ? " faulty" : "") +
        (this.#marked.includes(unit) ? " marked" : ""));
    }
  }

  // What is selected, or on a path.
  mark(nodes, links) {
    const {unitOf} = this.#plan;
    this.#marked = [...nodes.map((node) => unitOf.get(node)),
                    ...links.map((link) => this.#lineOf.get(link))];
    this.refresh();
  }

  fit() {
    const {units} = this.#plan;
    const {clientWidth, clientHeight} = this.#svg;
    if (!units.length || !clientWidth) return;
    const around = 34, margin = 24;  // of a unit; on the screen
    const xs = units.map(({x}) => x), ys = units.map(({y}) => y);
    const highest = Math.min(...ys);
    const above = roomFor(units.filter(({y}) => y === highest));
    const below = roomFor(units.filter(({kind}) => kind === "hosts"));
    const [left, top] = [Math.min(...xs) - around, highest - around];
    const width = Math.max(...xs) + around - left;
    const height = Math.max(...ys) + around - top;
    const scale = Math.max(LEAST_SCALE, Math.min(
      1.6, (clientWidth - 2 * margin) / width,
      (clientHeight - below - above) / height));
    this.#touched = false;
    this.#look({scale,
      x: (clientWidth - width * scale) / 2 - left * scale,
      y: (clientHeight + above - below - height * scale) / 2 - top * scale});
  }

  zoom(factor, x = this.#svg.clientWidth / 2, y = this.#svg.clientHeight / 2) {
    const scale = Math.min(8, Math.max(LEAST_SCALE, this.#view.scale * factor));
    const ratio = scale / this.#view.scale;
    this.#touched = true;
    this.#look({scale, x: x - (x - this.#view.x) * ratio,
                y: y - (y - this.#view.y) * ratio});
  }

  pan(dx, dy) {
    this.#touched = true;
    this.#look({...this.#view, x: this.#view.x + dx, y: this.#view.y + dy});
  }

  #look(view) {
    this.#view = view;
    this.#scene.setAttribute("transform",
      `translate(${view.x} ${view.y}) scale(${view.scale})`);
    // Thin lines and small letters stay what they are on the screen.
    this.#svg.style.setProperty("--unit", 1 / Math.min(1, view.scale));
    const apart = this.#plan.step * view.scale;
    this.#svg.classList.toggle("plain", apart < PIXELS_FOR_LABELS);
    this.#svg.classList.toggle("upright", apart < PIXELS_FOR_LABELS &&
                                          apart >= PIXELS_FOR_UPRIGHT);
    this.#svg.classList.toggle("small", view.scale < 0.85);
  }

  #listen(choose) {
    const svg = this.#svg;
    let held = null, moved = false;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      held = {x: event.clientX, y: event.clientY};
      moved = false;
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      if (!moved) svg.setPointerCapture(event.pointerId);
      moved = true;
      held = {x: event.clientX, y: event.clientY};
      this.pan(dx, dy);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, () => held = null);
    }
    svg.addEventListener("click", (event) => {
      if (moved) return;
      const {line, unit} = event.target.closest("[data-line],[data-unit]")
        ?.dataset ?? {};
      const found = unit !== undefined
        ? this.#plan.units.find(({id}) => id === unit)
        : this.#plan.lines.find(({id}) => id === line);
      if (found) choose(found);
    });
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left,
                event.clientY - box.top);
    }, {passive: false});
    svg.addEventListener("keydown", (event) => {
      const step = 60;
      const action = {
        ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
        ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step),
        "+": () => this.zoom(1.25), "-": () => this.zoom(0.8),
        "0": () => this.fit(),
      }[event.key];
      if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      action();
    });
  }
}
