// The partitions of the subnet, of which each may have a colour.
import {call, readAgain} from "./api.js";
import {partitionMeanings, partitionTone, tonesOf} from "./partition_words.js";

const EVERY = 5000;  // ms

export class Partitions {
  meanings = partitionMeanings({partitions: [], others: 0});
  #tones = new Map();
  #changed;
  #shown = "";

  // `changed`: called when they are others.
  constructor(changed) {
    this.#changed = changed;
  }

  toneOf(line) {
    return partitionTone(line, this.#tones);
  }

  async read() {
    this.#show(await call("partitions"));
  }

  // From now on, while they are `wanted`.
  follow(wanted) {
    readAgain(() => this.read(), EVERY, {wanted});
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
