// Hyperparameters: a table, and parallel coordinates.
import { h, svg, get, num, fmt, segmented, field, select, setting, remember, empty, clear, save } from "./util.js";
import { store, visible, color } from "./store.js";

export const id = "hparams", label = "HParams", plugin = "hparams";

const dash = "–";

function show(v) {
  if (v === null || v === undefined) return dash;
  if (typeof v === "boolean") return v ? "true" : "false";
  if (typeof v === "number" || ["NaN", "Infinity", "-Infinity"].includes(v)) return fmt(num(v), 5);
  return String(v);
}

// ramp is a scale of colours for values between 0 and 1 that reads on white and black.
const stops = [[68, 84, 180], [40, 150, 170], [70, 175, 100], [225, 175, 40], [225, 90, 50]];
export function ramp(t) {
  if (!Number.isFinite(t)) return "#8a97a3";
  const x = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(x)), f = x - i;
  return `rgb(${stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * f)).join(" ")})`;
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" }), body = h("div");
  root.append(bar, body);
  let data = null, sort = null, mode = setting("hpmode", "table"), by = setting("hpby", ""), brushes = new Map();

  const rowsOf = () => {
    const ids = new Set(visible().map((r) => r.id));
    return data.sessions.filter((s) => ids.has(s.run) && store.runs.has(s.run)).map((s) => ({ ...s, name: store.runs.get(s.run).name, run: store.runs.get(s.run) }));
  };
  const columns = () => [
    ...data.params.map((name, i) => ({ name, key: "p:" + name, get: (r) => r.values[i] })),
    ...data.metrics.map((name, i) => ({ name, key: "m:" + name, metric: true, get: (r) => r.metrics[i] })),
  ];
  const numeric = (c, rows) => rows.some((r) => c.get(r) !== null) && rows.every((r) => { const v = c.get(r); return v === null || typeof v === "number" || (c.metric && typeof v === "string"); });

  function table(rows, cols) {
    const all = [{ name: "Run", key: "run", get: (r) => r.name }, ...cols];
    const isNum = new Map(all.map((c) => [c, numeric(c, rows)]));
    if (sort) {
      const c = all.find((x) => x.key === sort.key);
      if (c) {
        const d = sort.down ? -1 : 1;
        rows.sort((a, b) => {
          const x = c.get(a), y = c.get(b);
          if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1; // what is missing comes last
          if (isNum.get(c)) {
            const p = num(x), q = num(y);
            if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
            return (p - q) * d;
          }
          return String(x).localeCompare(String(y), "en", { numeric: true }) * d;
        });
      }
    }
    const head = h("tr", {}, all.map((c) => h("th", {
      scope: "col", class: (isNum.get(c) ? "n " : "") + (c.metric ? "m" : ""), "aria-sort": sort?.key === c.key ? (sort.down ? "descending" : "ascending") : null,
    }, h("button", {
      type: "button", title: "Sort by " + c.name,
      onclick: () => { sort = { key: c.key, down: sort?.key === c.key ? !sort.down : Boolean(c.metric) }; draw(); },
    }, c.name + (sort?.key === c.key ? (sort.down ? " ↓" : " ↑") : "")))));
    return h("div", { class: "tablewrap" }, h("table", { class: "hp" }, h("thead", {}, head), h("tbody", {}, rows.map((r) => h("tr", {}, all.map((c) =>
      h("td", { class: (isNum.get(c) ? "n " : "") + (c.metric ? "m" : ""), title: c.key === "run" ? `${r.name} (${r.status.toLowerCase()})` : null },
        c.key === "run" ? h("span", { class: "sw", style: { background: color(r.run) } }) : null, show(c.get(r)))))))));
  }

  function parallel(rows, cols) {
    const used = cols.filter((c) => rows.some((r) => c.get(r) !== null));
    if (used.length < 2) return empty("Too little to compare", "Parallel coordinates need at least two hyperparameters or metrics.");
    const width = Math.max(root.clientWidth - 64, used.length * 130), height = Math.max(300, Math.min(520, innerHeight - 190));
    const top = 46, bottom = height - 26, gap = (width - 140) / (used.length - 1);
    const axes = used.map((c, i) => {
      const vals = rows.map((r) => c.get(r)).filter((v) => v !== null);
      const a = { c, x: 70 + i * gap };
      if (numeric(c, rows)) {
        const nums = vals.map(num).filter(Number.isFinite);
        const lo = Math.min(...nums), hi = Math.max(...nums);
        // Learning rates and the like spread over orders of magnitude.
        const log = lo > 0 && hi / lo >= 50;
        const f = log ? Math.log : (v) => v;
        a.pos = (v) => { const x = num(v); return Number.isFinite(x) ? (hi > lo ? bottom - (f(x) - f(lo)) / (f(hi) - f(lo)) * (bottom - top) : (top + bottom) / 2) : NaN; };
        a.ticks = hi > lo ? Array.from({ length: 5 }, (_, k) => { const t = f(lo) + (f(hi) - f(lo)) * k / 4; return log ? Math.exp(t) : t; }) : Number.isFinite(lo) ? [lo] : [];
        a.part = (v) => { const x = num(v); return hi > lo ? (f(x) - f(lo)) / (f(hi) - f(lo)) : 0.5; };
        const kinds = [...new Set(nums)];
        if (kinds.length <= 6) a.ticks = kinds;
      } else {
        const kinds = [...new Set(vals.map(show))].sort();
        a.pos = (v) => kinds.length > 1 ? bottom - kinds.indexOf(show(v)) / (kinds.length - 1) * (bottom - top) : (top + bottom) / 2;
        a.ticks = kinds;
        a.part = (v) => kinds.length > 1 ? kinds.indexOf(show(v)) / (kinds.length - 1) : 0.5;
      }
      return a;
    });
    const tint = axes.find((a) => a.c.key === by);
    const el = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Parallel coordinates of ${rows.length} runs` });
    const lines = rows.slice(0, 2000).map((r) => {
      const pts = axes.map((a) => { const v = a.c.get(r); const y = v === null ? NaN : a.pos(v); return [a.x, y]; });
      let d = "", pen = false;
      for (const [x, y] of pts) { if (!Number.isFinite(y)) { pen = false; continue; } d += (pen ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1); pen = true; }
      const p = svg("path", { class: "line", d, style: { stroke: tint ? (tint.c.get(r) === null ? "#8a97a3" : ramp(tint.part(tint.c.get(r)))) : color(r.run) } },
        svg("title", {}, r.name + "\n" + used.map((c) => c.name + ": " + show(c.get(r))).join("\n")));
      p.addEventListener("pointerenter", () => p.classList.add("lit"));
      p.addEventListener("pointerleave", () => p.classList.remove("lit"));
      return { r, p, pts };
    });
    const off = () => {
      for (const l of lines) {
        l.p.classList.toggle("off", axes.some((a, i) => { const b = brushes.get(a.c.key); return b && !(l.pts[i][1] >= b[0] && l.pts[i][1] <= b[1]); }));
      }
    };
    const labels = [];
    const g = axes.map((a) => {
      const brush = svg("rect", { class: "brush", x: a.x - 8, width: 16, y: 0, height: 0 });
      const paint = () => { const b = brushes.get(a.c.key); brush.setAttribute("y", b ? b[0] : 0); brush.setAttribute("height", b ? b[1] - b[0] : 0); };
      const hit = svg("rect", { class: "hit", x: a.x - 14, y: top - 8, width: 28, height: bottom - top + 16 }, svg("title", {}, "Drag to pick a range; click to clear it"));
      hit.addEventListener("pointerdown", (e) => {
        const y = (ev) => Math.max(top - 4, Math.min(bottom + 4, ev.clientY - el.getBoundingClientRect().top));
        const from = y(e);
        brushes.delete(a.c.key);
        const move = (ev) => { const to = y(ev); if (Math.abs(to - from) > 3) brushes.set(a.c.key, [Math.min(from, to), Math.max(from, to)]); paint(); off(); };
        const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); paint(); off(); };
        addEventListener("pointermove", move);
        addEventListener("pointerup", end);
      });
      paint();
      const name = svg("text", { class: "name" + (a.c.metric ? " metric" : ""), x: a.x, y: 18 }, a.c.name.length > 18 ? a.c.name.slice(0, 17) + "…" : a.c.name, svg("title", {}, a.c.name));
      for (const t of a.ticks.slice(0, 24)) labels.push(svg("text", { x: a.x + 10, y: a.pos(t) + 4 }, (typeof t === "number" ? fmt(t, 3) : t).slice(0, 16)));
      return [svg("line", { class: "axis", x1: a.x, x2: a.x, y1: top, y2: bottom }), name, brush, hit];
    });
    el.append(...lines.map((l) => l.p), ...labels, ...g.flat());
    off();
    return h("div", { class: "pc card" }, el);
  }

  function csv() {
    const cols = columns(), cell = (v) => {
      let t = v === null ? "" : String(v);
      if (typeof v === "string" && /^[=+@\t\r-]/.test(t) && !/^-?[\d.]/.test(t)) t = "'" + t; // a spreadsheet would take it for a formula
      return /[",\r\n]/.test(t) ? `"${t.replaceAll('"', '""')}"` : t;
    };
    const text = [["run", ...cols.map((c) => c.name)], ...rowsOf().map((r) => [r.name, ...cols.map((c) => c.get(r))])].map((r) => r.map(cell).join(",")).join("\r\n");
    save(new Blob([text + "\r\n"], { type: "text/csv" }), "hparams.csv");
  }

  const bySelect = h("span");
  const dl = h("button", { type: "button", class: "link", onclick: csv }, "Download CSV");
  bar.append(segmented("View", [["table", "Table"], ["parallel", "Parallel coordinates"]], mode, (v) => { mode = v; remember("hpmode", v); draw(); }), bySelect, dl);

  function draw() {
    if (!data) return;
    const cols = columns(), rows = rowsOf();
    if (!cols.some((c) => c.key === by)) by = cols.find((c) => c.metric)?.key || "";
    clear(bySelect);
    if (mode === "parallel") bySelect.append(field("Colour by", select("Colour by", [["", "Run"], ...cols.map((c) => [c.key, c.name])], by, (v) => { by = v; remember("hpby", v); draw(); })));
    clear(body);
    if (!rows.length) body.append(empty("No hyperparameters", "None of the selected runs has logged any."));
    else body.append(mode === "table" ? table(rows, cols) : parallel(rows, cols));
  }
  async function load() {
    try { data = await get("hparams"); draw(); } catch (e) { clear(body).append(empty("The hyperparameters cannot be shown", e.message)); }
  }
  const ro = new ResizeObserver(() => { if (mode === "parallel") draw(); });
  ro.observe(root);
  load();
  return { data: load, runs: draw, theme: draw, destroy: () => ro.disconnect() };
}
