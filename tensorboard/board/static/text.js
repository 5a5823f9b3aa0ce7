// Text: Markdown that the server has rendered and cleaned.
import { h, get, fmtStep, fmtTime } from "./util.js";
import { Groups, perRun, tagFilter, cardHead } from "./groups.js";
import { runLine } from "./images.js";

export const id = "text", label = "Text", plugin = "text";

// The one place where HTML from the server becomes elements. The browser refuses
// all others (trusted types), and runs no script in any case (the policy in the
// page's headers).
const policy = globalThis.trustedTypes?.createPolicy("markdown", { createHTML: (s) => s });

function rendered(html) {
  const el = h("div", { class: "md" });
  el.innerHTML = policy ? policy.createHTML(html) : html;
  return el;
}

class Card {
  constructor(entry) {
    this.entry = entry;
    this.body = h("div");
    const name = entry.name.replace(/\/text_summary$/, "");
    this.el = h("article", { class: "card" }, cardHead(name, runLine(entry)), this.body);
  }

  async draw() {
    try {
      const d = await get("text", { tag: this.entry.tag, run: this.entry.run.id });
      this.body.replaceChildren(...d.points.map((p) => h("div", { class: "textpoint" },
        h("div", { class: "when" }, `Step ${fmtStep(p.step)} · ${fmtTime(Number(p.wall))}`), rendered(p.html))));
      if (d.n > d.points.length) this.body.append(h("p", { class: "note" }, `The newest ${d.points.length} of ${d.n}.`));
    } catch (e) { this.body.replaceChildren(h("p", { class: "note" }, e.message)); }
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, { name: "text", what: "text", list: () => perRun("text"), make: (e) => new Card(e) });
  bar.append(tagFilter(groups));
  groups.update();
  return {
    data: (changed) => groups.update((e) => changed.has(e.run.id)),
    runs: () => groups.update(() => false),
    destroy: () => groups.destroy(),
  };
}
