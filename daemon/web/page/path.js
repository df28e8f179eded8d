// The way from one host to another, as the forwarding tables are now.
import {call} from "./api.js";
import {make, say} from "./elements.js";

const MOST_OFFERED = 200;

export class Path {
  #model;
  #changed;
  #from = document.getElementById("path-from");
  #to = document.getElementById("path-to");
  #result = document.getElementById("path-result");
  #hops = document.getElementById("path-hops");
  #shown = null;  // {from, to}
  #latest = 0;
  nodes = [];
  links = [];

  // `changed`: called when there is another path to draw.
  constructor(model, changed) {
    this.#model = model;
    this.#changed = changed;
    document.getElementById("path-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.show(this.#from.value.trim(), this.#to.value.trim());
    });
    document.getElementById("path-clear").addEventListener("click",
      () => this.clear());
  }

  get shown() {
    return this.#shown;
  }

  show(from, to) {
    this.#from.value = from;
    this.#to.value = to;
    this.#shown = {from, to};
    this.refresh();
  }

  setFrom(name) {
    this.#from.value = name;
    this.#to.focus();
  }

  setTo(name) {
    this.#to.value = name;
    this.#from.focus();
  }

  offerHosts() {
    const hosts = [...this.#model.nodes.values()]
      .filter(({type}) => type === "ca").slice(0, MOST_OFFERED);
    document.getElementById("hosts").replaceChildren(...hosts.map(({guid}) =>
      make("option", {value: this.#model.nameOf(guid)})));
  }

  clear() {
    this.#shown = null;
    this.#latest += 1;
    this.#draw([], "");
  }

  // Also when tables or links may have changed.
  async refresh() {
    if (!this.#shown) return;
    const asked = this.#latest += 1;
    let hops = [], text;
    try {
      const path = await call("path.trace", this.#shown);
      hops = path.hops;
      text = path.end === null
        ? `${this.#shown.from} to ${this.#shown.to}: ${hops.length} nodes`
        : `Ends before ${this.#shown.to}: ${path.text}`;
    } catch (error) {
      text = error.message;
    }
    if (asked === this.#latest) this.#draw(hops, text);
  }

  #draw(hops, text) {
    const model = this.#model;
    this.nodes = hops.map(({guid}) => model.nodes.get(guid)).filter(Boolean);
    this.links = hops.filter(({exit}) => exit !== null)
      .map(({guid, exit}) => model.linkAt(guid, exit)).filter(Boolean);
    say(this.#result, text);
    this.#hops.replaceChildren(...hops.map(({guid, entry, exit}) =>
      make("li", {}, model.nameOf(guid),
        make("small", {}, (entry === null ? "" : ` in ${entry}`) +
                          (exit === null ? "" : ` out ${exit}`)))));
    this.#changed();
  }
}
