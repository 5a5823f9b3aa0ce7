// The scalars page, and the store of curves that other pages share.
import { h, get, url, num, iconButton, icon, segmented, checkbox, field, setting, remember, debounce } from "./util.js";
import { store, visible, tagsOf, tagInfo, color } from "./store.js";
import { LineChart, smoothed, xValues, scalarColumns, scalarRow } from "./chart.js";
import { Groups, groupOf, tagFilter, cardHead } from "./groups.js";

// ---- curves ----

const curves = new Map(); // tag → Map(run number → curve)

export function forgetCurves() { curves.clear(); }

function decode(d) {
  const step = d.step.map(num), wall = d.wall.map(num), value = d.value.map(num);
  const index = d.i || step.map((_, k) => d.from + k);
  return { n: d.n, purged: d.purged, step, wall, value, index, first: d.from === 0 ? wall[0] : undefined };
}

export function pointsFor(runs) { return Math.max(150, Math.min(1000, Math.floor(40000 / Math.max(1, runs)))); }

// loadCurves brings the curves of a tag up to date: only points that are not here
// yet are asked for, until they are so many that a thinner curve is better.
export async function loadCurves(tag, runs) {
  let m = curves.get(tag);
  if (!m) curves.set(tag, (m = new Map()));
  const points = pointsFor(runs.length);
  const want = [], have = [];
  for (const r of runs) {
    const t = tagInfo(r, "scalars", tag);
    if (!t) { m.delete(r.id); continue; }
    let c = m.get(r.id);
    if (c && (c.value.length > 2.5 * points || c.points < points / 2)) { m.delete(r.id); c = undefined; }
    if (c && c.v === t.v && c.n === t.n) continue;
    want.push(r.id);
    if (c) have.push(`${r.id}:${c.n}:${c.purged}`);
  }
  if (want.length) {
    const boot = store.boot;
    const d = await get("scalars", { tag, runs: want.join(","), points, have: have.join(",") });
    if (boot !== store.boot) return m;
    for (const s of d.series) {
      const c = decode(s), old = m.get(s.run);
      if (s.from > 0 && old && old.n === s.from && old.purged === s.purged) {
        for (const k of ["step", "wall", "value", "index"]) old[k] = old[k].concat(c[k]);
        old.n = c.n;
      } else if (s.from === 0) m.set(s.run, { ...c, points });
      else m.delete(s.run); // a gap: all of it next time
    }
    for (const id of want) { // n may have grown since the state was asked for
      const c = m.get(id), t = store.runs.get(id) && tagInfo(store.runs.get(id), "scalars", tag);
      if (c && t) c.v = t.v;
    }
  }
  return m;
}

// part fetches a stretch at full detail.
export async function loadPart(tag, runs, axis, lo, hi, signal) {
  const ids = runs.filter((r) => tagInfo(r, "scalars", tag)).map((r) => r.id);
  if (!ids.length) return new Map();
  const d = await get("scalars", { tag, runs: ids.join(","), points: pointsFor(ids.length), axis, lo, hi }, signal);
  return new Map(d.series.map((s) => [s.run, decode(s)]));
}

// refine puts a stretch at full detail into a thinner curve. What lies around it
// stays, since smoothing needs what comes before.
export function refine(whole, part) {
  if (!part?.index.length || part.purged !== whole.purged) return whole;
  const a = part.index[0], b = part.index[part.index.length - 1];
  let i = 0, j = whole.index.length;
  while (i < j && whole.index[i] < a) i++;
  while (j > i && whole.index[j - 1] > b) j--;
  const out = { ...whole };
  for (const k of ["step", "wall", "value", "index"]) out[k] = [...whole[k].slice(0, i), ...part[k], ...whole[k].slice(j)];
  return out;
}

function inOrder(xs) {
  for (let i = 1; i < xs.length; i++) if (xs[i] < xs[i - 1]) return false;
  return true;
}

// curvesOf makes what a chart draws from a run's curve: a bold line, and under it
// the values as they are when smoothing makes the two differ.
export function curvesOf(s, opts) {
  let c = s;
  let ys = smoothed(s, opts.smooth);
  let xs = xValues(s, opts.axis);
  if (!inOrder(xs)) { // a run that was started again, along time or steps
    const order = [...xs.keys()].sort((a, b) => xs[a] - xs[b]);
    const by = (a) => order.map((i) => a[i]);
    c = { ...s, step: by(s.step), wall: by(s.wall), value: by(s.value), index: by(s.index) };
    xs = by(xs);
    ys = by(ys);
  }
  const out = [];
  if (opts.smooth > 0 && opts.raw) out.push({ xs, ys: c.value, color: opts.color, width: 1, alpha: 0.25 });
  out.push({ xs, ys, color: opts.color, width: 1.75, hover: true, row: scalarRow(c, opts.label, ys), dash: opts.dash });
  return out;
}

// ---- the page ----

export const id = "scalars", label = "Scalars", plugin = "scalars";

export const options = { smooth: num(setting("smooth", 0.6)) || 0, axis: setting("axis", "step"), log: setting("log", false) === true, raw: setting("raw", true) !== false };
if (!["step", "relative", "wall"].includes(options.axis)) options.axis = "step";

