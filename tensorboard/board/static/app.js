// The frame: tabs, the list of runs, polling.
import { h, clear, icon, iconButton, empty, debounce, remember, setting, announce } from "./util.js";
import { store, listen, emit, refresh, sorted, visible, matcher, color, hex, setColor, toggle, setFilter } from "./store.js";
import * as scalars from "./scalars.js";
import * as images from "./images.js";
import * as audio from "./audio.js";
import * as histograms from "./histograms.js";
import * as text from "./text.js";
import * as graph from "./graph.js";
import * as pr from "./pr.js";
import * as hparams from "./hparams.js";
import * as mesh from "./mesh.js";
import * as embeddings from "./embeddings.js";
import * as custom from "./custom.js";

const pages = [scalars, images, audio, histograms, text, graph, pr, hparams, embeddings, mesh, custom];
const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
let page = null; // {def, view}

function has(def) {
  for (const r of store.runs.values()) if (r.tags[def.plugin]?.length) return true;
  return false;
}

// ---- tabs ----

function offered() {
  const list = pages.filter(has);
  return list.length ? list : [scalars];
}

function drawTabs() {
  const list = offered();
  const want = location.hash.slice(1);
  const def = list.find((p) => p.id === want) || (page && list.includes(page.def) && !want ? page.def : list[0]);
  const key = list.map((p) => p.id).join();
  if (tabs.dataset.key !== key) {
    const focused = tabs.contains(document.activeElement);
    tabs.dataset.key = key;
    clear(tabs).append(...list.map((p) => h("button", {
      type: "button", role: "tab", id: "tab-" + p.id, "aria-controls": "main", dataset: { id: p.id },
      onclick: () => { location.hash = p.id; },
    }, p.label)));
    if (focused) tabs.firstChild?.focus();
  }
  for (const b of tabs.children) {
    const on = b.dataset.id === def.id;
    b.setAttribute("aria-selected", String(on));
    b.tabIndex = on ? 0 : -1;
    if (on) main.setAttribute("aria-labelledby", b.id);
  }
  return def;
}

tabs.addEventListener("keydown", (e) => {
  const all = [...tabs.children], i = all.indexOf(document.activeElement);
  const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: all.length - 1 }[e.key];
  if (to === undefined || i < 0) return;
  e.preventDefault();
  const b = all[(to + all.length) % all.length];
  b.focus();
  b.click();
});

function show() {
  const def = drawTabs();
  if (store.loading || !store.runs.size) {
    page?.view?.destroy();
    page = null;
    clear(main);
    main.append(store.offline && !store.boot ? empty("The server cannot be reached", "Is gotorch board still running? This page tries again by itself.")
      : store.loading ? h("div", { class: "empty" }, h("div", { class: "spinner" }), h("h2", {}, "Reading the logs…"), h("p", {}, "Large logs take a moment the first time."))
      : empty("No data yet", "There are no event files in the log directory so far. As soon as a program writes some, its runs appear here.",
        h("pre", {}, "w, err := tensorboard.NewSummaryWriter(\"runs/first\")\n…\nw.AddScalar(\"loss\", loss, step)"),
        h("p", { class: "waiting" }, h("span", { class: "pulse" }), "Waiting for data")));
    return;
  }
  if (page?.def === def) return;
  page?.view?.destroy();
  clear(main);
  main.className = "page-" + def.id;
  page = { def, view: null };
  page.view = def.mount(main);
  main.scrollTop = 0;
}

addEventListener("hashchange", show);

// ---- the list of runs ----

const aside = document.getElementById("runs");
const filter = h("input", {
  type: "search", class: "filter", id: "runfilter", placeholder: "Filter runs", "aria-label": "Filter runs (a regular expression)", value: store.filter, spellcheck: "false",
  oninput: debounce(() => setFilter(filter.value), 150),
});
const allBox = h("input", { type: "checkbox", "aria-label": "Show all listed runs", onchange: () => toggle(listed().map((r) => r.name), allBox.checked) });
const runCount = h("span", { class: "count" });
const list = h("ul", { class: "runlist" });
aside.append(h("div", { class: "runhead" }, h("label", { class: "check" }, allBox, h("span", {}, "Runs")), runCount), filter, list);
const rows = new Map();

function listed() {
  const ok = matcher(store.filter);
  return sorted().filter((r) => ok(r.name));
}

function row(r) {
  const box = h("input", { type: "checkbox", onchange: () => toggle([r.name], box.checked) });
  const pick = h("input", { type: "color", class: "swatch", "aria-label": "Colour of " + r.name, title: "Change colour", oninput: debounce(() => setColor(r, pick.value), 60) });
  const name = h("span", { class: "runname", title: r.name }, r.name === "." ? "(log directory)" : r.name);
  const only = h("button", {
    type: "button", class: "only", "aria-label": "Show only " + r.name,
    onclick: () => {
      const others = sorted().filter((x) => x.name !== r.name).map((x) => x.name);
      for (const n of others) store.hidden.add(n);
      toggle([r.name], true);
    },
  }, "only");
  const bad = h("span", { class: "bad", hidden: true }, "!");
  return { box, pick, name, bad, el: h("li", {}, h("label", {}, box, h("span", { class: "swbox" }, pick), name), bad, only) };
}

