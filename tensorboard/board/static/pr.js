// Precision-recall curves: all runs of a tag in a chart, at a step.
import { h, get, num, fmt, fmtStep, iconButton } from "./util.js";
import { tagsOf, color } from "./store.js";
import { LineChart } from "./chart.js";
import { Groups, groupOf, tagFilter, cardHead } from "./groups.js";

export const id = "pr", label = "PR curves", plugin = "pr_curves";

class Card {
  constructor(entry) {
    this.entry = entry;
    this.plotEl = h("div");
    this.message = h("p", { class: "note", hidden: true });
    this.text = h("span");
    this.follow = true;
    this.steps = [];
    this.range = h("input", {
      type: "range", min: "0", max: "0", value: "0", "aria-label": "Step",
      oninput: () => { this.follow = +this.range.value === this.steps.length - 1; this.render(); },
    });
    this.el = h("article", { class: "card" },
      cardHead(entry.name, null,
        iconButton("expand", "Larger", (e) => {
          e.currentTarget.setAttribute("aria-pressed", String(this.el.classList.toggle("wide")));
          this.render();
        }, { "aria-pressed": "false" }),
        iconButton("download", "Save as picture (PNG)", () => this.chart.png(this.entry.tag))),
      h("div", { class: "stepper" }, this.text, this.range), this.plotEl, this.message);
    this.chart = new LineChart(this.plotEl, { x: "value", columns: ["Run", "Precision", "Recall", "Threshold", "TP", "FP", "TN", "FN", "Step"], xRange: [0, 1], yRange: [0, 1.03] });
  }

  destroy() { this.chart.destroy(); }

  async draw() {
    try {
      const runs = this.entry.runs.map((r) => r.run);
      this.data = await Promise.all(runs.map(async (run) => ({ run, d: await get("pr", { tag: this.entry.tag, run: run.id }) })));
      this.steps = [...new Set(this.data.flatMap((x) => x.d.points.map((p) => p.step)))].sort((a, b) => a - b);
      this.range.max = String(Math.max(0, this.steps.length - 1));
      if (this.follow) this.range.value = this.range.max;
      this.range.hidden = this.steps.length < 2;
      this.message.hidden = true;
      this.render();
    } catch (e) { this.message.textContent = e.message; this.message.hidden = false; }
  }

  render() {
    if (!this.data || !this.steps.length) return;
    const step = this.steps[+this.range.value];
    this.text.replaceChildren("Step ", h("b", {}, fmtStep(step)));
    const list = [];
    for (const { run, d } of this.data) {
      // The newest curve of this step or before it, so that runs with other steps stay.
      let p = null;
      for (const q of d.points) if (q.step <= step) p = q;
      p = p || d.points[0];
      if (!p) continue;
      const n = p.precision.length;
      const order = [...Array(n).keys()].sort((a, b) => num(p.recall[a]) - num(p.recall[b]) || b - a);
      const by = (k) => order.map((i) => num(p[k][i]));
      const [xs, ys, tp, fp, tn, fn] = ["recall", "precision", "tp", "fp", "tn", "fn"].map(by);
      list.push({
        xs, ys, color: color(run), hover: true,
        row: (i) => [run.name, fmt(ys[i]), fmt(xs[i]), fmt(order[i] / Math.max(1, n - 1), 3), fmt(tp[i]), fmt(fp[i]), fmt(tn[i]), fmt(fn[i]), fmtStep(p.step)],
      });
    }
    this.chart.set(list, { height: this.el.classList.contains("wide") ? 420 : 240, label: `${this.entry.tag}: precision over recall of ${list.length} runs` });
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, {
    name: "pr", what: "precision-recall curves",
    list: () => tagsOf("pr_curves").map((t) => ({ ...t, key: t.tag, group: groupOf(t.tag) })),
    make: (e) => new Card(e),
  });
  bar.append(tagFilter(groups), h("span", { class: "count" }, "Precision (up) over recall (right)"));
  // A card keeps its entry, whose runs change with the selection.
  const update = (changed) => groups.update(changed);
  const wrap = (f) => (e) => { const c = groups.cards.get(e.key); if (c) c.entry = e; return f(e); };
  groups.update();
  return {
    data: (changed) => update(wrap((e) => e.runs.some((r) => changed.has(r.run.id)))),
    runs: () => update(wrap(() => true)),
    theme: () => { for (const c of groups.cards.values()) c.chart.rebuild(); },
    destroy: () => groups.destroy(),
  };
}
