// The panel of what is selected: a node, a link, or what is drawn as one.
import {call} from "./api.js";
import {button, make, renew, row, say} from "./elements.js";
import {HistoryPanel} from "./history.js";
import {HostPanel} from "./host.js";
import {nodeWords} from "./list.js";
import {rateText, stateOf, stateWords} from "./model.js";
import {SwitchPanel} from "./switch.js";

const COUNTERS_EVERY = 2000;  // ms
const MOST_LISTED = 100;

export class Details {
  #title = document.getElementById("details-title");
  #body = document.getElementById("details-body");
  #model;
  #does;
  #selected = null;  // {kind: "node"|"link"|"group"|"line", id, thing}
  #live = null;  // what is replaced when something changes
  #counters = null;
  #host = null;
  #history = null;
  #forwarding = null;
  #showsAll = false;  // zero counters, too
  #timer = 0;

  // `does`: {select(thing), unfold(id), pathFrom(name), pathTo(name),
  // run(promise)}
  constructor(model, does) {
    this.#model = model;
    this.#does = does;
  }

  get selected() {
    return this.#selected;
  }

  // Nothing of what was selected is there any more.
  clear() {
    this.#leave();
    this.#selected = null;
    say(this.#title, "Details");
    this.#body.replaceChildren(
      make("p", {}, "Choose a node or a link, in the list or in the drawing."));
  }

  // What was selected is asked about no more.
  #leave() {
    clearTimeout(this.#timer);
    this.#host?.close();
    this.#history?.close();
    this.#host = this.#history = this.#forwarding = null;
  }

  show(selected, focus) {
    this.#leave();
    this.#selected = selected;
    this.#live = make("div");
    this.#counters = null;
    this.#body.replaceChildren(this.#live);
    if (selected.kind === "link") this.#addLinkParts(selected.thing);
    if (selected.kind === "node") this.#addNodeParts(selected.thing);
    this.refresh();
    if (focus) this.#title.focus();
  }

