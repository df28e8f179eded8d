// What a link, or all links of a node, carried in the last half hour.
import {call} from "./api.js";
import {button, make, say} from "./elements.js";
import {saveText} from "./export.js";
import {agoText, historyCsv, historyWords, pointsOf}
  from "./history_words.js";
import {rateText} from "./model.js";

const EVERY = 5000;  // ms

// The library is large, so it comes when it is needed.
const chart = () => import("./chart.min.js").then(() => globalThis.Chart);

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A HistoryPanel is part of the panel of a link or node, until close().
export class HistoryPanel {
  #place;  // {node: GUID, port}, or without port
  #name;
  #words = make("p", {class: "help"});
  #canvas = make("canvas", {role: "img"});
  #chart = null;
  #points = [];
  #timer = 0;
  #closed = false;

  constructor(place, name) {
    this.#place = place;
    this.#name = name;
    this.element = make("div", {id: "history"},
      make("h3", {}, "Load over time"), this.#words,
      make("div", {class: "chart"}, this.#canvas),
      make("p", {class: "actions"}, button("Save load as CSV",
        () => saveText(`${this.#name}.csv`, "text/csv",
                       historyCsv(this.#points)))));
    this.#read();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#chart?.destroy();
  }

  async #read() {
    try {
      const history = await call("link.history", this.#place);
      if (!this.#closed) await this.#show(history);
    } catch {
      // The connection is told of elsewhere; the next one may be answered.
    }
    if (!this.#closed) this.#timer = setTimeout(() => this.#read(), EVERY);
  }

  async #show(history) {
    this.#points = pointsOf(history);
    const words = historyWords(this.#points);
    say(this.#words, words);
    this.#canvas.setAttribute("aria-label", `Load over time: ${words}`);
    this.#chart ??= this.#make(await chart());
    const [sent, received] = this.#chart.data.datasets;
    sent.data = this.#points.map(({seconds, sent: y}) => ({x: seconds, y}));
    received.data = this.#points.map(({seconds, received: y}) =>
      ({x: seconds, y}));
    this.#chart.update();
  }

  #make(Chart) {
    const line = (label, name, dash) => ({label, data: [], borderWidth: 2,
      borderColor: colour(name), backgroundColor: colour(name),
      borderDash: dash, pointRadius: 0});
    const scale = (callback) => ({type: "linear",
      ticks: {callback, color: colour("--quiet"), maxTicksLimit: 5,
              maxRotation: 0},
      grid: {color: colour("--edge")}});
    return new Chart(this.#canvas, {type: "line",
      data: {datasets: [line("sent", "--focus", []),
                        line("received", "--busy", [5, 3])]},
      options: {animation: false, maintainAspectRatio: false,
        interaction: {mode: "index", intersect: false},
        plugins: {
          legend: {position: "bottom", labels: {color: colour("--front")}},
          tooltip: {callbacks: {
            title: ([{parsed}]) => agoText(parsed.x),
            label: ({dataset, parsed}) =>
              `${dataset.label} ${rateText(parsed.y)}`}}},
        scales: {x: {...scale(agoText), suggestedMin: -60, max: 0},
                 y: {...scale(rateText), beginAtZero: true, suggestedMax: 1000}}}});
  }
}
