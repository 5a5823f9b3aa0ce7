// Embeddings: points by their principal components or by t-SNE, in two or three
// dimensions.
import { h, get, url, num, fmt, select, field, segmented, checkbox, setting, remember, empty, clear, cssVar } from "./util.js";
import { visible } from "./store.js";
import { ramp } from "./hparams.js";
import { TSNE, most } from "./tsne.js";

export const id = "embeddings", label = "Embeddings", plugin = "embeddings";

const palette = ["#2f7ed8", "#e8743b", "#19a979", "#d6457b", "#8e6bd8", "#c79a00", "#13a4b4", "#b5622a", "#6b8e23", "#e05252", "#5b6fd6", "#9c5fa8"];

export function mount(root) {
  const bar = h("div", { class: "toolbar" }), body = h("div", { class: "split" });
  root.append(bar, body);
  const canvas = h("canvas", { tabIndex: 0, role: "img" });
  const stage = h("div", { class: "stage" }, canvas, h("div", { class: "hint" }, "Drag turns or moves, the wheel zooms, arrow keys turn"));
  const panel = h("aside", { class: "panel", "aria-label": "Points" });
  body.append(stage, panel);
  const g = canvas.getContext("2d");

  let key = "", d = null, meta = null, sprite = null, picked = -1, over = -1, found = null, frame = 0, asked = 0;
  let dims = setting("embdims", "3"), axes = [0, 1, 2], colorBy = 0, labels = setting("emblabels", false) === true, images = setting("embimages", true) !== false;
  let cam = { yaw: 0.6, pitch: 0.45, zoom: 1, x: 0, y: 0 };
  let method = "pca", tsne = null, sample = [], coords = [], running = 0;
  const steps = 700;
  let scale = 1, mid = [0, 0, 0], tints = [], screen = [];

  const choices = () => visible().flatMap((r) => (r.tags.embeddings || []).map((t, i) => ({ run: r, i, tag: t.tag, key: r.id + ":" + i })));
  const pickBox = h("span"), tools = h("span", { class: "toolbarpart" });
  tools.style.display = "contents";
  bar.append(pickBox, tools);

  async function load() {
    const list = choices();
    clear(pickBox);
    if (!list.length) { clear(body).append(empty("No embedding", "None of the selected runs has logged an embedding.")); key = ""; d = null; return; }
    if (!body.contains(stage)) clear(body).append(stage, panel);
    const c = list.find((x) => x.key === key) || list[0];
    pickBox.append(field("Embedding", select("Embedding", list.map((x) => [x.key, x.run.name + " · " + x.tag]), c.key, (v) => { key = v; d = null; load(); })));
    if (c.key === key && d) return;
    key = c.key;
    d = null;
    const mine = ++asked;
    stop();
    tsne = null;
    clear(panel).append(h("p", {}, "Finding the principal components…"));
    paint();
    try {
      const [info, data] = await Promise.all([get("embeddings", { run: c.run.id }), get("embedding", { run: c.run.id, i: c.i })]);
      if (mine !== asked) return;
      d = data;
      meta = info.embeddings[c.i];
      d.points = d.points.map((p) => p.map(num));
    } catch (e) { if (mine === asked) clear(body).append(empty("The embedding cannot be shown", e.message)); return; }
    picked = over = -1;
    found = null;
    sprite = null;
    const comps = d.variance.length;
    if (comps < 3) dims = "2";
    axes = [0, Math.min(1, comps - 1), Math.min(2, comps - 1)];
    if (colorBy >= d.header.length) colorBy = 0;
    if (meta?.sprite) {
      const img = new Image();
      img.onload = () => { if (mine === asked) { sprite = img; draw(); } };
      img.src = url("sprite", { run: c.run.id, i: c.i });
    }
    canvas.setAttribute("aria-label", `${d.rows} points of ${c.tag} by principal components`);
    cam = { yaw: 0.6, pitch: 0.45, zoom: 1, x: 0, y: 0 };
    restart();
    controls();
    prepare();
  }

  // restart begins t-SNE anew, with every k-th point if they are many.
  function restart() {
    stop();
    tsne = null;
    if (method === "pca" || !d) return;
    const skip = Math.ceil(d.rows / most);
    sample = d.points.map((_, i) => i).filter((i) => i % skip === 0);
    tsne = new TSNE(sample.map((i) => d.points[i]), +dims);
    run();
  }

  function stop() { clearTimeout(running); running = 0; }

  function run() {
    running = setTimeout(() => {
      const until = performance.now() + 25;
      do tsne.next(); while (performance.now() < until && tsne.step < steps);
      running = 0;
      if (tsne.step < steps) run(); else controls();
      place();
    }, 0);
  }

  // place takes the points from where they are now.
  function place() {
    if (tsne) {
      coords = d.points.map(() => [NaN, NaN, NaN]); // those left out are not drawn
      sample.forEach((i, k) => { coords[i] = [0, 1, 2].map((c) => (c < tsne.dims ? tsne.y[k * tsne.dims + c] : 0)); });
    } else coords = d.points;
    fit();
    draw();
    if (status.isConnected) status.textContent = summary();
  }

  function controls() {
    clear(tools);
    tools.append(segmented("Method", [["pca", "PCA"], ["tsne", "t-SNE"]], method, (v) => { method = v; cam = { ...cam, x: 0, y: 0, zoom: 1 }; restart(); controls(); prepare(); }));
    const comps = d.variance.map((v, i) => [String(i), `PC ${i + 1} (${(100 * num(v)).toFixed(1)} %)`]);
    const axis = (name, k) => field(name, select(name + " axis", comps, String(axes[k]), (v) => { axes[k] = +v; prepare(); }));
    tools.append(segmented("Dimensions", [["2", "2-D"], ["3", "3-D"]], dims, (v) => {
      dims = v;
      remember("embdims", v);
      cam = { ...cam, x: 0, y: 0, zoom: 1 };
      restart();
      controls();
      prepare();
    }));
    if (method === "pca") {
      tools.append(axis("X", 0), axis("Y", 1));
      if (dims === "3") tools.append(axis("Z", 2));
    } else if (tsne?.step < steps) {
      tools.append(h("button", { type: "button", class: "link", onclick: () => { if (running) stop(); else run(); controls(); } }, running ? "Stop" : "Go on"));
    }
    if (d.labels.length) {
      tools.append(field("Colour by", select("Colour by", [["-1", "nothing"], ...d.header.map((t, i) => [String(i), t])], String(colorBy), (v) => { colorBy = +v; prepare(); about(); })),
        checkbox("Labels", labels, (v) => { labels = v; remember("emblabels", v); draw(); }));
    }
    if (meta?.sprite) tools.append(checkbox("Pictures", images, (v) => { images = v; remember("embimages", v); draw(); }));
  }

  function legend() {
    if (!d.labels.length || colorBy < 0) return null;
    const vals = d.labels.map((l) => l[colorBy] ?? "");
    const kinds = new Map();
    for (const v of vals) kinds.set(v, (kinds.get(v) || 0) + 1);
    const nums = vals.map((v) => (v.trim() === "" ? NaN : Number(v)));
    if (kinds.size > 12 && nums.filter(Number.isFinite).length > vals.length * 0.9) {
      const ok = nums.filter(Number.isFinite);
      let lo = Infinity, hi = -Infinity;
      for (const v of ok) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
      return { of: (i) => ramp(hi > lo ? (nums[i] - lo) / (hi - lo) : 0.5), range: [lo, hi] };
    }
    const order = [...kinds.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const tint = new Map(order.map((v, i) => [v, i < palette.length ? palette[i] : `hsl(${Math.round(i * 137.5) % 360} 58% 52%)`]));
    return { of: (i) => tint.get(vals[i]), kinds: order.map((v) => [v, kinds.get(v), tint.get(v)]) };
  }

  const status = h("p");
  function summary() {
    const points = `${d.rows.toLocaleString("en-US")}${d.total > d.rows ? " of " + d.total.toLocaleString("en-US") : ""} points in ${d.dims} dimensions`;
    if (tsne) return `${points}${sample.length < d.rows ? `, ${sample.length.toLocaleString("en-US")} of them shown` : ""}; t-SNE of ${d.variance.length} principal components, perplexity ${fmt(tsne.perplexity, 3)}, step ${tsne.step} of ${steps}.`;
    return `${points}; the axes hold ${(100 * axes.slice(0, +dims).reduce((s, a, i, all) => s + (all.indexOf(a) === i ? num(d.variance[a]) : 0), 0)).toFixed(1)} % of the variance.`;
  }

  function about() {
    status.textContent = summary();
    const l = legend();
    const search = h("input", {
      type: "search", class: "filter", placeholder: "Find by label", "aria-label": "Find points by label", spellcheck: "false",
      oninput: () => {
        const q = search.value.toLowerCase();
        found = q ? new Set(d.labels.flatMap((r, i) => (r.some((c) => c.toLowerCase().includes(q)) ? [i] : []))) : null;
        count.textContent = found ? `${found.size} found` : "";
        draw();
      },
    });
    const count = h("p");
    clear(panel).append(h("h3", {}, meta?.name || "Embedding"),
      status,
      d.labels.length ? h("div", {}, h("br"), search, count) : null,
      detail);
    if (l?.kinds) {
      panel.append(h("dl", {}, h("dt", {}, d.header[colorBy])), ...l.kinds.slice(0, 40).map(([v, n, t]) => h("p", { class: "sub" }, h("span", { class: "sw", style: { background: t } }), v === "" ? "(empty)" : v, h("span", { class: "count" }, String(n)))));
      if (l.kinds.length > 40) panel.append(h("p", {}, `and ${l.kinds.length - 40} more`));
    } else if (l?.range) panel.append(h("dl", {}, h("dt", {}, d.header[colorBy]), h("dd", {}, `${fmt(l.range[0])} (blue) to ${fmt(l.range[1])} (red)`)));
  }
  const detail = h("dl");
  function showPoint() {
    clear(detail);
    const i = over >= 0 ? over : picked;
    if (i < 0 || !d) return;
    detail.append(h("dt", {}, "Point"), h("dd", {}, String(d.index[i])), ...(d.labels[i] || []).flatMap((v, k) => [h("dt", {}, d.header[k] || "label"), h("dd", {}, v)]));
  }

  function prepare() {
    const l = legend(), plain = cssVar("--accent");
    tints = d.points.map((_, i) => (l ? l.of(i) : plain));
    place();
    about();
  }

  const column = (k) => (tsne ? k : axes[k]); // of coords

  // fit finds the middle and the size of the cloud.
  function fit() {
    const n = +dims;
    let far = 0;
    mid = [0, 1, 2].map((k) => {
      let lo = Infinity, hi = -Infinity;
      for (const p of coords) { const v = p[column(k)]; if (v < lo) lo = v; if (v > hi) hi = v; }
      if (k < n) far = Math.max(far, hi - lo);
      return lo <= hi ? (lo + hi) / 2 : 0;
    });
    scale = far > 0 ? 2 / far : 1;
  }

  function draw() { cancelAnimationFrame(frame); frame = requestAnimationFrame(paint); }

  function paint() {
    const r = devicePixelRatio || 1, w = stage.clientWidth, ht = stage.clientHeight;
    if (canvas.width !== Math.round(w * r) || canvas.height !== Math.round(ht * r)) { canvas.width = Math.round(w * r); canvas.height = Math.round(ht * r); }
    g.setTransform(r, 0, 0, r, 0, 0);
    g.clearRect(0, 0, w, ht);
    if (!d) return;
    const unit = Math.min(w, ht) * 0.42 * cam.zoom, cx = w / 2 + cam.x, cy = ht / 2 + cam.y;
    const three = dims === "3";
    const [cyaw, syaw, cp, sp] = [Math.cos(cam.yaw), Math.sin(cam.yaw), Math.cos(cam.pitch), Math.sin(cam.pitch)];
    const project = (x, y, z) => {
      if (!three) return [cx + x * unit, cy - y * unit, 0, 1];
      const x1 = x * cyaw + z * syaw, z1 = -x * syaw + z * cyaw;
      const y1 = y * cp - z1 * sp, z2 = y * sp + z1 * cp;
      const f = 3.2 / (3.2 - z2 * 0.8);
      return [cx + x1 * unit * f, cy - y1 * unit * f, z2, f];
    };
    g.strokeStyle = cssVar("--line");
    g.lineWidth = 1;
    g.font = "11px " + cssVar("--font");
    g.fillStyle = cssVar("--faint");
    for (let k = 0; k < +dims; k++) {
      const a = [0, 0, 0], b = [0, 0, 0];
      a[k] = -1.1;
      b[k] = 1.1;
      const p = project(...a), q = project(...b);
      g.beginPath();
      g.moveTo(p[0], p[1]);
      g.lineTo(q[0], q[1]);
      g.stroke();
      if (!tsne) g.fillText("PC " + (axes[k] + 1), q[0] + 5, q[1] - 4);
    }
    screen = coords.map((p, i) => [...project((p[column(0)] - mid[0]) * scale, (p[column(1)] - mid[1]) * scale, (p[column(2)] - mid[2]) * scale), i]);
    const drawn = screen.filter((p) => Number.isFinite(p[0]) && Number.isFinite(p[2]));
    const order = three ? drawn.sort((a, b) => a[2] - b[2]) : drawn;
    const size = d.rows > 3000 ? 2 : d.rows > 500 ? 3 : 4.5;
    const pics = images && sprite && meta?.sprite;
    const per = pics ? Math.max(1, Math.floor(sprite.naturalWidth / meta.sprite[0])) : 1;
    for (const [x, y, z, f, i] of order) {
      const dim = found && !found.has(i);
      g.globalAlpha = dim ? 0.08 : three ? Math.max(0.35, Math.min(1, 0.75 + z * 0.3)) : 0.85;
      if (pics) {
        const s = Math.min(meta.sprite[0], 28) * f * Math.min(2.5, Math.max(0.7, cam.zoom)), k = d.index[i], ht2 = s * meta.sprite[1] / meta.sprite[0];
        g.drawImage(sprite, (k % per) * meta.sprite[0], Math.floor(k / per) * meta.sprite[1], meta.sprite[0], meta.sprite[1], x - s / 2, y - ht2 / 2, s, ht2);
        g.strokeStyle = tints[i];
        g.lineWidth = 1.5;
        g.strokeRect(x - s / 2, y - ht2 / 2, s, ht2);
      } else {
        g.fillStyle = tints[i];
        g.beginPath();
        g.arc(x, y, size * f, 0, 6.2832);
        g.fill();
      }
    }
    g.globalAlpha = 1;
    const name = (i) => (d.labels[i] ? d.labels[i][Math.max(0, colorBy)] ?? d.labels[i][0] : "#" + d.index[i]);
    const write = (i, strong) => {
      const [x, y] = screen[i];
      g.lineWidth = 3;
      g.strokeStyle = cssVar("--card");
      g.fillStyle = cssVar(strong ? "--ink" : "--muted");
      g.font = (strong ? "600 12px " : "11px ") + cssVar("--font");
      g.strokeText(name(i), x + 8, y + 4);
      g.fillText(name(i), x + 8, y + 4);
    };
    if (labels && d.labels.length) {
      // Labels that would lie on each other are left out.
      const taken = new Set();
      for (let k = order.length - 1; k >= 0; k--) {
        const [x, y, , , i] = order[k];
        if (found && !found.has(i)) continue;
        const cell = Math.floor(x / 64) + "," + Math.floor(y / 16);
        if (taken.has(cell)) continue;
        taken.add(cell);
        write(i, false);
      }
    }
    for (const i of [picked, over]) {
      if (i < 0 || !screen[i]) continue;
      g.strokeStyle = cssVar("--ink");
      g.lineWidth = 2;
      g.beginPath();
      g.arc(screen[i][0], screen[i][1], size + 4, 0, 6.2832);
      g.stroke();
      write(i, true);
    }
  }

  function at(e) {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    let best = -1, near = 14 * 14;
    for (const p of screen) {
      const q = (p[0] - x) ** 2 + (p[1] - y) ** 2;
      if (q < near && !(found && !found.has(p[4]))) { near = q; best = p[4]; }
    }
    return best;
  }
  let dragging = null;
  canvas.addEventListener("pointerdown", (e) => { dragging = { x: e.clientX, y: e.clientY, far: 0 }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    if (!dragging) {
      const i = d ? at(e) : -1;
      if (i !== over) { over = i; showPoint(); draw(); }
      return;
    }
    const dx = e.clientX - dragging.x, dy = e.clientY - dragging.y;
    dragging = { x: e.clientX, y: e.clientY, far: dragging.far + Math.abs(dx) + Math.abs(dy) };
    if (dims === "3" && !e.shiftKey) {
      cam.yaw += dx * 0.008;
      cam.pitch = Math.max(-1.57, Math.min(1.57, cam.pitch + dy * 0.008));
    } else { cam.x += dx; cam.y += dy; }
    draw();
  });
  canvas.addEventListener("pointerup", (e) => {
    if (dragging && dragging.far < 4 && d) { picked = at(e); showPoint(); draw(); }
    dragging = null;
  });
  canvas.addEventListener("pointerleave", () => { if (over >= 0) { over = -1; showPoint(); draw(); } });
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    cam.zoom = Math.max(0.2, Math.min(60, cam.zoom * Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015))));
    draw();
  }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const k = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (k && dims === "3") { cam.yaw += k[0] * 0.1; cam.pitch = Math.max(-1.57, Math.min(1.57, cam.pitch + k[1] * 0.1)); }
    else if (k) { cam.x -= k[0] * 20; cam.y -= k[1] * 20; }
    else if (e.key === "+" || e.key === "=") cam.zoom *= 1.2;
    else if (e.key === "-") cam.zoom /= 1.2;
    else if (e.key === "0") cam = { yaw: 0.6, pitch: 0.45, zoom: 1, x: 0, y: 0 };
    else return;
    e.preventDefault();
    draw();
  });
  const ro = new ResizeObserver(draw);
  ro.observe(stage);
  load();
  return { data: load, runs: load, theme: () => { if (d) prepare(); }, destroy: () => { stop(); ro.disconnect(); cancelAnimationFrame(frame); asked++; } };
}