  // What is selected has been read anew: `thing`.  The panel stays as it is, but
  // for what has changed.
  renew(thing) {
    const before = this.#title.textContent;
    this.#selected.thing = thing;
    this.refresh();
    if (this.#title.textContent !== before) this.show(this.#selected, false);
    else this.#forwarding?.read();
  }

  refresh() {
    if (!this.#selected) return;
    const {kind, thing} = this.#selected;
    const [title, ...content] = {
      node: () => this.#node(thing), link: () => this.#link(thing),
      group: () => this.#group(thing), line: () => this.#line(thing),
    }[kind]();
    say(this.#title, title);
    const focused = document.activeElement;
    const had = this.#live.contains(focused);
    renew(this.#live, content);
    if (!had || this.#live.contains(document.activeElement)) return;
    const same = this.#live.querySelector(
      `[data-does="${focused.dataset.does}"]:enabled`);
    (same ?? this.#title).focus();
  }

  // A button that chooses a node or a link, as the model has it at the press.
  #chooser({guid, key}, text) {
    const {nodes, links} = this.#model;
    return button(text, () => {
      const thing = key === undefined ? nodes.get(guid) : links.get(key);
      if (thing) this.#does.select(thing);
    }, {class: "link"});
  }

  #node(node) {
    const name = this.#model.nameOf(node.guid);
    const set = (up) => this.#does.run(
      call("node.set", {node: node.guid, up}));
    const ports = node.ports.map(({port, lid, state}) =>
      `port ${port}: LID ${lid || "none"}, ${state}`);
    const links = node.links.slice(0, MOST_LISTED).map((link) => {
      const own = link.a.guid === node.guid ? link.a : link.b;
      const other = own === link.a ? link.b : link.a;
      return make("li", {class: stateOf(link)}, this.#chooser(link,
        `port ${own.port} – ${this.#model.endName(other)}`),
        ` ${stateWords(link)}`);
    });
    // What may grow comes last: buttons stay where they are.
    return [name,
      make("p", {class: "actions"},
        button("Switch off", () => set(false),
               {disabled: !node.up, "data-does": "off"}),
        button("Switch on", () => set(true),
               {disabled: node.up, "data-does": "on"}),
        button("Path from here", () => this.#does.pathFrom(name),
               {"data-does": "from"}),
        button("Path to here", () => this.#does.pathTo(name),
               {"data-does": "to"})),
      make("dl", {}, row("is", nodeWords(node)), row("GUID", node.guid),
        ...ports.map((text, i) => row(i ? "" : "ports", text)),
        row("linked", `${node.ports_linked} of ${node.port_count} ports`)),
      make("h3", {}, "Links"), make("ul", {}, ...links)];
  }

  #link(link) {
    const set = (up) => this.#does.run(
      call("link.set", {node: link.a.guid, port: link.a.port, up}));
    const end = ({guid, lid}) => this.#chooser(this.#model.nodes.get(guid),
      `${this.#model.nameOf(guid)}, LID ${lid || "none"}`);
    const {sent, received, share} = link.load;
    return [this.#model.linkName(link),
      make("p", {class: "actions"},
        button("Cut", () => set(false),
               {disabled: link.cut, "data-does": "cut"}),
        button("Restore", () => set(true),
               {disabled: !link.cut, "data-does": "restore"})),
      make("dl", {},
        row("state", make("span", {class: stateOf(link), id: "link-state"},
                          stateWords(link))),
        row("rate", link.rate ?? "none"),
        row("load", `→ ${rateText(sent)}, ← ${rateText(received)} ` +
                    `(${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %)`),
        row("from", end(link.a)), row("to", end(link.b)))];
  }

  #addLinkParts(link) {
    this.#counters = make("tbody");
    const all = make("input", {type: "checkbox", id: "all-counters",
                               onchange: (event) => {
      this.#showsAll = event.target.checked;
      this.#readCounters();
    }});
    all.checked = this.#showsAll;
    const ends = [link.a, link.b].map((end) => this.#model.endName(end));
    this.#history = new HistoryPanel(
      {node: link.a.guid, port: link.a.port}, this.#model.linkName(link));
    this.#body.append(
      this.#history.element,
      this.#faultForm("link", ends.map((name) => [name, name]),
                      "loss 5% delay 10us"),
      make("h3", {id: "counters-title"}, "Counters"),
      make("p", {}, all, make("label", {for: "all-counters"}, " zeros, too")),
      make("table", {"aria-labelledby": "counters-title"},
        make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "counter"),
          ...ends.map((name) => make("th", {scope: "col"}, name)))),
        this.#counters));
    this.#readCounters();
  }

  #addNodeParts(node) {
    const name = this.#model.nameOf(node.guid);
    if (node.type === "ca") {
      this.#host = new HostPanel(node.guid, this.#does.run);
      this.#body.append(this.#host.element);
    }
    this.#history = new HistoryPanel({node: node.guid}, name);
    this.#body.append(this.#history.element);
    if (node.type === "switch") {
      this.#forwarding =
        new SwitchPanel(this.#model, node.guid, this.#does.run);
      this.#body.append(this.#forwarding.element);
    }
    this.#body.append(
      this.#faultForm("node", [[name, name]], "slow 50ms attr PortInfo"));
  }

  // In the words of `ibemu fault`.
  #faultForm(place, ends, example) {
    const where = make("select", {id: "fault-end"}, ...ends.map(
      ([value, text]) => make("option", {value}, text)));
    const words = make("input", {id: "fault-words", required: true,
      placeholder: example, autocomplete: "off", spellcheck: "false",
      "aria-describedby": "fault-help"});
    return make("form", {id: "fault-form", onsubmit: (event) => {
      event.preventDefault();
      const what = words.value.trim().split(/\s+/);
      this.#does.run(call("fault.add",
        {words: [place, where.value, ...what]}).then(() => words.value = ""));
    }},
      make("h3", {}, "Inject a fault"),
      make("label", {for: "fault-end"}, place === "link" ? "At" : "Of"), where,
      make("label", {for: "fault-words"}, "What"), words,
      make("p", {id: "fault-help", class: "help"}, place === "link"
        ? "loss P%, corrupt P%, ber RATE, duplicate P%, reorder P%, delay TIME "
          + "[JITTER], flap PERIOD DOWN; attr NAME, dir tx or rx, seed N"
        : "slow TIME [JITTER], loss P%; attr NAME, seed N"),
      make("button", {type: "submit"}, "Inject"));
  }

  async #readCounters() {
    clearTimeout(this.#timer);
    const selected = this.#selected;
    const {a, b} = selected.thing;
    try {
      const [one, other] = await Promise.all([a, b].map(({guid, port}) =>
        call("counter.get", {node: guid, port})));
      if (this.#selected !== selected) return;
      const rows = one.counters.map(({name, value}, i) =>
        [name, value, other.counters[i].value]);
      const shown = rows.filter((values) =>
        this.#showsAll || values[1] || values[2]);
      this.#counters.replaceChildren(...shown.map(([name, ...values]) =>
        make("tr", {}, make("th", {scope: "row"}, name),
             ...values.map((value) => make("td", {}, String(value))))));
    } catch {
      // The connection is told of elsewhere; the next one may be answered.
    }
    if (this.#selected !== selected) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#readCounters(), COUNTERS_EVERY);
  }

  #group(unit) {
    const what = unit.kind === "hosts" ? "hosts" : "switches";
    const nodes = unit.nodes.slice(0, MOST_LISTED).map((node) =>
      make("li", {}, this.#chooser(node, this.#model.nameOf(node.guid)),
           ` ${nodeWords(node)}`));
    const more = unit.nodes.length - nodes.length;
    return [`${unit.nodes.length} ${what}`,
      make("p", {class: "actions"}, button("Unfold",
        () => this.#does.unfold(unit.id), {"data-does": "unfold"})),
      make("ul", {}, ...nodes),
      make("p", {}, more > 0 ? `and ${more} more: search for them` : "")];
  }

  #line({links}) {
    const listed = links.slice(0, MOST_LISTED).map((link) =>
      make("li", {class: stateOf(link)},
           this.#chooser(link, this.#model.linkName(link)),
           ` ${stateWords(link)}`));
    const more = links.length - listed.length;
    return [`${links.length} links`, make("ul", {}, ...listed),
            make("p", {}, more > 0 ? `and ${more} more: search for them` : "")];
  }
}