export function scalarControls(redraw) {
  const change = (k) => (v) => { options[k] = v; remember(k, v); redraw(k); };
  const out = h("output", {}, options.smooth.toFixed(2));
  const save = debounce(() => remember("smooth", options.smooth), 300);
  let frame = 0;
  const range = h("input", {
    type: "range", min: "0", max: "0.999", step: "0.001", value: String(options.smooth), "aria-label": "Smoothing", id: "smoothing",
    oninput: () => {
      options.smooth = +range.value;
      out.textContent = options.smooth.toFixed(options.smooth > 0.99 ? 3 : 2);
      save();
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => redraw("smooth"));
    },
  });
  return [
    h("label", { class: "field smooth" }, h("span", {}, "Smoothing"), range, out),
    h("div", { class: "field" }, h("span", {}, "X axis"), segmented("X axis", [["step", "Step"], ["relative", "Relative"], ["wall", "Wall"]], options.axis, change("axis"))),
    checkbox("Log y", options.log, change("log")),
    checkbox("Raw values", options.raw, change("raw")),
  ];
}

class Card {
  constructor(entry) {
    this.entry = entry;
    this.plotEl = h("div");
    this.message = h("p", { class: "note", hidden: true });
    this.log = null; // null: as the page says
    this.menu = h("div", { class: "menu", hidden: true });
    this.logButton = iconButton("log", "Logarithmic axis for this chart", () => {
      this.log = !(this.log ?? options.log);
      this.render();
    }, { "aria-pressed": "false" });
    this.resetButton = iconButton("reset", "Show all (double click)", () => this.chart.setZoom(null), { disabled: true });
    const menuButton = iconButton("download", "Download", () => this.openMenu(menuButton), { "aria-haspopup": "true" });
    this.el = h("article", { class: "card" },
      cardHead(entry.name, entry.name !== entry.tag ? h("p", { class: "sub" }, entry.tag) : entry.desc ? h("p", { class: "sub", title: entry.desc }, entry.desc) : null,
        this.logButton, this.resetButton,
        iconButton("expand", "Larger", (e) => {
          const wide = this.el.classList.toggle("wide");
          e.currentTarget.setAttribute("aria-pressed", String(wide));
          this.render();
        }, { "aria-pressed": "false" }),
        h("div", { class: "menuwrap" }, menuButton, this.menu)),
      this.plotEl, this.message);
    this.chart = new LineChart(this.plotEl, { columns: scalarColumns, onzoom: (z) => this.zoomed(z) });
  }

  destroy() { this.abort?.abort(); this.chart.destroy(); }

  openMenu(button) {
    const m = this.menu;
    if (!m.hidden) { m.hidden = true; return; }
    m.replaceChildren(h("button", { type: "button", onclick: () => { m.hidden = true; this.chart.png(this.entry.tag); } }, "Picture (PNG)"),
      ...this.shown().filter((r) => tagInfo(r, "scalars", this.entry.tag)).map((r) =>
        h("a", { href: url("scalars.csv", { tag: this.entry.tag, run: r.id }), download: "", onclick: () => { m.hidden = true; } },
          h("span", { class: "sw", style: { background: color(r) } }), "CSV: " + r.name)));
    m.hidden = false;
    m.firstChild.focus();
    const close = (e) => {
      if (e.type === "keydown" ? e.key !== "Escape" : this.el.contains(e.target) && (m.contains(e.target) || button.contains(e.target))) return;
      m.hidden = true;
      if (e.type === "keydown") button.focus();
      removeEventListener("pointerdown", close, true);
      removeEventListener("keydown", close, true);
    };
    addEventListener("pointerdown", close, true);
    addEventListener("keydown", close, true);
  }

  shown() { return visible(); }

  async draw() {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    try {
      this.data = await loadCurves(this.entry.tag, this.shown());
      if (this.chart.zoom) await this.zoomed(this.chart.zoom);
      this.message.hidden = true;
      this.render();
    } catch (e) {
      this.message.textContent = e.message;
      this.message.hidden = false;
    }
    this.busy = false;
    if (this.again) { this.again = false; this.draw(); }
  }

  async zoomed(z) {
    this.resetButton.disabled = !z;
    this.abort?.abort();
    this.part = null;
    if (!z) { this.render(); return; }
    this.abort = new AbortController();
    try {
      this.part = await loadPart(this.entry.tag, this.shown(), options.axis, z[0], z[1], this.abort.signal);
      this.render();
    } catch { /* the thinner curve stays */ }
  }

  render() {
    if (!this.data) return;
    const runs = this.shown().filter((r) => this.data.has(r.id));
    const list = [];
    for (const r of runs) {
      const s = refine(this.data.get(r.id), this.part?.get(r.id));
      list.push(...curvesOf(s, { ...options, raw: options.raw && runs.length <= 30, color: color(r), label: r.name }));
    }
    // Raw values lie under all lines.
    list.sort((a, b) => (a.hover ? 1 : 0) - (b.hover ? 1 : 0));
    const log = this.log ?? options.log;
    this.logButton.setAttribute("aria-pressed", String(log));
    this.chart.set(list, { x: options.axis, log, height: this.el.classList.contains("wide") ? 420 : 220, label: `${this.entry.tag}: chart of ${runs.length} run${runs.length === 1 ? "" : "s"}. Arrow keys read values, plus and minus zoom, 0 shows all.` });
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, {
    name: "scalars", what: "scalars",
    list: () => tagsOf("scalars").map((t) => ({ ...t, key: t.tag, group: groupOf(t.tag) })),
    make: (e) => new Card(e),
  });
  bar.append(tagFilter(groups), ...scalarControls((what) => {
    for (const c of groups.cards.values()) {
      if (what === "axis" && c.chart.zoom) { c.chart.zoom = null; c.part = null; c.resetButton.disabled = true; }
      if (c.inSight) c.render(); else c.stale = true;
    }
  }));
  groups.update();
  return {
    data: (changed) => groups.update((e) => e.runs.some((r) => changed.has(r.run.id))),
    runs: () => groups.update(),
    theme: () => { for (const c of groups.cards.values()) c.chart.rebuild(); },
    destroy: () => groups.destroy(),
  };
}
