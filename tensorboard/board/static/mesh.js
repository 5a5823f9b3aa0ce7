// Meshes and clouds of points: one card per tag and run, drawn in three dimensions
// by a small renderer with a depth buffer, which needs no graphics hardware.
import { h, get, num, fmt, iconButton, select, field, save } from "./util.js";
import { Groups, perRun, tagFilter, cardHead } from "./groups.js";
import { Steps, runLine } from "./images.js";

export const id = "mesh", label = "Mesh", plugin = "mesh";

const home = () => ({ yaw: 0.6, pitch: 0.35, zoom: 1, x: 0, y: 0 });
const plain = [[96, 125, 196], [226, 138, 84]]; // of surfaces and of points without colours

class Card {
  constructor(entry) {
    this.entry = entry;
    this.cam = home();
    this.k = 0;
    this.mesh = null;
    this.frame = 0;
    this.asked = 0;
    this.canvas = h("canvas", { tabIndex: 0, role: "img", "aria-label": `Mesh ${entry.tag} of ${entry.run.name}` });
    this.message = h("p", { class: "note" });
    this.which = h("span");
    this.steps = new Steps(entry, "mesh", (i, params) => { this.params = params; this.load(); });
    this.el = h("article", { class: "card" },
      cardHead(entry.name, runLine(entry), iconButton("reset", "Look from the front again", () => { this.cam = home(); this.render(); }),
        iconButton("expand", "Larger", (e) => { e.currentTarget.setAttribute("aria-pressed", String(this.el.classList.toggle("wide"))); }, { "aria-pressed": "false" }),
        iconButton("download", "Download this picture", () => this.canvas.toBlob((b) => b && save(b, `${entry.run.name}_${entry.tag}.png`)))),
      this.steps.el, h("div", { class: "meshbox" }, this.canvas), this.which, this.message);
    this.hands();
    this.size = new ResizeObserver(() => this.render());
    this.size.observe(this.canvas);
  }

  destroy() { this.size.disconnect(); cancelAnimationFrame(this.frame); this.asked++; }

  async draw() {
    try { await this.steps.load(); } catch (e) { this.message.textContent = e.message; }
  }

