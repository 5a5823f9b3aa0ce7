// Line charts: uPlot with curves that have x values of their own, our tooltip,
// zoom and keys.
import { h, fmt, fmtStep, fmtTicks, fmtTimeTicks, fmtTime, fmtDuration, cssVar, save, announce } from "./util.js";

/* global uPlot */

// Seconds between ticks that people count time by.
const timeSteps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 7776000, 31536000];

const tip = h("div", { class: "tip", role: "presentation", hidden: true });
document.body.append(tip);
let tipOwner = null;

function hideTip(owner) {
  if (tipOwner === owner) { tip.hidden = true; tipOwner = null; }
}

// nearest finds the place of the entry nearest to x in a rising list.
export function nearest(xs, x) {
  let lo = 0, hi = xs.length - 1;
  if (hi < 0) return -1;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (xs[mid] < x) lo = mid + 1; else hi = mid;
  }
  if (lo > 0 && Math.abs(xs[lo - 1] - x) <= Math.abs(xs[lo] - x)) lo--;
  return lo;
}

// A curve is {xs, ys, color, label?, width?, alpha?, hover?, base?, lower?, fill?,
// dash?, row?}: hover curves show in the tooltip, row(i) has the cells. base fills
// down to a value, lower to another curve's values (a band).
export class LineChart {
  constructor(root, opts) {
    this.root = root;
    this.o = { height: 220, x: "step", log: false, yPad: 0.06, ...opts };
    this.curves = [];
    this.zoom = null;
    this.plot = null;
    this.dots = [];
    root.classList.add("plot");
    root.tabIndex = 0;
    root.setAttribute("role", "img");
    root.addEventListener("keydown", (e) => this.key(e));
    root.addEventListener("blur", () => this.leave());
    this.ro = new ResizeObserver(() => this.resize());
    this.ro.observe(root);
  }

  destroy() {
    this.ro.disconnect();
    this.plot?.destroy();
    this.plot = null;
    hideTip(this);
  }

  set(curves, opts) {
    const old = this.signature();
    Object.assign(this.o, opts);
    // uPlot wants one curve at least.
    this.curves = curves.length ? curves : [{ xs: [], ys: [], color: "transparent" }];
    this.root.setAttribute("aria-label", this.o.label || "chart");
    if (this.plot && old === this.signature()) {
      this.plot.setData(this.data(), false);
      this.rescale();
    } else this.rebuild();
  }

  // What needs a new plot: everything but the data.
  signature() {
    return JSON.stringify([this.o.x, this.o.log, this.o.height, this.curves.map((c) => [c.color, c.width, c.alpha, c.dash, c.fill, c.base !== undefined, !!c.lower])]);
  }

  data() { return [null, ...this.curves.map((c) => [c.xs, c.ys])]; }

  width() { return Math.max(120, Math.floor(this.root.clientWidth)); }

  resize() {
    if (!this.root.clientWidth) return;
    if (!this.plot) this.rebuild();
    else if (this.plot.width !== this.width()) { this.plot.setSize({ width: this.width(), height: this.o.height }); hideTip(this); }
  }

  xRange() {
    if (this.zoom) return this.zoom;
    if (this.o.xRange) return this.o.xRange;
    let lo = Infinity, hi = -Infinity;
    for (const c of this.curves) {
      if (!c.xs.length) continue;
      lo = Math.min(lo, c.xs[0]);
      hi = Math.max(hi, c.xs[c.xs.length - 1]);
    }
    if (!(lo <= hi)) return [0, 1];
    if (lo === hi) return [lo - 0.5, hi + 0.5];
    const pad = (hi - lo) * 0.01;
    return [lo - (this.o.x === "value" ? 0 : pad), hi + (this.o.x === "value" ? 0 : pad)];
  }

