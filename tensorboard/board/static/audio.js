// Sounds: one card per tag and run, with a slider over the steps.
import { h, url } from "./util.js";
import { Groups, perRun, tagFilter, cardHead } from "./groups.js";
import { Steps, runLine } from "./images.js";

export const id = "audio", label = "Audio", plugin = "audio";

class Card {
  constructor(entry) {
    this.player = h("audio", { controls: true, preload: "metadata" });
    this.message = h("p", { class: "note", hidden: true });
    this.player.addEventListener("error", () => { this.message.textContent = "This sound cannot be played."; this.message.hidden = false; });
    this.steps = new Steps(entry, "audio", (i, params) => {
      const src = url("audio", params);
      if (this.src === src) return; // new points must not stop what is playing
      this.src = src;
      this.message.hidden = true;
      this.player.src = src;
    });
    this.el = h("article", { class: "card" }, cardHead(entry.name, runLine(entry)), this.steps.el, this.player, this.message);
  }

  async draw() {
    try { await this.steps.load(); } catch (e) { this.message.textContent = e.message; this.message.hidden = false; }
  }

  destroy() { this.player.pause(); }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, { name: "audio", what: "audio", list: () => perRun("audio"), make: (e) => new Card(e) });
  bar.append(tagFilter(groups));
  groups.update();
  return {
    data: (changed) => groups.update((e) => changed.has(e.run.id)),
    runs: () => groups.update(() => false),
    destroy: () => groups.destroy(),
  };
}
