// The live view: puts the parts together.
import "./d3-force.js";  // globalThis.d3
import {addressOf, parseAddress, thingAt} from "./address.js";
import {call, callAll, listen, Refused} from "./api.js";
import {Details} from "./details.js";
import {Drawing, errorTone, loadTone, speedTone} from "./draw.js";
import {button, make, renew, say} from "./elements.js";
import {Events} from "./events.js";
import {csvOf, saveText, svgOf} from "./export.js";
import {fold} from "./fold.js";
import {Health} from "./health.js";
import {place} from "./layout.js";
import {drawLegend} from "./legend.js";
import {List} from "./list.js";
import {Model, progressWords, stateOf} from "./model.js";
import {Partitions} from "./partitions.js";
import {Path} from "./path.js";

const RECONNECT = 1000, BETWEEN_LOADS = 2000;  // ms
const byId = (id) => document.getElementById(id);

const model = new Model();
const events = new Events();
const expanded = new Set();
let plan = null;

const drawing = new Drawing(byId("drawing"), chooseDrawn);
const list = new List(model, (thing) => select(thing, true));
const path = new Path(model, () => {
  mark();
  if (path.shown) tellAddress({kind: "path", ...path.shown});
  else if (parseAddress(location.hash)?.kind === "path") forgetAddress();
});
const health = new Health(model, (thing) => select(thing, true), colour);
const partitions = new Partitions(colourAnew);
const details = new Details(model, {
  select: (thing) => select(thing, true),
  unfold: (id) => {
    expanded.add(id);
    details.clear();
    draw();
  },
  pathFrom: (name) => path.setFrom(name),
  pathTo: (name) => path.setTo(name),
  run,
});

// Where the browser's way back leads nowhere new: what is shown is not a page.
function tellAddress(shown) {
  if (location.hash === addressOf(shown)) return;
  history.replaceState(null, "", addressOf(shown));
}

function forgetAddress() {
  history.replaceState(null, "", location.pathname + location.search);
}

function followAddress() {
  const wanted = parseAddress(location.hash);
  if (!wanted) return;
  if (wanted.kind === "path") {
    path.show(wanted.from, wanted.to);
    return;
  }
  const thing = thingAt(model, wanted);
  if (thing) select(thing, false);
  else events.addText(`nothing here is called ${wanted.name}`);
}

function colour() {
  const by = byId("colour").value;
  const {fastest} = model;
  drawing.colourBy({load: loadTone,
                    speed: (line) => speedTone(line, fastest),
                    errors: (line) => errorTone(line, health.errors),
                    partition: (line) => partitions.toneOf(line)}[by]);
}

// By something else, which the legend tells.
function colourAnew() {
  colour();
  drawLegend(byId("legend"), byId("colour").value, partitions.meanings);
}

const byPartition = () => byId("colour").value === "partition";

// What fails is told where events are.
async function run(promise) {
  try {
    await promise;
  } catch (error) {
    events.addText(`refused: ${error.message}`);
    events.announce(`refused: ${error.message}`);
  }
}

function select(thing, focus) {
  const link = thing.key !== undefined;
  details.show({kind: link ? "link" : "node", thing,
                id: link ? thing.key : thing.guid}, focus);
  tellSelected(thing);
}

function tellSelected(thing) {
  tellAddress(thing.key === undefined
    ? {kind: "node", name: model.nameOf(thing.guid)}
    : {kind: "link", name: model.endName(thing.a)});
  mark();
}

function chooseDrawn(drawn) {
  if (drawn.links) {
    if (drawn.links.length === 1) return select(drawn.links[0], false);
    details.show({kind: "line", id: drawn.id, thing: drawn}, false);
  } else {
    if (drawn.nodes.length === 1) return select(drawn.nodes[0], false);
    details.show({kind: "group", id: drawn.id, thing: drawn}, false);
  }
  mark();
}

function mark() {
  const {kind, thing} = details.selected ?? {};
  const nodes = {node: () => [thing], group: () => thing.nodes}[kind]?.() ?? [];
  const links = {link: () => [thing], line: () => thing.links}[kind]?.() ?? [];
  drawing.mark([...path.nodes, ...nodes], [...path.links, ...links]);
}

// After a change of states, faults or loads: at most once in a frame.
let refreshing = false;
function refresh() {
  if (refreshing) return;
  refreshing = true;
  requestAnimationFrame(() => {
    refreshing = false;
    drawing.refresh();
    list.refresh();
    details.refresh();
    summarize();
  });
}

