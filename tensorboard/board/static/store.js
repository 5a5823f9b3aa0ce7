// What is known of the runs, and which of them are shown.
import { get, setting, remember } from "./util.js";

// Colours that stay apart on white and on black; further runs get hues at the
// golden angle.
const palette = ["#2f7ed8", "#e8743b", "#19a979", "#d6457b", "#8e6bd8", "#c79a00", "#13a4b4", "#b5622a", "#6b8e23", "#e05252", "#5b6fd6", "#9c5fa8"];

export const store = {
  boot: "", version: 0, loading: true, offline: "", title: "", interval: 2000,
  runs: new Map(), // by number
  hidden: new Set(setting("hidden", [])), // by name
  colors: setting("colors", {}),
  filter: setting("filter", ""),
  paused: false,
};

const listeners = new Set();
export function listen(f) { listeners.add(f); return () => listeners.delete(f); }
export function emit(what, detail) { for (const f of [...listeners]) f(what, detail); }

export function color(run) {
  const c = store.colors[run.name];
  if (typeof c === "string" && /^#[0-9a-f]{6}$/i.test(c)) return c;
  if (run.id < palette.length) return palette[run.id];
  return `hsl(${Math.round((run.id * 137.508) % 360)} 58% ${48 + (run.id % 3) * 6}%)`;
}

// hex turns any of the colours above into what a colour input takes.
export function hex(c) {
  const ctx = document.createElement("canvas").getContext("2d");
  ctx.fillStyle = c;
  return ctx.fillStyle;
}

export function setColor(run, c) {
  store.colors[run.name] = c;
  remember("colors", store.colors);
  emit("runs");
}

export function sorted() {
  return [...store.runs.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

export function matcher(text) {
  if (!text) return () => true;
  try {
    const re = new RegExp(text, "i");
    return (s) => re.test(s);
  } catch {
    const t = text.toLowerCase();
    return (s) => s.toLowerCase().includes(t);
  }
}

// visible are the runs that are checked and that the filter lets through.
export function visible() {
  const ok = matcher(store.filter);
  return sorted().filter((r) => !store.hidden.has(r.name) && ok(r.name));
}

export function toggle(names, show) {
  for (const n of names) {
    if (show) store.hidden.delete(n); else store.hidden.add(n);
  }
  remember("hidden", [...store.hidden].slice(-5000));
  emit("runs");
}

export function setFilter(text) {
  store.filter = text;
  remember("filter", text);
  emit("runs");
}

// tagsOf lists the tags of a plugin in the visible runs: [{tag, name, desc, runs}].
export function tagsOf(plugin) {
  const byTag = new Map();
  for (const r of visible()) {
    for (const t of r.tags[plugin] || []) {
      let e = byTag.get(t.tag);
      if (!e) byTag.set(t.tag, (e = { tag: t.tag, name: t.name || t.tag, desc: t.desc || "", runs: [] }));
      e.runs.push({ run: r, n: t.n, v: t.v });
    }
  }
  return [...byTag.values()].sort((a, b) => a.tag.localeCompare(b.tag, "en", { numeric: true }));
}

export function tagInfo(run, plugin, tag) { return (run.tags[plugin] || []).find((t) => t.tag === tag); }

// refresh asks for what changed.
export async function refresh() {
  let s;
  try {
    s = await get("state", store.boot ? { boot: store.boot, since: store.version } : {});
  } catch (e) {
    if (store.offline !== e.message) { store.offline = e.message; emit("status"); }
    return;
  }
  const before = `${store.loading}|${store.offline}`;
  store.offline = "";
  store.loading = s.loading;
  store.title = s.title;
  store.interval = Math.max(s.interval || 2000, 250);
  if (s.loading) { if (before !== "true|") emit("status"); return; }
  const restarted = store.boot && store.boot !== s.boot;
  if (restarted) store.runs.clear(); // the server was started again: numbers differ
  store.boot = s.boot;
  store.version = s.version;
  const changed = new Set();
  for (const r of s.runs) {
    store.runs.set(r.id, r);
    changed.add(r.id);
  }
  if (before !== "false|") emit("status");
  if (restarted) emit("restart");
  if (changed.size || restarted) emit("data", changed);
}
