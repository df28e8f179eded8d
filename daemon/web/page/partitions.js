// The partitions of the subnet, of which each may have a colour.
import {call} from "./api.js";
import {partitionMeanings, partitionTone, tonesOf} from "./partition_words.js";

const EVERY = 5000;  // ms

// A Partitions asks for them again and again from follow() to stop().
export class Partitions {
  meanings = partitionMeanings({partitions: [], others: 0});
  #tones = new Map();
  #changed;
  #shown = "";
  #timer = 0;
  #followed = false;

  // `changed`: called when they are others.
  constructor(changed) {
    this.#changed = changed;
  }

  toneOf(line) {
    return partitionTone(line, this.#tones);
  }

  follow(wanted) {
    if (wanted === this.#followed) return;
    this.#followed = wanted;
    clearTimeout(this.#timer);
    if (wanted) this.#read();
  }

  async #read() {
    try {
      this.#show(await call("partitions"));
    } catch {
      // The connection is told of elsewhere; the next one may be answered.
    }
    if (this.#followed) this.#timer = setTimeout(() => this.#read(), EVERY);
  }

  #show(result) {
    const shown = JSON.stringify(result);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#tones = tonesOf(result.partitions);
    this.meanings = partitionMeanings(result);
    this.#changed();
  }
}
