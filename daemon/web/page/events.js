// What happens, as a list, and aloud for screen readers.
import {make, say} from "./elements.js";

const KEPT = 200;
const BETWEEN_WORDS = 1000;  // ms: a storm of events is told in one sentence

const end = ({node, port}) => `${node}/${port}`;

// One end of a connection: node-1 198.18.0.1:7174.
export function addressText({address, port}) {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
const peer = (one) => `${one.node ?? ""} ${addressText(one)}`.trim();

function connectionText({from, to, space, state, by, why, reason}) {
  const actor = by && (by === "from" ? from : to);
  return `${peer(from)} → ${peer(to)} ${space} ${state}` +
    (actor ? ` by ${actor.node ?? addressText(actor)}` : "") +
    (why ? `: ${why}` : "") + (reason === undefined ? "" : ` (${reason})`);
}

// One line, as `ibemu events` has it.
export function eventText(event) {
  switch (event.event) {
    case "link":
      return `link ${end(event.a)} – ${end(event.b)} ${event.state}`;
    case "port":
      return `port ${end(event)} ${event.state}, LID ${event.lid}`;
    case "sm":
      return `${end(event)} ${event.is_sm ? "is" : "is no longer"} an SM`;
    case "node":
      return `node ${event.node} ${event.state}`;
    case "device":
      return `adapter of ${event.node} ${event.state}`;
    case "trap":
      return `trap ${event.trap} from ${end(event)}`;
    case "fault":
      return `fault ${event.name} at ${event.place} ${event.state}: ` +
        event.what;
    case "connection":
    case "datagram":
      return `${event.event} ${connectionText(event)}`;
    case "qp":
      return event.why;
    case "group":
      return `group ${event.group ?? event.mgid}: ${end(event)} ` +
        event.state + (event.why ? `: ${event.why}` : "");
    default: {
      const {time_ns, wall, event: kind, ...rest} = event;
      return `${kind} ${JSON.stringify(rest)}`;
    }
  }
}

export class Events {
  #list = document.getElementById("events");
  #announcement = document.getElementById("announcement");
  #filter = document.getElementById("event-filter");
  #unsaid = [];
  #timer = 0;

  constructor() {
    this.#filter.addEventListener("input", () => {
      for (const item of this.#list.children) this.#sift(item);
    });
  }

  add(event) {
    this.addText(eventText(event), event.wall.slice(11, 23));
    // Ports follow their links; who listens wants to hear of these.
    if (event.event !== "port") this.announce(eventText(event));
  }

  // What happened before the page came, the oldest first.
  setPast(events) {
    this.#list.replaceChildren();
    for (const event of events) {
      this.addText(eventText(event), event.wall.slice(11, 23));
    }
  }

  addText(text, time = "") {
    const item = make("li", {}, make("time", {}, time), ` ${text}`);
    this.#sift(item);
    this.#list.prepend(item);
    while (this.#list.children.length > KEPT) this.#list.lastChild.remove();
  }

  #sift(item) {
    const words = this.#filter.value.toLowerCase().trim();
    item.hidden = !item.textContent.toLowerCase().includes(words);
  }

  announce(text) {
    this.#unsaid.push(text);
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      const MOST_SAID = 3;
      const more = this.#unsaid.length - MOST_SAID;
      say(this.#announcement, this.#unsaid.slice(0, MOST_SAID).join("; ") +
          (more > 0 ? `; and ${more} more events` : ""));
      this.#unsaid = [];
      this.#timer = 0;
    }, BETWEEN_WORDS);
  }
}
