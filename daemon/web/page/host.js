// What there is on a host: addresses, connections, queue pairs and what else
// programs have made; and why something of it failed.
import {call, readAgain} from "./api.js";
import {button, make, renew, row} from "./elements.js";
import {addressText} from "./events.js";
import {OBJECTS, queuePairFacts, queuePairText, reasons, withProcess} from
  "./host_words.js";

const EVERY = 2000;  // ms
const MOST_LISTED = 100;

// `count`: of all, where `things` are the first ones; nothing: there are more.
function listOf(things, count, text) {
  const shown = things.slice(0, MOST_LISTED);
  const more = count === undefined ? "more" : `${count - shown.length} more`;
  return make("ul", {}, ...shown.map((thing) => make("li", {}, text(thing))),
    ...(count === shown.length ? [] : [make("li", {}, `and ${more}`)]));
}

// Of one adapter.
function connectionParts({ports, listeners, listener_count: listening,
                          connections, connection_count: connected}) {
  const addresses = ports.flatMap(({port, addresses}) =>
    addresses.map((address) => `port ${port}: ${address}`));
  return [make("h3", {}, "Addresses"),
    addresses.length ? listOf(addresses, addresses.length, (text) => text)
                     : make("p", {}, "none"),
    ...(listening ? [make("h3", {}, "Listens at"),
      listOf(listeners, listening, (one) =>
        withProcess(`${addressText(one)} ${one.space}`, one))] : []),
    ...(connected ? [make("h3", {}, "Connections"),
      listOf(connections, connected, (one) => withProcess(
        `${addressText(one.local)} – ${one.remote.node ?? ""} ` +
        `${addressText(one.remote)} ${one.space}, ${one.state}`, one))] : [])];
}

const titleOf = ({qpn}) => `queue pair ${qpn}`;

function folded(title, open, summary, ...content) {
  return make("details", {open: open.has(title), "data-title": title},
              make("summary", {}, summary), ...content);
}

// Those of its IP interfaces are the host's own, and always there.
// `attributes`: of unfolded ones, by number.
function queuePairParts({queue_pairs: queuePairs, next}, attributes, open) {
  const ofPrograms = queuePairs.filter(({pid}) => pid);
  if (!ofPrograms.length && !next) return [];
  return [make("h3", {}, "Queue pairs"),
    listOf(ofPrograms, !next ? ofPrograms.length : undefined, (qp) =>
      folded(titleOf(qp), open, queuePairText(qp), make("dl", {},
        ...queuePairFacts(qp, attributes.get(qp.qpn)).map(
          ([name, text]) => row(name, text)))))];
}

// Folded, since there may be many.
function objectParts({title}, {items, next}, text, open) {
  if (!items.length) return [];
  const count = next === null ? `${items.length}` : `more than ${items.length}`;
  return [folded(title, open, `${title}: ${count}`,
    listOf(items, next === null ? items.length : undefined, text))];
}

// A HostPanel is part of the panel of a node that is a host, until close().
export class HostPanel {
  #host;  // {node: its GUID}
  #live = make("div", {id: "connections"});
  #why = make("div", {id: "why", role: "status"});
  #closed = false;

  // `run` tells of a promise that fails.
  constructor(guid, run) {
    this.#host = {node: guid};
    this.element = make("div", {},
      make("p", {class: "actions"},
        button("What failed?", () => run(this.#explain()))),
      this.#why, this.#live);
    readAgain(() => this.#read(), EVERY, {ended: () => this.#closed});
  }

  close() {
    this.#closed = true;
  }

  async #explain() {
    const told = reasons(...await Promise.all([
      call("queue_pair.why", this.#host), call("connection.why", this.#host)]));
    this.#why.replaceChildren(told.length
      ? listOf(told, told.length, (sentence) => sentence)
      : make("p", {}, "Nothing that is remembered."));
  }

  #unfolded() {
    return new Set([...this.#live.querySelectorAll("details[open]")]
      .map(({dataset}) => dataset.title));
  }

  // Of those that are unfolded.  One may end meanwhile.
  async #attributesOf(queuePairs) {
    const open = this.#unfolded();
    const shown = queuePairs.filter((qp) => open.has(titleOf(qp)));
    return new Map(await Promise.all(shown.map(async ({qpn}) => [qpn,
      await call("qp.show", {...this.#host, qpn}).then(
        ({attributes}) => attributes, () => undefined)])));
  }

  async #read() {
    const [{adapters}, queuePairs, ...objects] = await Promise.all([
      call("node.status", this.#host), call("qp.list", this.#host),
      ...OBJECTS.map(({method}) => call(method, this.#host))]);
    const attributes = await this.#attributesOf(queuePairs.queue_pairs);
    const open = this.#unfolded();
    renew(this.#live, [...adapters.flatMap(connectionParts),
      ...queuePairParts(queuePairs, attributes, open),
      ...OBJECTS.flatMap((kind, i) =>
        objectParts(kind, objects[i], kind.text, open))]);
  }
}
