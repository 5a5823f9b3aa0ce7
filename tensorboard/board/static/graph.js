// The graph of a model: modules that open and close, laid out in layers.
import { h, svg, get, select, field, iconButton, empty, clear } from "./util.js";
import { visible } from "./store.js";

export const id = "graph", label = "Graph", plugin = "graphs";

const NODE_H = 34, GAP_X = 22, GAP_Y = 34, PAD = 16, HEAD = 26;

// build makes a tree of modules from names with slashes.
function build(nodes) {
  const root = { name: "", label: "", kids: new Map(), parent: null, leaf: null, count: 0 };
  const byName = new Map();
  for (const n of nodes) {
    let at = root;
    const parts = n.name.split("/");
    parts.forEach((p, i) => {
      let k = at.kids.get(p);
      if (!k) at.kids.set(p, (k = { name: parts.slice(0, i + 1).join("/"), label: p, kids: new Map(), parent: at, leaf: null, count: 0 }));
      at = k;
    });
    at.leaf = n;
    byName.set(n.name, at);
  }
  const add = (t) => (t.count = (t.leaf ? 1 : 0) + [...t.kids.values()].reduce((s, k) => s + add(k), 0));
  add(root);
  return { root, byName };
}

// layout places the children of a module: layers by the longest way from an
// input, and in each layer the order that crosses few lines.
function layout(parent, open, links) {
  const kids = [...parent.kids.values()];
  const boxes = new Map();
  for (const k of kids) {
    if (k.kids.size && open.has(k.name)) {
      const inner = layout(k, open, links);
      boxes.set(k, { t: k, inner, w: Math.max(inner.w + 2 * PAD, textWidth(k.label) + 40), h: inner.h + HEAD + PAD });
    } else boxes.set(k, { t: k, w: Math.min(260, Math.max(70, textWidth(k.label) + 28)), h: NODE_H });
  }
  // Lines between children, each for whatever lies in them.
  const out = new Map(kids.map((k) => [k, new Set()])), inn = new Map(kids.map((k) => [k, new Set()]));
  const child = (t) => { while (t && t.parent !== parent) t = t.parent; return t; };
  for (const [a, b] of links.within(parent)) {
    const x = child(a), y = child(b);
    if (x && y && x !== y) { out.get(x).add(y); inn.get(y).add(x); }
  }
  // Depth first, ignoring lines that would close a circle.
  const state = new Map(), order = [];
  for (const s of kids) {
    if (state.has(s)) continue;
    const stack = [[s, [...out.get(s)][Symbol.iterator]()]];
    state.set(s, 1);
    while (stack.length) {
      const [t, it] = stack[stack.length - 1];
      const { value, done } = it.next();
      if (done) { state.set(t, 2); order.push(t); stack.pop(); continue; }
      if (state.get(value) === 1) { out.get(t).delete(value); inn.get(value).delete(t); continue; }
      if (!state.has(value)) { state.set(value, 1); stack.push([value, [...out.get(value)][Symbol.iterator]()]); }
    }
  }
  order.reverse();
  const layer = new Map();
  for (const t of order) {
    let l = 0;
    for (const p of inn.get(t)) l = Math.max(l, (layer.get(p) ?? 0) + 1);
    layer.set(t, l);
  }
  // Sources without inputs (parameters, constants) stand right above what uses them.
  for (const t of order) if (!inn.get(t).size && out.get(t).size) layer.set(t, Math.max(0, Math.min(...[...out.get(t)].map((o) => layer.get(o))) - 1));
  const rows = [];
  for (const t of order) (rows[layer.get(t)] ??= []).push(t);
  for (let i = 0; i < rows.length; i++) rows[i] ??= [];
  const place = new Map();
  const number = () => rows.forEach((r) => r.forEach((t, i) => place.set(t, i - r.length / 2)));
  number();
  for (let round = 0; round < 6; round++) {
    const down = round % 2 === 0;
    for (const r of down ? rows : [...rows].reverse()) {
      const by = new Map(r.map((t) => {
        const near = [...(down ? inn : out).get(t)];
        return [t, near.length ? near.reduce((s, x) => s + place.get(x), 0) / near.length : place.get(t)];
      }));
      r.sort((a, b) => by.get(a) - by.get(b));
      r.forEach((t, i) => place.set(t, i - r.length / 2));
    }
  }
  // Rows that are very wide, such as many unconnected nodes, are broken.
  const lines = [];
  for (const r of rows) for (let i = 0; i < r.length; i += 12) lines.push(r.slice(i, i + 12));
  let y = 0, w = 0;
  for (const r of lines) w = Math.max(w, r.reduce((s, t) => s + boxes.get(t).w + GAP_X, -GAP_X));
  for (const r of lines) {
    let x = (w - r.reduce((s, t) => s + boxes.get(t).w + GAP_X, -GAP_X)) / 2, tall = 0;
    for (const t of r) {
      const b = boxes.get(t);
      b.x = x;
      b.y = y;
      x += b.w + GAP_X;
      tall = Math.max(tall, b.h);
    }
    for (const t of r) { const b = boxes.get(t); b.y += (tall - b.h) / 2; }
    y += tall + GAP_Y;
  }
  const edges = [];
  for (const k of kids) for (const o of out.get(k)) edges.push([boxes.get(k), boxes.get(o)]);
  return { boxes: [...boxes.values()], edges, w, h: Math.max(0, y - GAP_Y) };
}