  async load() {
    const mine = ++this.asked;
    let d;
    try { d = await get("mesh", { ...this.params, k: this.k }); } catch (e) {
      if (mine === this.asked) { this.mesh = null; this.message.textContent = e.message; this.render(); }
      return;
    }
    if (mine !== this.asked) return;
    const v = Float32Array.from(d.vertices, num);
    // The box of the finite points becomes a cube of side 2 around the origin.
    const lo = [Infinity, Infinity, Infinity], hi = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < v.length; i++) if (Number.isFinite(v[i])) { lo[i % 3] = Math.min(lo[i % 3], v[i]); hi[i % 3] = Math.max(hi[i % 3], v[i]); }
    const side = Math.max(hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2], 1e-30);
    for (let i = 0; i < v.length; i++) v[i] = (v[i] - (lo[i % 3] + hi[i % 3]) / 2) * (2 / side);
    this.mesh = { v, c: d.colors || null, f: d.faces || null };
    const n = d.total.toLocaleString("en-US"), sent = v.length / 3;
    this.message.textContent = d.faces ? `${n} vertices, ${(d.faces.length / 3).toLocaleString("en-US")} faces` : `${n} points${sent < d.total ? `, ${sent.toLocaleString("en-US")} of them shown` : ""}`;
    if (v.length) this.message.textContent += `; x ${fmt(lo[0], 3)} … ${fmt(hi[0], 3)}, y ${fmt(lo[1], 3)} … ${fmt(hi[1], 3)}, z ${fmt(lo[2], 3)} … ${fmt(hi[2], 3)}`;
    if (d.batch > 1 && !this.which.firstChild) {
      this.which.append(field("Of the batch", select("Number in the batch", Array.from({ length: d.batch }, (_, i) => [String(i), String(i)]), "0", (k) => { this.k = +k; this.load(); })));
    }
    this.render();
  }

  render() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const r = this.canvas.getBoundingClientRect(), dpr = Math.min(devicePixelRatio || 1, 2);
    const W = Math.round(r.width * dpr), H = Math.round(r.height * dpr);
    if (W < 2 || H < 2) return;
    if (this.canvas.width !== W || this.canvas.height !== H) { this.canvas.width = W; this.canvas.height = H; }
    const g = this.canvas.getContext("2d");
    g.clearRect(0, 0, W, H);
    if (!this.mesh) return;
    const img = g.createImageData(W, H), px = img.data, depth = new Float32Array(W * H).fill(-Infinity);
    const { v, c, f } = this.mesh, { yaw, pitch, zoom } = this.cam;
    const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
    const scale = Math.min(W, H) * 0.36 * zoom, ox = W / 2 + this.cam.x * dpr, oy = H / 2 + this.cam.y * dpr;
    const n = v.length / 3, X = new Float32Array(n), Y = new Float32Array(n), Z = new Float32Array(n);
    const rx = new Float32Array(n), ry = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      const x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
      const a = x * cy + z * sy, b = z * cy - x * sy, u = y * cp - b * sp, w = y * sp + b * cp;
      const p = 5 / Math.max(5 - w, 0.5); // a little perspective
      rx[i] = a; ry[i] = u; Z[i] = w;
      X[i] = ox + a * p * scale; Y[i] = oy - u * p * scale;
    }
    const put = (o, z, r0, g0, b0) => {
      if (!(z > depth[o])) return;
      depth[o] = z;
      px[4 * o] = r0; px[4 * o + 1] = g0; px[4 * o + 2] = b0; px[4 * o + 3] = 255;
    };
    if (f) {
      const base = plain[0];
      for (let t = 0; t < f.length; t += 3) {
        const i = f[t], j = f[t + 1], k = f[t + 2];
        const d = (X[j] - X[i]) * (Y[k] - Y[i]) - (X[k] - X[i]) * (Y[j] - Y[i]);
        if (!d || Number.isNaN(d)) continue;
        // Light from the eye and a little above; both sides of a face are lit.
        const ax = rx[j] - rx[i], ay = ry[j] - ry[i], az = Z[j] - Z[i], bx = rx[k] - rx[i], by = ry[k] - ry[i], bz = Z[k] - Z[i];
        const nx = ay * bz - az * by, ny = az * bx - ax * bz, nz = ax * by - ay * bx;
        const lit = 0.35 + 0.65 * Math.abs(nx * 0.2 + ny * 0.4 + nz * 0.894) / (Math.hypot(nx, ny, nz) || 1);
        const x0 = Math.max(0, Math.ceil(Math.min(X[i], X[j], X[k]))), x1 = Math.min(W - 1, Math.floor(Math.max(X[i], X[j], X[k])));
        const y0 = Math.max(0, Math.ceil(Math.min(Y[i], Y[j], Y[k]))), y1 = Math.min(H - 1, Math.floor(Math.max(Y[i], Y[j], Y[k])));
        for (let y = y0; y <= y1; y++) {
          for (let x = x0; x <= x1; x++) {
            const wj = ((x - X[i]) * (Y[k] - Y[i]) - (X[k] - X[i]) * (y - Y[i])) / d;
            const wk = ((X[j] - X[i]) * (y - Y[i]) - (x - X[i]) * (Y[j] - Y[i])) / d;
            const wi = 1 - wj - wk;
            if (wi < -1e-6 || wj < -1e-6 || wk < -1e-6) continue;
            const z = wi * Z[i] + wj * Z[j] + wk * Z[k], o = y * W + x;
            if (c) put(o, z, lit * (wi * c[3 * i] + wj * c[3 * j] + wk * c[3 * k]), lit * (wi * c[3 * i + 1] + wj * c[3 * j + 1] + wk * c[3 * k + 1]), lit * (wi * c[3 * i + 2] + wj * c[3 * j + 2] + wk * c[3 * k + 2]));
            else put(o, z, lit * base[0], lit * base[1], lit * base[2]);
          }
        }
      }
    } else {
      const half = Math.max(0.5, (n > 20000 ? 0.5 : n > 2000 ? 1 : 2.2) * dpr * Math.min(2.5, Math.max(0.8, Math.sqrt(zoom))));
      for (let i = 0; i < n; i++) {
        const far = Math.min(1, Math.max(0.45, 0.8 + 0.25 * Z[i])), col = c ? [c[3 * i], c[3 * i + 1], c[3 * i + 2]] : plain[1];
        const x0 = Math.max(0, Math.ceil(X[i] - half)), x1 = Math.min(W - 1, Math.floor(X[i] + half));
        const y0 = Math.max(0, Math.ceil(Y[i] - half)), y1 = Math.min(H - 1, Math.floor(Y[i] + half));
        for (let y = y0; y <= y1; y++) for (let x = x0; x <= x1; x++) put(y * W + x, Z[i], col[0] * far, col[1] * far, col[2] * far);
      }
    }
    g.putImageData(img, 0, 0);
    this.axes(g, dpr, H, (x, y, z) => [x * cy + z * sy, y * cp - (z * cy - x * sy) * sp]);
  }

  // axes draws where x, y and z point into the corner.
  axes(g, dpr, H, turn) {
    const at = [26 * dpr, H - 26 * dpr];
    [["x", "#d64545", 1, 0, 0], ["y", "#2f9e58", 0, 1, 0], ["z", "#3f74d6", 0, 0, 1]].forEach(([name, tint, x, y, z]) => {
      const [a, b] = turn(x, y, z);
      g.strokeStyle = g.fillStyle = tint;
      g.lineWidth = 1.5 * dpr;
      g.beginPath();
      g.moveTo(...at);
      g.lineTo(at[0] + a * 16 * dpr, at[1] - b * 16 * dpr);
      g.stroke();
      g.font = `${10 * dpr}px sans-serif`;
      g.textAlign = "center";
      g.fillText(name, at[0] + a * 22 * dpr, at[1] - b * 22 * dpr + 3 * dpr);
    });
  }

  hands() {
    const c = this.canvas, turn = (dx, dy) => {
      this.cam.yaw += dx;
      this.cam.pitch = Math.max(-1.57, Math.min(1.57, this.cam.pitch + dy));
    };
    let from = null;
    c.addEventListener("pointerdown", (e) => { from = [e.clientX, e.clientY]; c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointermove", (e) => {
      if (!from) return;
      const dx = e.clientX - from[0], dy = e.clientY - from[1];
      from = [e.clientX, e.clientY];
      if (e.shiftKey) { this.cam.x += dx; this.cam.y += dy; } else turn(dx * 0.01, dy * 0.01);
      this.render();
    });
    for (const end of ["pointerup", "pointercancel"]) c.addEventListener(end, () => { from = null; });
    c.addEventListener("dblclick", () => { this.cam = home(); this.render(); });
    c.addEventListener("wheel", (e) => {
      if (document.activeElement !== c) return; // the page scrolls until the mesh was clicked
      e.preventDefault();
      this.cam.zoom = Math.max(0.2, Math.min(40, this.cam.zoom * Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015))));
      this.render();
    }, { passive: false });
    c.addEventListener("keydown", (e) => {
      const k = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
      if (k) turn(...k);
      else if (e.key === "+" || e.key === "=") this.cam.zoom *= 1.2;
      else if (e.key === "-") this.cam.zoom /= 1.2;
      else if (e.key === "0") this.cam = home();
      else return;
      e.preventDefault();
      this.render();
    });
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, { name: "mesh", what: "meshes", list: () => perRun("mesh"), make: (e) => new Card(e) });
  bar.append(tagFilter(groups), h("span", { class: "sub" }, "Drag turns, with shift moves; after a click the wheel zooms; arrow keys, + and −"));
  groups.update();
  return {
    data: (changed) => groups.update((e) => changed.has(e.run.id)),
    runs: () => groups.update(() => false),
    theme: () => { for (const c of groups.cards.values()) c.render(); },
    destroy: () => groups.destroy(),
  };
}
