// What the daemon is asked, and what it tells by itself.

const KEY = "ibemu-token";

// The token is in the address that the daemon told.  It stays in this tab, for
// a reload, and leaves the address bar: nobody should see, copy or bookmark it.
function takeToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given !== null) {
    sessionStorage.setItem(KEY, given);
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
  return sessionStorage.getItem(KEY) ?? "";
}

const headers = {Authorization: `Bearer ${takeToken()}`};

export class Refused extends Error {}

async function check(response) {
  if (response.ok) return response;
  const text = (await response.text()).trim();
  throw response.status === 401 ? new Refused(text) : new Error(text);
}

// Calls a method of the control socket; an error's message is the daemon's.
export async function call(method, params = {}) {
  const response = await check(await fetch("api/call", {
    method: "POST", headers,
    body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
  }));
  const answer = await response.json();
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
}

// Calls `read` now and then again and again, `every` so many milliseconds, while
// somebody looks and it is `wanted`, until it has `ended`.  That a read fails is
// told elsewhere; the next one may not.
export async function readAgain(read, every,
                                {wanted = () => true, ended = () => false} = {}) {
  while (!ended()) {
    if (!document.hidden && wanted()) await read().catch(() => {});
    await new Promise((done) => setTimeout(done, every));
  }
}

// All of a list that comes in pages: those of `nodes` count nodes, those of
// `links` say where the next one begins.  While there is more to come,
// `progress` is told how many came, and of how many if that is known.
export async function callAll(method, progress) {
  const all = [];
  for (let from = 0; from !== null;) {
    const page = await call(method, {from});
    for (const one of page[method]) all.push(one);
    const end = page.total !== undefined && all.length >= page.total;
    from = page.next !== undefined ? page.next : end ? null : all.length;
    if (from !== null) progress(all.length, page.total);
  }
  return all;
}

// A page that was left lives on in the browser's cache for the way back; its
// stream would, too, and a browser has few connections to one server.
const left = new AbortController();
addEventListener("pagehide", () => left.abort());
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// Splits text/event-stream into events: {name, data}.
export class EventParser {
  #rest = "";

  * push(text) {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    for (const block of blocks) {
      const fields = {};
      for (const line of block.split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
      }
      if (fields.data) yield {name: fields.event, data: JSON.parse(fields.data)};
    }
  }
}

// EventSource can't send the token, so this is fetch().  Returns when the
// stream has ended.
export async function listen(onEvent) {
  const response = await check(await fetch("api/events",
                                           {headers, signal: left.signal}));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    for (const event of parser.push(value)) onEvent(event.name, event.data);
  }
}
