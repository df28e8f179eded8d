// The forwarding table of a switch, and how its uplinks share the work.
import {call} from "./api.js";
import {make, renew} from "./elements.js";

const MOST_ROUTES = 200;  // runs of LIDs

// A SwitchPanel is part of the panel of a node that is a switch.
export class SwitchPanel {
  element = make("div", {id: "forwarding"});
  #model;
  #guid;
  #run;

  // `run` tells of a promise that fails.
  constructor(model, guid, run) {
    this.#model = model;
    this.#guid = guid;
    this.#run = run;
    this.read();
  }

  // Asks for the table, again.
  read() {
    this.#run(this.#read());
  }

  async #read() {
    const {ports, routes, next} =
      await call("forwarding.show", {node: this.#guid});
    const most = Math.max(1, ...ports.map(({lids}) => lids));
    const rows = ports.map(({port, peer, lids, hosts}) => make("tr", {},
      make("th", {scope: "row"}, `${port}`),
      make("td", {class: "name"}, peer ? this.#model.endName(peer) : "itself"),
      make("td", {}, `${lids}`), make("td", {}, `${hosts}`),
      make("td", {}, make("meter", {min: 0, max: most, value: lids,
        "aria-label": `${lids} LIDs leave through port ${port}`}))));
    const heads = ["port", "to", "LIDs", "of hosts", "share"];
    const listed = routes.slice(0, MOST_ROUTES).map(([first, last, port]) =>
      make("li", {}, `${first === last ? `LID ${first}`
        : `LIDs ${first} to ${last}`}: port ${port}`));
    if (next !== null || routes.length > MOST_ROUTES) {
      listed.push(make("li", {}, "and more: ask ibroute"));
    }
    const open = this.element.querySelector("details")?.open ?? false;
    renew(this.element, [
      make("h3", {id: "forwarding-title"}, "Forwarding"),
      make("table", {"aria-labelledby": "forwarding-title"},
        make("thead", {}, make("tr", {}, ...heads.map((name) =>
          make("th", {scope: "col", class: name === "to" ? "name" : ""},
               name)))),
        make("tbody", {}, ...rows)),
      make("details", {open}, make("summary", {}, "By LID"),
        make("ul", {}, ...listed))]);
  }
}
