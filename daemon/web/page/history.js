// What a link, or all links of a node, carried and counted in the last half
// hour.
import {call, readAgain} from "./api.js";
import {button, make, say} from "./elements.js";
import {saveText} from "./export.js";
import {KINDS, agoText, historyCsv, historyWords, pointsOf}
  from "./history_words.js";

const EVERY = 5000;  // ms

// The library is large, so it comes when it is needed.
const chart = () => import("./chart.min.js").then(() => globalThis.Chart);

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What was chosen last is shown of the next link, too.
let shownKind = "load";

// A HistoryPanel is part of the panel of a link or node, until close().
export class HistoryPanel {
  #place;  // {node: GUID, port}, or without port
  #name;
  #words = make("p", {class: "help"});
  #canvas = make("canvas", {role: "img"});
  #chart = null;
  #points = [];
  #closed = false;

  constructor(place, name) {
    this.#place = place;
    this.#name = name;
    this.element = make("div", {id: "history"},
      make("h3", {}, "Over time"),
      make("label", {}, "Show ", make("select", {
        onchange: ({target}) => this.#choose(target.value)},
        ...Object.entries(KINDS).map(([value, {title}]) =>
          make("option", {value, selected: value === shownKind}, title)))),
      this.#words,
      make("div", {class: "chart"}, this.#canvas),
      make("p", {class: "actions"}, button("Save all as CSV",
        () => saveText(`${this.#name}.csv`, "text/csv",
                       historyCsv(this.#points)))));
    readAgain(() => this.#read(), EVERY, {ended: () => this.#closed});
  }

  close() {
    this.#closed = true;
    this.#chart?.destroy();
  }

  async #choose(kind) {
    shownKind = kind;
    this.#chart?.destroy();
    this.#chart = null;
    await this.#draw();
  }

  async #read() {
    const history = await call("link.history", this.#place);
    if (this.#closed) return;
    this.#points = pointsOf(history);
    await this.#draw();
  }

  async #draw() {
    const kind = shownKind;
    const words = historyWords(this.#points, kind);
    say(this.#words, words);
    this.#canvas.setAttribute("aria-label",
                              `${KINDS[kind].title} over time: ${words}`);
    const Chart = await chart();
    if (this.#closed || kind !== shownKind) return;
    this.#chart ??= this.#make(Chart, KINDS[kind]);
    KINDS[kind].keys.forEach((key, i) => {
      this.#chart.data.datasets[i].data =
        this.#points.map((point) => ({x: point.seconds, y: point[key]}));
    });
    this.#chart.update();
  }

  #make(Chart, {names, text, least}) {
    const line = (label, name, dash) => ({label, data: [], borderWidth: 2,
      borderColor: colour(name), backgroundColor: colour(name),
      borderDash: dash, pointRadius: 0});
    const scale = (callback) => ({type: "linear",
      ticks: {callback, color: colour("--quiet"), maxTicksLimit: 5,
              maxRotation: 0},
      grid: {color: colour("--edge")}});
    return new Chart(this.#canvas, {type: "line",
      data: {datasets: names.map((name, i) =>
        i ? line(name, "--busy", [5, 3]) : line(name, "--focus", []))},
      options: {animation: false, maintainAspectRatio: false,
        interaction: {mode: "index", intersect: false},
        plugins: {
          legend: {position: "bottom", labels: {color: colour("--front")}},
          tooltip: {callbacks: {
            title: ([{parsed}]) => agoText(parsed.x),
            label: ({dataset, parsed}) =>
              `${dataset.label} ${text(parsed.y)}`}}},
        scales: {x: {...scale(agoText), suggestedMin: -60, max: 0},
                 y: {...scale(text), beginAtZero: true,
                     suggestedMax: least}}}});
  }
}
