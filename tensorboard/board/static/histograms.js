// Histograms: how values were distributed, step by step. Offset draws the steps
// behind each other, overlay all on the same ground.
import { h, get, num, fmt, fmtStep, fmtTime, fmtDuration, iconButton, segmented, setting, remember, cssVar } from "./util.js";
import { color, hex } from "./store.js";
import { LineChart } from "./chart.js";
import { Groups, perRun, tagFilter, cardHead } from "./groups.js";
import { runLine } from "./images.js";

export const id = "histograms", label = "Histograms", plugin = "histograms";

const options = { mode: setting("histmode", "offset"), axis: setting("histaxis", "step") };

// mix puts part of one colour over another, both #rrggbb.
function mix(a, b, t) {
  const p = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
  const x = p(a), y = p(b);
  return "#" + x.map((v, i) => Math.round(v * t + y[i] * (1 - t)).toString(16).padStart(2, "0")).join("");
}

class Card {
  constructor(entry) {
    this.entry = entry;
    this.plotEl = h("div");
    this.message = h("p", { class: "note", hidden: true });
    this.el = h("article", { class: "card" },
      cardHead(entry.name, runLine(entry),
        iconButton("expand", "Larger", (e) => {
          e.currentTarget.setAttribute("aria-pressed", String(this.el.classList.toggle("wide")));
          this.render();
        }, { "aria-pressed": "false" }),
        iconButton("download", "Save as picture (PNG)", () => this.chart.png(entry.tag + " – " + entry.run.name))),
      this.plotEl, this.message);
    this.chart = new LineChart(this.plotEl, { x: "value", columns: ["Step", "Count", "Value", "Time"], maxRows: 3 });
  }

  destroy() { this.chart.destroy(); }

  async draw() {
    try {
      this.d = await get("histograms", { tag: this.entry.tag, run: this.entry.run.id, steps: 40, bins: 40 });
      this.message.hidden = true;
      this.render();
    } catch (e) { this.message.textContent = e.message; this.message.hidden = false; }
  }

  render() {
    if (!this.d?.points.length) return;
    const { points } = this.d, lo = num(this.d.lo), hi = num(this.d.hi);
    const bins = points[0].counts.length, width = (hi - lo) / bins;
    const xs = [lo, ...Array.from({ length: bins }, (_, i) => lo + (i + 0.5) * width), hi];
    const counts = points.map((p) => { const c = p.counts.map(num); return [c[0] * 0.5, ...c, c[c.length - 1] * 0.5]; });
    let most = 0;
    for (const c of counts) for (const v of c) most = Math.max(most, v);
    const base = hex(color(this.entry.run)), paper = hex(cssVar("--card"));
    const n = points.length, offset = options.mode === "offset";
    // In offset mode the newest step stands in front, at the bottom.
    const time = (p) => options.axis === "step" ? p.step : options.axis === "relative" ? num(p.wall) - num(points[0].wall) : num(p.wall);
    const t0 = time(points[0]), t1 = time(points[n - 1]);
    const place = (p, k) => (t1 > t0 ? (t1 - time(p)) / (t1 - t0) : n > 1 ? (n - 1 - k) / (n - 1) : 0);
    const rise = offset ? Math.max(0.35, 2.2 / n) : 1;
    const curves = points.map((p, k) => {
      const at = offset ? place(p, k) : 0;
      const c = counts[k];
      const tint = mix(base, paper, n > 1 ? 0.3 + 0.7 * (k / (n - 1)) : 1);
      return {
        xs, ys: offset ? c.map((v) => at + (most ? v / most : 0) * rise) : c, base: offset ? at : undefined,
        color: offset ? mix(tint, hex(cssVar("--ink")), 0.75) : tint, width: offset ? 1 : 1.4, fill: offset ? mix(tint, paper, 0.75) : undefined,
        dot: tint, hover: true,
        row: (i) => [fmtStep(p.step), fmt(c[i], 4), fmt(xs[i], 4), fmtTime(num(p.wall))],
      };
    });
    // Newer steps cover older ones.
    const opts = { height: this.el.classList.contains("wide") ? 420 : 220, xRange: [lo, hi], label: `${this.entry.tag} of ${this.entry.run.name}: ${n} histograms` };
    if (offset) {
      const labelled = [...new Set([0, 0.25, 0.5, 0.75, 1].map((f) => Math.round(f * (n - 1))))].reverse();
      const at = new Map(labelled.map((k) => [place(points[k], k), points[k]]));
      const marks = [...at.keys()].sort((a, b) => a - b);
      opts.yRange = [-0.03, 1 + rise * 1.05];
      opts.ySplits = marks;
      opts.yTicks = (s) => s.map((v) => {
        const t = time(at.get(v) ?? points[0]);
        return options.axis === "step" ? fmtStep(t) : options.axis === "relative" ? fmtDuration(t) : fmtTime(t).slice(11);
      });
    } else {
      opts.yRange = [0, most * 1.06 || 1];
      opts.ySplits = undefined;
      opts.yTicks = undefined;
    }
    if (this.drawn !== options.mode + options.axis) this.chart.plot?.destroy(), (this.chart.plot = null);
    this.drawn = options.mode + options.axis;
    this.chart.set(curves, opts);
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, { name: "histograms", what: "histograms", list: () => perRun("histograms"), make: (e) => new Card(e) });
  const redraw = () => { for (const c of groups.cards.values()) if (c.inSight) c.render(); else c.stale = true; };
  bar.append(tagFilter(groups),
    h("div", { class: "field" }, h("span", {}, "Mode"), segmented("Mode", [["offset", "Offset"], ["overlay", "Overlay"]], options.mode, (v) => { options.mode = v; remember("histmode", v); redraw(); })),
    h("div", { class: "field" }, h("span", {}, "Order by"), segmented("Order by", [["step", "Step"], ["relative", "Relative"], ["wall", "Wall"]], options.axis, (v) => { options.axis = v; remember("histaxis", v); redraw(); })));
  groups.update();
  return {
    data: (changed) => groups.update((e) => changed.has(e.run.id)),
    runs: () => groups.update(),
    theme: redraw,
    destroy: () => groups.destroy(),
  };
}