  yRange() {
    if (this.o.yRange) return this.o.yRange;
    const [x0, x1] = this.xRange();
    let lo = Infinity, hi = -Infinity;
    for (const c of this.curves) {
      const lower = c.lower;
      for (let i = 0; i < c.xs.length; i++) {
        if (c.xs[i] < x0 || c.xs[i] > x1) continue;
        const y = c.ys[i];
        if (!Number.isFinite(y) || (this.o.log && y <= 0)) continue;
        if (y < lo) lo = y;
        if (y > hi) hi = y;
        if (lower && Number.isFinite(lower[i]) && lower[i] < lo && !(this.o.log && lower[i] <= 0)) lo = lower[i];
      }
    }
    if (!(lo <= hi)) return this.o.log ? [0.1, 10] : [0, 1];
    if (this.o.log) {
      // At least a decade, so that an axis has two labels.
      if (hi / lo < 10) return uPlot.rangeLog(lo, hi, 10, true);
      return [lo * 0.9, hi * 1.1];
    }
    if (lo === hi) { const p = Math.abs(lo) * 0.1 || 0.5; return [lo - p, hi + p]; }
    const pad = (hi - lo) * this.o.yPad;
    return [lo - pad, hi + pad];
  }

  rescale() {
    const u = this.plot;
    if (!u) return;
    const [x0, x1] = this.xRange(), [y0, y1] = this.yRange();
    u.batch(() => {
      u.setScale("x", { min: x0, max: x1 });
      u.setScale("y", { min: y0, max: y1 });
    });
    if (tipOwner === this) this.hover(u);
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    this.dots = [];
    hideTip(this);
    if (!this.root.clientWidth || !this.curves.length) return; // not laid out or nothing to show yet
    const ink = cssVar("--muted"), grid = cssVar("--grid");
    const font = "11px " + cssVar("--font");
    const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { show: false }, gap: 6 };
    const xTicks = { wall: fmtTimeTicks, relative: (s) => s.map(fmtDuration) }[this.o.x] || fmtTicks;
    const opts = {
      mode: 2, width: this.width(), height: this.o.height, legend: { show: false }, pxAlign: 0,
      padding: [8, 18, 0, 0],
      cursor: {
        y: false, points: { show: false }, dataIdx: () => null,
        drag: { x: true, y: false, setScale: false, dist: 6 },
        bind: { dblclick: () => () => { this.setZoom(null); return null; } },
      },
      scales: {
        x: { time: false, auto: false, range: () => this.xRange() },
        y: { distr: this.o.log ? 3 : 1, log: 10, auto: false, range: () => this.yRange() },
      },
      axes: [
        { ...axis, scale: "x", size: 30, space: this.o.x === "wall" ? 80 : 64, ...(this.o.x === "wall" || this.o.x === "relative" ? { incrs: timeSteps } : {}), values: (_, s) => xTicks(s) },
        {
          ...axis, scale: "y", size: (u, v) => Math.max(44, 14 + 6.6 * Math.max(0, ...(v || []).map((x) => (x || "").length))), space: 34,
          values: this.o.yTicks ? (_, s) => this.o.yTicks(s) : this.o.log ? (_, s) => s.map((v) => (v === null ? "" : fmt(v, 3))) : (_, s) => fmtTicks(s),
          ...(this.o.ySplits ? { splits: () => this.o.ySplits } : {}),
        },
      ],
      series: [null, ...this.curves.map((c, k) => ({
        facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }],
        stroke: c.color, width: c.width ?? 1.6, alpha: c.alpha ?? 1, dash: c.dash,
        fill: c.fill, points: { show: false },
        paths: (u, si) => this.path(u, si, k),
      }))],
      hooks: {
        setCursor: [(u) => this.hover(u)],
        setSelect: [(u) => {
          if (u.select.width < 6) return;
          const a = u.posToVal(u.select.left, "x"), b = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          this.setZoom([a, b]);
        }],
      },
    };
    this.plot = new uPlot(opts, this.data(), this.root);
    this.rescale();
  }

  path(u, si, k) {
    const c = this.curves[k];
    const stroke = new Path2D();
    const fill = c.fill ? new Path2D() : null;
    const log = this.o.log;
    let clip = null;
    uPlot.orient(u, si, (series, xs, ys, sx, sy, toX, toY, left, top, w, hgt) => {
      clip = new Path2D();
      clip.rect(left, top, w, hgt);
      const n = xs.length;
      // Only what is in sight, and one point beyond at either side.
      let a = 0, b = n - 1;
      if (n > 2) {
        while (a < n - 2 && xs[a + 1] < sx.min) a++;
        while (b > 1 && xs[b - 1] > sx.max) b--;
      }
      const bad = (y) => !Number.isFinite(y) || (log && y <= 0);
      let open = false, startX = 0, lastX = 0, lastY = 0, alone = false;
      // A point between gaps is a dot: a line through it alone would not be seen.
      const dot = () => {
        if (!open || !alone) return;
        stroke.moveTo(lastX + 2, lastY);
        stroke.arc(lastX, lastY, 2, 0, 2 * Math.PI);
      };
      const y0 = c.base !== undefined ? toY(c.base, sy, hgt, top) : 0;
      for (let i = a; i <= b; i++) {
        const y = ys[i];
        if (bad(y)) {
          dot();
          if (open && fill && !c.lower) { fill.lineTo(lastX, y0); fill.lineTo(startX, y0); fill.closePath(); }
          open = false;
          continue;
        }
        const px = toX(xs[i], sx, w, left), py = toY(y, sy, hgt, top);
        if (open) { stroke.lineTo(px, py); alone = false; } else { stroke.moveTo(px, py); startX = px; alone = true; }
        if (fill && !c.lower) { if (open) fill.lineTo(px, py); else fill.moveTo(px, py); }
        open = true;
        lastX = px;
        lastY = py;
      }
      dot();
      if (fill && !c.lower && open) { fill.lineTo(lastX, y0); fill.lineTo(startX, y0); fill.closePath(); }
      if (fill && c.lower) {
        const at = [];
        for (let i = a; i <= b; i++) if (!bad(ys[i]) && !bad(c.lower[i])) at.push(i);
        at.forEach((i, k) => { const p = [toX(xs[i], sx, w, left), toY(ys[i], sy, hgt, top)]; if (k) fill.lineTo(...p); else fill.moveTo(...p); });
        for (const i of at.reverse()) fill.lineTo(toX(xs[i], sx, w, left), toY(c.lower[i], sy, hgt, top));
        fill.closePath();
      }
      return null;
    });
    return { stroke, fill, clip, flags: 0 };
  }

  setZoom(range) {
    if (!range && !this.zoom) return;
    this.zoom = range && range[1] > range[0] ? range : null;
    this.rescale();
    this.o.onzoom?.(this.zoom);
  }

  leave() {
    if (this.plot && !this.root.matches(":hover")) this.plot.setCursor({ left: -10, top: -10 });
    hideTip(this);
    for (const d of this.dots) d.hidden = true;
  }

  key(e) {
    const u = this.plot;
    if (!u || e.ctrlKey || e.metaKey || e.altKey) return;
    const w = u.over.clientWidth, hgt = u.over.clientHeight;
    const left = u.cursor.left >= 0 ? u.cursor.left : w / 2;
    const step = w * (e.shiftKey ? 0.1 : 0.01);
    const [x0, x1] = this.xRange(), at = u.posToVal(left, "x");
    switch (e.key) {
      case "ArrowLeft": u.setCursor({ left: Math.max(0, left - step), top: hgt / 2 }); break;
      case "ArrowRight": u.setCursor({ left: Math.min(w, left + step), top: hgt / 2 }); break;
      case "+": case "=": this.setZoom([at - (at - x0) / 2, at + (x1 - at) / 2]); break;
      case "-": this.setZoom(this.zoom ? [at - (at - x0) * 2, at + (x1 - at) * 2] : null); break;
      case "0": case "Escape": this.setZoom(null); this.leave(); break;
      default: return;
    }
    e.preventDefault();
  }

  hover(u) {
    const { left, top } = u.cursor;
    if (left === undefined || left < 0) {
      hideTip(this);
      for (const d of this.dots) d.hidden = true;
      return;
    }
    const x = u.posToVal(left, "x");
    const [x0, x1] = this.xRange();
    let rows = [];
    for (const c of this.curves) {
      if (!c.hover || !c.xs.length) continue;
      const i = nearest(c.xs, x);
      if (c.xs[i] < x0 || c.xs[i] > x1) continue;
      // A run that ended long before the cursor has nothing to say here.
      if (this.o.x !== "value" && Math.abs(u.valToPos(c.xs[i], "x") - left) > Math.max(24, u.over.clientWidth * 0.05)) continue;
      const y = c.ys[i];
      const py = Number.isFinite(y) ? u.valToPos(y, "y") : NaN;
      rows.push({ c, i, px: u.valToPos(c.xs[i], "x"), py, far: Number.isFinite(py) ? Math.abs(py - top) : 1e9 });
    }
    rows.sort((a, b) => a.far - b.far);
    const most = this.o.maxRows || 10, more = rows.length - most;
    const closest = rows[0];
    rows = rows.slice(0, most);
    rows.sort((a, b) => (a.py || 0) - (b.py || 0));
    while (this.dots.length < rows.length) {
      const d = h("div", { class: "dot" });
      u.over.append(d);
      this.dots.push(d);
    }
    this.dots.forEach((d, k) => {
      const r = rows[k];
      d.hidden = !r || !Number.isFinite(r.py);
      if (!d.hidden) {
        d.style.transform = `translate(${r.px}px, ${r.py}px)`;
        d.style.background = r.c.dot || r.c.color;
      }
    });
    if (!rows.length) { hideTip(this); return; }
    const table = h("table", {}, h("thead", {}, h("tr", {}, h("th"), ...(this.o.columns || ["", "Value"]).map((t) => h("th", {}, t)))),
      h("tbody", {}, rows.map((r) => h("tr", { class: r === closest && rows.length > 1 ? "near" : "" },
        h("td", {}, h("span", { class: "sw", style: { background: r.c.dot || r.c.color } })), r.c.row(r.i).map((t) => h("td", {}, t))))));
    tip.replaceChildren(table);
    if (more > 0) tip.append(h("p", {}, `and ${more} more`));
    tip.hidden = false;
    tipOwner = this;
    const box = u.over.getBoundingClientRect(), size = tip.getBoundingClientRect();
    let tx = box.left + left + 18;
    if (tx + size.width > innerWidth - 8) tx = box.left + left - size.width - 18;
    let ty = Math.min(box.bottom + 10, innerHeight - size.height - 8);
    if (box.bottom + 10 + size.height > innerHeight - 8) ty = Math.max(8, box.top + top - size.height / 2);
    ty = Math.min(ty, innerHeight - size.height - 8);
    tip.style.left = Math.max(8, tx) + "px";
    tip.style.top = Math.max(8, ty) + "px";
    if (document.activeElement === this.root && closest) announce(closest.c.row(closest.i).join(", "));
  }

  // png saves the chart as it is seen, with its title.
  png(title) {
    const src = this.plot?.ctx.canvas;
    if (!src) return;
    const r = devicePixelRatio || 1, head = 30 * r;
    const c = h("canvas", { width: src.width, height: src.height + head });
    const g = c.getContext("2d");
    g.fillStyle = cssVar("--card");
    g.fillRect(0, 0, c.width, c.height);
    g.fillStyle = cssVar("--ink");
    g.font = `600 ${13 * r}px ${cssVar("--font")}`;
    g.fillText(title, 12 * r, 20 * r, c.width - 24 * r);
    g.drawImage(src, 0, head);
    c.toBlob((b) => b && save(b, title + ".png"));
  }
}

addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });

// Axis values of a scalar curve, and its row in the tooltip.
export function xValues(s, axis) {
  if (axis === "wall") return s.wall;
  if (axis === "relative") { const t = s.first ?? s.wall[0]; return s.wall.map((w) => w - t); }
  return s.step;
}

export const scalarColumns = ["Run", "Smoothed", "Value", "Step", "Time", "Relative"];

export function scalarRow(s, label, smooth) {
  return (i) => [label, fmt(smooth[i]), fmt(s.value[i]), fmtStep(s.step[i]), fmtTime(s.wall[i]), fmtDuration(s.wall[i] - (s.first ?? s.wall[0]))];
}

// smoothed is the exponential moving average without the bias of its start, as
// TensorBoard draws it. Where points were left out the weight counts for each of
// them, so that a curve looks the same however much it was thinned out.
export function smoothed(s, weight) {
  if (weight <= 0) return s.value;
  const out = new Array(s.value.length);
  let last = 0, seen = 0, before = -1;
  for (let i = 0; i < out.length; i++) {
    const v = s.value[i];
    if (!Number.isFinite(v)) { out[i] = v; continue; }
    const gap = Math.max(1, s.index[i] - before);
    before = s.index[i];
    seen += gap;
    const w = Math.pow(weight, gap);
    last = last * w + (1 - w) * v;
    out[i] = last / (1 - Math.pow(weight, seen));
  }
  return out;
}
