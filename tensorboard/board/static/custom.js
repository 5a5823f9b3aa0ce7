// Custom scalars: charts that the program laid out, of several tags each, or of a
// tag with a margin.
import { h, get, iconButton, empty, clear } from "./util.js";
import { visible, color, tagInfo } from "./store.js";
import { LineChart, scalarColumns, xValues, scalarRow } from "./chart.js";
import { loadCurves, curvesOf, scalarControls, options } from "./scalars.js";
import { Groups, cardHead, tagFilter } from "./groups.js";

export const id = "custom", label = "Custom", plugin = "custom_scalars";

const dashes = [undefined, [7, 4], [2, 3], [10, 3, 2, 3], [4, 4], [12, 4]];

class Card {
  constructor(entry) {
    this.entry = entry;
    this.plotEl = h("div");
    this.message = h("p", { class: "note", hidden: true });
    const sub = [...entry.chart.tags, ...entry.chart.margins.map((m) => m.value)].join(", ");
    this.el = h("article", { class: "card" },
      cardHead(entry.chart.title || "Untitled", h("p", { class: "sub", title: sub }, sub || "no such tag yet"),
        iconButton("reset", "Show all (double click)", () => this.chart.setZoom(null)),
        iconButton("expand", "Larger", (e) => {
          e.currentTarget.setAttribute("aria-pressed", String(this.el.classList.toggle("wide")));
          this.render();
        }, { "aria-pressed": "false" }),
        iconButton("download", "Save as picture (PNG)", () => this.chart.png(entry.chart.title || "chart"))),
      this.plotEl, this.message);
    this.chart = new LineChart(this.plotEl, { columns: ["Run · tag", ...scalarColumns.slice(1)] });
  }

  destroy() { this.chart.destroy(); }

  async draw() {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    const { chart } = this.entry;
    this.message.textContent = chart.error ? chart.error + "." : "";
    this.message.hidden = !chart.error;
    try {
      const runs = visible();
      const tags = new Set([...chart.tags, ...chart.margins.flatMap((m) => [m.value, m.lower, m.upper])]);
      const data = new Map();
      for (const t of tags) if (runs.some((r) => tagInfo(r, "scalars", t))) data.set(t, await loadCurves(t, runs));
      this.data = data;
      this.render();
    } catch (e) { this.message.textContent = e.message; this.message.hidden = false; }
    this.busy = false;
    if (this.again) { this.again = false; this.draw(); }
  }

  render() {
    if (!this.data) return;
    const { chart } = this.entry, list = [];
    for (const r of visible()) {
      chart.tags.forEach((t, k) => {
        const s = this.data.get(t)?.get(r.id);
        if (s) list.push(...curvesOf(s, { ...options, color: color(r), label: `${r.name} · ${t}`, dash: dashes[k % dashes.length] }));
      });
      chart.margins.forEach((m) => {
        const [v, lo, hi] = [m.value, m.lower, m.upper].map((t) => this.data.get(t)?.get(r.id));
        if (!v) return;
        if (lo && hi) {
          // Thinning may have kept other points of each: pair them by step.
          const low = new Map(lo.step.map((x, i) => [x, lo.value[i]]));
          const at = [...hi.step.keys()].filter((i) => low.has(hi.step[i]));
          const xs = xValues(hi, options.axis);
          list.push({ xs: at.map((i) => xs[i]), ys: at.map((i) => hi.value[i]), lower: at.map((i) => low.get(hi.step[i])), color: "transparent", fill: color(r), alpha: 0.18, width: 0 });
        }
        const ys = v.value; // a smoothed line would leave the band of what was measured
        list.push({ xs: xValues(v, options.axis), ys, color: color(r), width: 1.75, hover: true, row: scalarRow(v, `${r.name} · ${m.value}`, ys) });
      });
    }
    list.sort((a, b) => (a.hover ? 1 : 0) - (b.hover ? 1 : 0));
    this.chart.set(list, { x: options.axis, log: options.log, height: this.el.classList.contains("wide") ? 420 : 220, label: chart.title });
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" }), body = h("div");
  root.append(bar, body);
  let layout = [], asked = "";
  const groups = new Groups(body, {
    name: "custom", what: "custom charts", make: (e) => new Card(e),
    list: () => layout.flatMap((c, i) => c.charts.map((chart, k) => ({ key: JSON.stringify([c.title, chart, k]), match: chart.title + " " + chart.tags.join(" "), group: c.title || "Untitled " + (i + 1), chart }))),
  });
  bar.append(tagFilter(groups), ...scalarControls(() => { for (const c of groups.cards.values()) if (c.inSight) c.render(); else c.stale = true; }));
  // The layout changes only when runs come or tags appear.
  const load = async () => {
    const key = visible().map((r) => r.id + ":" + Object.values(r.tags).map((t) => t.length)).join();
    if (key === asked) return;
    asked = key;
    try { layout = (await get("custom")).categories; } catch (e) { clear(body).append(empty("The layout cannot be shown", e.message)); }
  };
  const update = async () => { await load(); groups.update(); };
  update();
  return { data: update, runs: update, theme: () => { for (const c of groups.cards.values()) c.chart.rebuild(); }, destroy: () => groups.destroy() };
}
