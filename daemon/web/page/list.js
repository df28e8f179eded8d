// Nodes and links as a list: all that the drawing has, for the keyboard and
// for who can't see it.
import {make} from "./elements.js";
import {loadText, matches, stateOf, stateWords} from "./model.js";

const SHOWN = 200;  // at first, and again with each step beyond the end

const KINDS = {
  nodes: (model) => [...model.nodes.values()],
  links: (model) => [...model.links.values()],
  trouble: (model) => [...model.links.values()].filter((link) =>
    stateOf(link) !== "active" || link.faults.length),
  busy: (model) => model.busy,
};

export function nodeWords(node) {
  const kind = {ca: "host", switch: "switch", router: "router"}[node.type];
  const faults = node.faults.length ? ", faulty" : "";
  if (!node.plugged) return `${kind}, adapter removed${faults}`;
  return `${kind}${node.up ? "" : ", off"}${faults}`;
}

export class List {
  #model;
  #choose;
  #list = document.getElementById("list");
  #search = document.getElementById("search");
  #kind = document.getElementById("kind");
  #matches = document.getElementById("matches");
  #found = [];
  #shown = SHOWN;
  #current = 0;

  // `choose`: called with a node or a link.
  constructor(model, choose) {
    this.#model = model;
    this.#choose = choose;
    for (const [element, event] of [[this.#search, "input"],
                                    [this.#kind, "change"]]) {
      element.addEventListener(event, () => {
        this.#shown = SHOWN;
        this.#current = 0;
        this.refresh();
      });
    }
    this.#search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.#list.focus();
      else if (event.key === "Enter") this.#take();
      else return;
      event.preventDefault();
    });
    this.#list.addEventListener("keydown", (event) => this.#onKey(event));
    this.#list.addEventListener("click", (event) => {
      const item = event.target.closest("[role=option]");
      if (!item) return;
      this.#current = [...this.#list.children].indexOf(item);
      this.#take();
    });
  }

  get found() {
    return this.#found;
  }

  get kind() {
    return this.#kind.value;
  }

  focus() {
    this.#list.focus();
  }

  refresh() {
    const model = this.#model;
    const words = this.#search.value.toLowerCase().trim();
    const nodes = this.#kind.value === "nodes";
    const text = (one) => nodes ? model.nameOf(one.guid) : model.linkName(one);
    const all = KINDS[this.#kind.value](model);
    this.#found = words ? all.filter((one) => matches(model, one, words)) : all;
    this.#current = Math.max(0, Math.min(this.#current,
                                         this.#found.length - 1));
    const busy = this.#kind.value === "busy";
    const note = (one) => nodes ? nodeWords(one) : stateWords(one) +
      (busy ? `, ${loadText(one)}` : "");
    this.#show(this.#found.slice(0, this.#shown).map((one) =>
      ({text: text(one), note: note(one), state: nodes ? "" : stateOf(one)})));
    this.#say(`${this.#found.length} of ${all.length}`);
    this.#point();
  }

  // What says the same stays the same element: a click may be under way.
  #show(rows) {
    const list = this.#list;
    while (list.children.length > rows.length) list.lastChild.remove();
    rows.forEach(({text, note, state}, i) => {
      const words = `${text} ${note}`;
      if (list.children[i]?.textContent === words) return;
      const item = make("li", {id: `option-${i}`, role: "option",
                               class: state}, `${text} `,
                        make("small", {}, note));
      if (i < list.children.length) list.children[i].replaceWith(item);
      else list.append(item);
    });
  }

  #say(text) {
    if (this.#matches.textContent !== text) this.#matches.textContent = text;
  }

  #point() {
    [...this.#list.children].forEach((item, i) =>
      item.setAttribute("aria-selected", String(i === this.#current)));
    if (this.#found.length) {
      this.#list.setAttribute("aria-activedescendant",
                              `option-${this.#current}`);
    } else {
      this.#list.removeAttribute("aria-activedescendant");
    }
  }

  #take() {
    this.#point();
    if (this.#found.length) this.#choose(this.#found[this.#current]);
  }

  #onKey(event) {
    const last = this.#found.length - 1;
    const to = {ArrowDown: this.#current + 1, ArrowUp: this.#current - 1,
                PageDown: this.#current + 10, PageUp: this.#current - 10,
                Home: 0, End: Math.min(last, this.#shown - 1)}[event.key];
    if (event.key === "Enter" || event.key === " ") this.#take();
    else if (to === undefined) return;
    else this.#move(Math.max(0, Math.min(last, to)));
    event.preventDefault();
  }

  #move(to) {
    this.#current = to;
    if (to >= this.#shown) {
      this.#shown += SHOWN;
      this.refresh();
    }
    this.#point();
    this.#list.children[to]?.scrollIntoView({block: "nearest"});
  }
}
