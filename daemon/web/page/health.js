// What is wrong with the subnet: links that are slower than they could be,
// ports that count errors, who manages it; and which links are the busiest.
import {call, readAgain} from "./api.js";
import {button, make, say} from "./elements.js";
import {healthSentences} from "./health_words.js";
import {loadText} from "./model.js";

const EVERY = 5000, AFTER_CHANGE = 300;  // ms
const MOST_LISTED = 10;

export class Health {
  errors = [];  // of the ports with most: {guid, port, total}
  #model;
  #select;
  #changed;
  #sentences = document.getElementById("health-sentences");
  #parts = document.getElementById("health-parts");
  #shown = "";
  #soon = 0;

  // `select`: called with a link or node.  `changed`: when errors are others.
  constructor(model, select, changed) {
    this.#model = model;
    this.#select = select;
    this.#changed = changed;
  }

  async read() {
    this.#show(await call("health"));
  }

  // Links change together, as a rule.
  readSoon() {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => this.read().catch(() => {}), AFTER_CHANGE);
  }

  // From now on.
  follow() {
    readAgain(() => this.read(), EVERY);
  }

  #show(health) {
    const model = this.#model;
    this.errors = health.errors;
    this.#changed();
    const busy = model.busy.slice(0, MOST_LISTED);
    // What says the same stays the same element: a click may be under way.
    say(this.#sentences, healthSentences(health).join(" "));
    const shown = JSON.stringify([health.slow, health.errors,
      busy.map((link) => [link.key, loadText(link)])]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const slow = health.slow.slice(0, MOST_LISTED).map((link) =>
      [model.linkAt(link.a.guid, link.a.port), model.linkName(link),
       `${link.rate}, could be ${link.could_be}`]);
    const errors = health.errors.map(({guid, port, counters}) =>
      [model.linkAt(guid, port) ?? model.nodes.get(guid),
       model.endName({guid, port}),
       counters.map(({name, value}) => `${name} ${value}`).join(", ")]);
    const loads = busy.map((link) => [link, model.linkName(link),
      `${loadText(link)}, ${(link.load.share * 100).toFixed(1)} %`]);
    this.#parts.replaceChildren(
      ...this.#list("Slower than they could be", slow, health.slow_count),
      ...this.#list("Most errors", errors, health.error_count),
      ...this.#list("Most load", loads, loads.length));
  }

  #list(title, rows, count) {
    if (!rows.length) return [];
    const more = count - rows.length;
    return [make("h3", {}, title), make("ul", {}, ...rows.map(
      ([thing, name, text]) => make("li", {},
        thing ? button(name, () => this.#select(thing), {class: "link"}) : name,
        make("small", {}, ` ${text}`))),
      ...(more > 0 ? [make("li", {}, `and ${more} more`)] : []))];
  }
}