function summarize() {
  const counts = {ca: 0, switch: 0, router: 0};
  for (const {type} of model.nodes.values()) counts[type] += 1;
  const links = [...model.links.values()];
  const bad = links.filter((link) => stateOf(link) !== "active").length;
  const words = [`${counts.ca} hosts`, `${counts.switch} switches`];
  if (counts.router) words.push(`${counts.router} routers`);
  words.push(`${links.length} links` + (bad ? `, ${bad} not active` : ""));
  const faults = model.faults.length;
  if (faults) words.push(faults === 1 ? "1 fault" : `${faults} faults`);
  say(byId("summary"), words.join(", "));
  byId("fold").hidden = expanded.size === 0;
}

function listFaults() {
  const at = ({node, port, qpn}) => {
    if (qpn) return `queue pair ${node}/${qpn}`;
    return port === null ? node : `${node}/${port}`;
  };
  const items = model.faults.map(({name, what, ...place}) => make("li", {},
    `${name}: ${at(place)} ${what} `,
    button("Remove", () => run(call("fault.remove", {name})),
           {"aria-label": `Remove ${name}`})));
  renew(byId("faults"), items);
}

function draw() {
  plan = fold(model, expanded);
  place(plan, drawing.aspect, globalThis.d3);
  drawing.show(plan);
  colour();
  document.body.dataset.level = plan.level;
  mark();
  summarize();
}

async function readFaults() {
  model.setFaults((await call("fault.list")).faults);
  listFaults();
  refresh();
}

// Returns what tells, in place of the summary, how much of it has come.
function tellProgress(what) {
  return (count, total) =>
    say(byId("summary"), `loading ${progressWords(count, total)} ${what}`);
}

// Everything anew: at the beginning, and when changes were too many or lost.
let loading = null, again = false, lastLoad = -Infinity;
function load() {
  again = loading !== null;
  loading ??= (async () => {
    const wait = lastLoad + BETWEEN_LOADS - performance.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    lastLoad = performance.now();
    // Side by side: the daemon finds the one while the other is read here.
    const [nodes, links, {faults}] = await Promise.all([
      callAll("nodes", tellProgress("nodes")),
      callAll("links", tellProgress("links")), call("fault.list")]);
    const {kind, id} = details.selected ?? {};
    model.reset(nodes, links, faults);
    draw();
    list.refresh();
    listFaults();
    path.offerHosts();
    restoreSelection(kind, id);
    path.refresh();
    if (document.body.dataset.ready !== "true") {
      followAddress();
      health.follow();
      partitions.follow(byPartition);
    }
    document.body.dataset.ready = "true";
  })().finally(() => {
    loading = null;
    if (again) run(load());
  });
  return loading;
}

function restoreSelection(kind, id) {
  const thing = {node: () => model.nodes.get(id),
                 link: () => model.links.get(id)}[kind]?.();
  if (!thing) {
    details.clear();
    return mark();
  }
  details.renew(thing);
  tellSelected(thing);
}

const handlers = {
  past: (all) => events.setPast(all),
  hello: () => {
    connected("connected");
    run(load());
  },
  event: (event) => {
    events.add(event);
    if (event.event === "fault") run(readFaults());
    // Forwarding tables may change after links.
    if (event.event === "link" || event.event === "port") tracePathSoon();
  },
  change: (change) => {
    if (loading) again = true;
    else if (change.all || !model.change(change)) run(load());
    else refresh();
    health.readSoon();
    tracePathSoon();
  },
  load: ({links}) => {
    model.setLoads(links);
    refresh();
  },
  lost: ({events: count}) => {
    events.addText(`${count} events were too many for this page`);
    run(load());
  },
};

let tracing = 0;
function tracePathSoon() {
  clearTimeout(tracing);
  tracing = setTimeout(() => path.refresh(), 200);
}

function connected(text) {
  say(byId("connection"), text);
  byId("connection").className = text === "connected" ? "good" : "bad";
}

async function follow() {
  for (;;) {
    try {
      await listen((name, data) => handlers[name]?.(data));
      connected("the daemon has ended the connection: trying again");
    } catch (error) {
      connected(error instanceof Refused ? error.message
        : `no connection to the daemon (${error.message}): trying again`);
      if (error instanceof Refused) return;
    }
    await new Promise((done) => setTimeout(done, RECONNECT));
  }
}

byId("zoom-in").addEventListener("click", () => drawing.zoom(1.4));
byId("zoom-out").addEventListener("click", () => drawing.zoom(1 / 1.4));
byId("fit").addEventListener("click", () => drawing.fit());
byId("fold").addEventListener("click", () => {
  expanded.clear();
  details.clear();
  draw();
  byId("fit").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") list.focus();
});
byId("save-svg").addEventListener("click", () =>
  saveText("subnet.svg", "image/svg+xml", svgOf(byId("drawing"))));
byId("save-csv").addEventListener("click", () =>
  saveText(`${list.kind}.csv`, "text/csv", csvOf(model, list.found)));
byId("colour").addEventListener("change", () => {
  colourAnew();
  if (byPartition()) run(partitions.read());
});
addEventListener("hashchange", followAddress);
colourAnew();
follow();