function drawRuns() {
  const shown = listed();
  const keep = new Set();
  let prev = null;
  for (const r of shown) {
    const key = r.id + ":" + r.name;
    keep.add(key);
    let e = rows.get(key);
    if (!e) rows.set(key, (e = row(r)));
    e.box.checked = !store.hidden.has(r.name);
    e.pick.value = hex(color(r));
    e.bad.hidden = !r.damaged;
    if (r.damaged) e.bad.title = `${r.damaged} damaged record${r.damaged > 1 ? "s" : ""} in this run's files`;
    if (prev ? prev.nextSibling !== e.el : list.firstChild !== e.el) prev ? prev.after(e.el) : list.prepend(e.el);
    prev = e.el;
  }
  for (const [k, e] of rows) if (!keep.has(k)) { e.el.remove(); rows.delete(k); }
  const on = shown.filter((r) => !store.hidden.has(r.name)).length;
  allBox.checked = on > 0 && on === shown.length;
  allBox.indeterminate = on > 0 && on < shown.length;
  runCount.textContent = shown.length === store.runs.size ? `${on} of ${shown.length}` : `${on} of ${shown.length} listed`;
  aside.classList.toggle("none", !store.runs.size);
}

// ---- the corner ----

const status = h("span", { class: "status", role: "status" });
const pause = iconButton("pause", "Stop following", () => {
  store.paused = !store.paused;
  pause.replaceChildren(icon(store.paused ? "play" : "pause"));
  const t = store.paused ? "Follow new data" : "Stop following";
  pause.title = t;
  pause.setAttribute("aria-label", t);
  drawStatus();
  if (!store.paused) tick();
});
function dark() {
  const t = document.documentElement.dataset.theme;
  return t ? t === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
const theme = iconButton("moon", "Dark or light", () => {
  const t = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = t;
  remember("theme", t);
  themed();
});
function themed() {
  theme.replaceChildren(icon(dark() ? "sun" : "moon"));
  emit("theme");
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
const keys = h("dialog", { class: "keys" }, h("h2", {}, "Keys"), h("dl", {},
  [["/", "filter runs"], ["t", "filter tags"], ["← →", "between tabs, when one has the focus; along a chart, when it has"], ["+ −", "zoom a chart"], ["0 or Esc", "show all of a chart"], ["d", "dark or light"], ["?", "this list"]]
    .map(([k, t]) => [h("dt", {}, h("kbd", {}, k)), h("dd", {}, t)])), h("p", {}, "With the mouse: drag across a chart to zoom, double click to see all of it again."),
  h("button", { type: "button", class: "primary", onclick: () => keys.close() }, "Close"));
document.body.append(keys);
const side = iconButton("menu", "Show or hide the runs", () => {
  const hidden = document.body.classList.toggle("noruns");
  remember("noruns", hidden);
});
if (setting("noruns", innerWidth < 700) === true) document.body.classList.add("noruns");
document.querySelector(".brand").prepend(side);
document.getElementById("actions").append(status, pause, theme, iconButton("help", "Keys", () => keys.showModal()));

function drawStatus() {
  status.className = "status" + (store.offline ? " off" : store.paused ? " paused" : " live");
  status.textContent = store.offline ? "Disconnected" : store.paused ? "Paused" : store.loading ? "Reading" : "Live";
  status.title = store.offline || "New data appear by themselves";
  document.getElementById("title").textContent = store.title;
  document.title = (store.title ? store.title + " – " : "") + "GoTorch Board";
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || keys.open) return;
  if (e.target.matches("input, select, textarea")) {
    if (e.key === "Escape" && e.target.type === "search") e.target.blur();
    return;
  }
  if (e.key === "/") { e.preventDefault(); document.body.classList.remove("noruns"); filter.focus(); }
  else if (e.key === "t") { const f = main.querySelector(".toolbar .filter"); if (f) { e.preventDefault(); f.focus(); } }
  else if (e.key === "d") theme.click();
  else if (e.key === "?") keys.showModal();
});

// ---- events ----

let painting = 0;
listen((what, detail) => {
  if (what === "status") { drawStatus(); show(); return; }
  if (what === "restart") { scalars.forgetCurves(); page?.view?.destroy(); page = null; clear(main); return; }
  if (what === "theme") { page?.view?.theme?.(); return; }
  drawRuns();
  if (what === "data") {
    const before = page;
    show();
    if (page && page === before) page.view?.data?.(detail);
    return;
  }
  // Several changes at once, as when "all" is ticked, draw once.
  cancelAnimationFrame(painting);
  painting = requestAnimationFrame(() => {
    page?.view?.runs?.();
    announce(`${visible().length} runs shown`);
  });
});

let timer = 0, polling = false;
async function tick() {
  clearTimeout(timer);
  if (polling || store.paused) return;
  polling = true;
  await refresh();
  polling = false;
  drawStatus();
  // A page in the background asks less often.
  const wait = store.loading ? 300 : store.offline ? 3000 : store.interval;
  timer = setTimeout(tick, document.hidden ? Math.max(wait, 15000) : wait);
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) tick(); });

themed();
drawStatus();
show();
tick();