const measure = document.createElement("canvas").getContext("2d");
function textWidth(s) {
  measure.font = "12px system-ui, sans-serif";
  return measure.measureText(s.length > 34 ? s.slice(0, 34) : s).width;
}

const count = (n) => n + (n === 1 ? " node" : " nodes");

export function mount(root) {
  const bar = h("div", { class: "toolbar" }), body = h("div", { class: "split" });
  root.append(bar, body);
  const stage = h("div", { class: "stage" }), panel = h("aside", { class: "panel", "aria-label": "Node" });
  const group = svg("g");
  const arrows = svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "7", markerHeight: "7", orient: "auto" }, svg("path", { class: "arrow", d: "M0 0L8 4L0 8z" })));
  const el = svg("svg", { "aria-label": "Graph of the model", role: "group" }, arrows, group);
  stage.append(el, h("div", { class: "zoomer" },
    iconButton("plus", "Zoom in", () => zoom(1.3)), iconButton("minus", "Zoom out", () => zoom(1 / 1.3)), iconButton("expand", "Fit", () => fit())),
    h("div", { class: "hint" }, "Double click or Enter opens a module; drag moves, the wheel zooms"));
  body.append(stage, panel);

  let run = null, tree = null, open = new Set(), picked = null, view = { x: 0, y: 0, k: 1 }, drawn = null, size = { w: 1, h: 1 }, version = "";
  let links = null;

  const runsWith = () => visible().filter((r) => r.tags.graphs?.length);
  const runBox = h("span");
  const search = h("input", {
    type: "search", class: "filter", placeholder: "Find a node", "aria-label": "Find a node", spellcheck: "false",
    onkeydown: (e) => {
      if (e.key !== "Enter" || !tree || !search.value) return;
      const q = search.value.toLowerCase();
      const all = [...tree.byName.values()].filter((t) => t.name.toLowerCase().includes(q));
      if (!all.length) { message("No node has “" + search.value + "” in its name."); return; }
      const next = all[(all.indexOf(picked) + 1) % all.length];
      for (let p = next.parent; p?.parent; p = p.parent) open.add(p.name);
      draw();
      pick(next, true);
    },
  });
  bar.append(runBox, search,
    h("button", { type: "button", class: "link", onclick: () => { openAll(); } }, "Open all"),
    h("button", { type: "button", class: "link", onclick: () => { open = start(); draw(); fit(); } }, "Close all"));

  function message(text) { clear(panel).append(h("p", {}, text)); }

  // A module that holds most of the graph is opened: its inside is what one wants to see.
  function start() {
    const s = new Set();
    let t = tree.root;
    for (;;) {
      const main = [...t.kids.values()].find((k) => k.kids.size && k.count > t.count * 0.6);
      if (!main || s.size > 8) break;
      s.add(main.name);
      t = main;
    }
    return s;
  }

  function openAll() {
    if (tree.root.count > 1500) { message("This graph is too large to open all at once. Open modules one by one."); return; }
    const walk = (t) => { if (t.kids.size && t.parent) open.add(t.name); t.kids.forEach(walk); };
    walk(tree.root);
    draw();
    fit();
  }

  function transform() { group.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`); }
  function fit() {
    const r = stage.getBoundingClientRect();
    if (!r.width) return;
    view.k = Math.min(1.25, (r.width - 60) / size.w, (r.height - 96) / size.h);
    view.x = (r.width - size.w * view.k) / 2;
    view.y = (r.height - size.h * view.k) / 2;
    transform();
  }
  function zoom(f, cx, cy) {
    const r = stage.getBoundingClientRect();
    cx ??= r.width / 2;
    cy ??= r.height / 2;
    const k = Math.max(0.02, Math.min(5, view.k * f));
    view.x = cx - (cx - view.x) * (k / view.k);
    view.y = cy - (cy - view.y) * (k / view.k);
    view.k = k;
    transform();
  }
  el.addEventListener("wheel", (e) => {
    e.preventDefault();
    const r = stage.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.clientX - r.left, e.clientY - r.top);
  }, { passive: false });
  el.addEventListener("pointerdown", (e) => {
    if (e.button) return;
    let x = e.clientX, y = e.clientY;
    const move = (ev) => { view.x += ev.clientX - x; view.y += ev.clientY - y; x = ev.clientX; y = ev.clientY; transform(); };
    const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  });

  function toggle(t) {
    if (!t.kids.size) return;
    if (open.has(t.name)) open.delete(t.name); else open.add(t.name);
    draw();
    drawn.get(t)?.el.focus();
  }

  function draw() {
    const l = layout(tree.root, open, links);
    size = { w: Math.max(1, l.w), h: Math.max(1, l.h) };
    clear(group);
    drawn = new Map();
    const edges = svg("g"), nodes = svg("g");
    group.append(nodes, edges);
    const put = (lay, ox, oy) => {
      for (const b of lay.boxes) {
        const x = ox + b.x, y = oy + b.y, t = b.t;
        const op = t.leaf?.op || "";
        const io = /IO Node|^Parameter|prim::Param|^input/i.test(op);
        const kind = b.inner ? "node open" : t.kids.size ? "node group-node" : io ? "node io" : "node";
        const text = t.label.length > 34 ? t.label.slice(0, 33) + "…" : t.label;
        const g = svg("g", {
          class: kind, tabindex: "0", role: "button", "aria-label": t.name + (t.kids.size ? `, module of ${count(t.count)}` : op ? ", " + op : ""), "aria-expanded": t.kids.size ? String(Boolean(b.inner)) : null,
          onclick: (e) => { e.stopPropagation(); pick(t); }, ondblclick: (e) => { e.stopPropagation(); toggle(t); },
          onkeydown: (e) => { if (e.target !== e.currentTarget) return; if (e.key === "Enter") { pick(t); toggle(t); } else if (e.key === " ") { e.preventDefault(); pick(t); } },
        }, svg("rect", { x, y, width: b.w, height: b.h, rx: t.kids.size ? 8 : NODE_H / 2 }),
        b.inner ? svg("text", { x: x + b.w / 2, y: y + 14, class: "small" }, text)
          : [svg("text", { x: x + b.w / 2, y: y + (t.kids.size ? b.h / 2 - 6 : b.h / 2) }, text), t.kids.size ? svg("text", { class: "small", x: x + b.w / 2, y: y + b.h / 2 + 8 }, count(t.count)) : null]);
        nodes.append(g);
        drawn.set(t, { el: g, x, y, w: b.w, h: b.h });
        if (b.inner) put(b.inner, x + (b.w - b.inner.w) / 2, y + HEAD);
      }
      for (const [a, b] of lay.edges) {
        const x1 = ox + a.x + a.w / 2, y1 = oy + a.y + a.h, x2 = ox + b.x + b.w / 2, y2 = oy + b.y - 1, m = Math.max(14, (y2 - y1) / 2);
        const p = svg("path", { class: "edge", d: `M${x1} ${y1}C${x1} ${y1 + m} ${x2} ${y2 - m} ${x2} ${y2}`, "marker-end": "url(#arrow)" });
        p.ends = [a.t, b.t];
        edges.append(p);
      }
    };
    put(l, 0, 0);
    transform();
    light();
  }

  function light() {
    for (const [t, d] of drawn) d.el.classList.toggle("picked", t === picked);
    for (const p of group.querySelectorAll(".edge")) p.classList.toggle("lit", Boolean(picked) && p.ends.includes(picked));
  }

  function pick(t, center) {
    picked = t;
    light();
    const n = t.leaf;
    const link = (name) => h("dd", {}, h("button", { type: "button", class: "link", onclick: () => { const x = tree.byName.get(name); if (!x) return; for (let p = x.parent; p?.parent; p = p.parent) open.add(p.name); draw(); pick(x, true); } }, name));
    const users = n ? links.users.get(n.name) || [] : [];
    clear(panel).append(h("h3", {}, t.label), h("dl", {},
      h("dt", {}, "Name"), h("dd", {}, t.name),
      t.kids.size ? [h("dt", {}, "Module"), h("dd", {}, count(t.count))] : null,
      n?.op ? [h("dt", {}, "Operation"), h("dd", {}, h("code", {}, n.op))] : null,
      n?.device ? [h("dt", {}, "Device"), h("dd", {}, n.device)] : null,
      n?.shapes?.length ? [h("dt", {}, "Output shapes"), n.shapes.map((s) => h("dd", {}, s ? (s.length ? s.map((d) => (d < 0 ? "?" : d)).join(" × ") : "scalar") : "unknown"))] : null,
      n && Object.keys(n.attrs || {}).length ? Object.entries(n.attrs).map(([k, v]) => [h("dt", {}, k), h("dd", {}, h("code", {}, v))]) : null,
      n?.inputs.length ? [h("dt", {}, `Inputs (${n.inputs.length})`), n.inputs.slice(0, 50).map(link)] : null,
      users.length ? [h("dt", {}, `Used by (${users.length})`), users.slice(0, 50).map(link)] : null),
    t.kids.size ? h("p", {}, h("button", { type: "button", class: "link", onclick: () => toggle(t) }, open.has(t.name) ? "Close this module" : "Open this module")) : null);
    const d = drawn.get(t);
    if (center && d) {
      const r = stage.getBoundingClientRect();
      view.k = Math.max(view.k, 0.7);
      view.x = r.width / 2 - (d.x + d.w / 2) * view.k;
      view.y = r.height / 2 - (d.y + d.h / 2) * view.k;
      transform();
    }
  }

  async function load() {
    const list = runsWith();
    clear(runBox);
    if (!list.length) { clear(body).append(empty("No graph", "None of the selected runs has logged a graph.")); run = null; return; }
    if (!body.contains(stage)) clear(body).append(stage, panel);
    run = list.find((r) => r.id === run?.id) || list[0];
    runBox.append(field("Run", select("Run", list.map((r) => [String(r.id), r.name]), String(run.id), (v) => { run = list.find((r) => String(r.id) === v); load(); })));
    const now = run.id + ":" + run.tags.graphs.map((t) => t.v);
    if (version === now) return;
    try {
      const d = await get("graph", { run: run.id });
      version = now;
      tree = build(d.nodes);
      picked = null;
      const all = [], users = new Map();
      for (const n of d.nodes) for (const i of n.inputs) {
        const a = tree.byName.get(i), b = tree.byName.get(n.name);
        if (a && b && a !== b) all.push([a, b]);
        if (!users.has(i)) users.set(i, []);
        users.get(i).push(n.name);
      }
      // Each line belongs to the innermost module that holds both its ends.
      const per = new Map();
      for (const l of all) {
        const up = new Set();
        for (let p = l[0].parent; p; p = p.parent) up.add(p);
        let c = l[1].parent;
        while (c && !up.has(c)) c = c.parent;
        if (!per.has(c)) per.set(c, []);
        per.get(c).push(l);
      }
      links = { users, within: (p) => per.get(p) || [] };
      open = start();
      draw();
      fit();
      message(d.total > d.nodes.length ? `The first ${d.nodes.length} of ${d.total} nodes.` : `${d.total} nodes. Click one to see what it does.`);
    } catch (e) { clear(body).append(empty("The graph cannot be shown", e.message)); version = ""; }
  }
  load();
  const ro = new ResizeObserver(() => { if (tree && !picked) fit(); });
  ro.observe(stage);
  return { data: (changed) => { if (!run || changed.has(run.id)) load(); }, runs: load, destroy: () => ro.disconnect() };
}
