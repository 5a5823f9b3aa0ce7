// Small helpers: elements, numbers, requests, settings.

// h makes an element. Text always becomes text nodes: nothing from a log is ever
// parsed as HTML on this side.
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  setProps(el, props);
  append(el, children);
  return el;
}

// svg is h for SVG.
export function svg(tag, props, ...children) {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setProps(el, props);
  append(el, children);
  return el;
}

function setProps(el, props) {
  for (const [k, v] of Object.entries(props || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) el.addEventListener(k.slice(2), v);
    else if (k === "class") el.setAttribute("class", v);
    else if (k === "style") for (const [p, x] of Object.entries(v)) el.style.setProperty(p, x);
    else if (k === "dataset") Object.assign(el.dataset, v);
    else if (k in el && typeof v !== "string" && el.namespaceURI === "http://www.w3.org/1999/xhtml") el[k] = v;
    else if (k === "value" || k === "checked" || k === "disabled") el[k] = v;
    else el.setAttribute(k, v === true ? "" : v);
  }
}

function append(el, children) {
  for (const c of children.flat(Infinity)) {
    if (c === null || c === undefined || c === false) continue;
    el.append(c instanceof Node ? c : document.createTextNode(String(c)));
  }
}

export function clear(el) { el.replaceChildren(); return el; }

const icons = {
  expand: "M4 10V4h6M20 14v6h-6M4 4l7 7M20 20l-7-7",
  reset: "M4 12a8 8 0 1 0 2.500-5.800M4 4v4.500h4.500",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  log: "M4 20h16M4 20V4M5 19c1-9 5-13 15-14",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.500v15l12-7.500z",
  help: "M9 9a3 3 0 1 1 4.200 2.750c-.8.4-1.200 1-1.200 2V14M12 17.500v.5",
  chevron: "M9 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  menu: "M4 6h16M4 12h16M4 18h16",
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: icons[name] }));
}

export function iconButton(name, label, onclick, more) {
  return h("button", { type: "button", class: "iconbtn", title: label, "aria-label": label, onclick, ...more }, icon(name));
}

// ---- numbers ----

export function num(v) { return typeof v === "number" ? v : v === null ? NaN : Number(v); }

export function fmt(v, digits = 4) {
  if (typeof v !== "number") return String(v);
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "NaN" : v > 0 ? "+∞" : "−∞";
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 1e6 || a < 1e-4) return v.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("-", "−").replace("e-", "e−").replace("e+", "e");
  let s = a >= 1000 ? v.toFixed(Math.max(0, digits - 4)) : v.toPrecision(digits);
  if (s.includes(".")) s = s.replace(/\.?0+$/, "");
  return s.replace("-", "−");
}

// fmtTick keeps as many digits as neighbouring ticks need.
export function fmtTicks(splits) {
  if (splits.length < 2) return splits.map((v) => (v === null ? "" : fmt(v, 3)));
  const finite = splits.filter((v) => v !== null);
  const step = finite.length > 1 ? Math.abs(finite[1] - finite[0]) : 1;
  const most = Math.max(...finite.map(Math.abs));
  if (most === 0) return splits.map(() => "0");
  let places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (finite.some((v) => Math.abs(v * 10 ** places - Math.round(v * 10 ** places)) > 1e-3)) places++; // steps of 0.25
  places = Math.min(places, 12);
  return splits.map((v) => {
    if (v === null) return "";
    if (Math.abs(v) < step / 1e6) return "0";
    if (most >= 1e6 || most < 1e-3) {
      const digits = Math.max(1, Math.ceil(Math.log10(most / step)) + 1);
      if (most >= 1e6 && most < 1e12) {
        const [div, unit] = most >= 1e9 ? [1e9, "G"] : [1e6, "M"];
        return String(+(v / div).toPrecision(Math.min(digits + 1, 12))).replace("-", "−") + unit;
      }
      return v.toExponential(Math.min(digits, 10)).replace(/\.?0+e/, "e").replace("e+", "e").replaceAll("-", "−");
    }
    if (most >= 1e4 && step >= 100 && most < 1e6) return String(+(v / 1000).toPrecision(6)).replace("-", "−") + "k";
    return v.toFixed(places).replace("-", "−");
  });
}

export function fmtStep(v) { return Number.isFinite(v) ? Math.round(v).toLocaleString("en-US") : "–"; }

export function fmtDuration(s) {
  if (!Number.isFinite(s)) return "–";
  const sign = s < 0 ? "−" : "";
  s = Math.abs(s);
  if (s < 60) return sign + (s < 10 ? +s.toFixed(2) : +s.toFixed(1)) + "s";
  const pair = (a, x, b, y) => sign + a + x + (b ? ` ${b}${y}` : "");
  if (s < 3600) return pair(Math.floor(s / 60), "m", Math.floor(s % 60), "s");
  if (s < 86400) return pair(Math.floor(s / 3600), "h", Math.floor((s % 3600) / 60), "m");
  return pair(Math.floor(s / 86400), "d", Math.floor((s % 86400) / 3600), "h");
}

const two = (n) => String(n).padStart(2, "0");

export function fmtTime(sec) {
  const d = new Date(sec * 1000);
  if (Number.isNaN(d.getTime())) return "–";
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

// fmtTimeTicks says no more than tells ticks apart.
export function fmtTimeTicks(splits) {
  const step = splits.length > 1 ? splits[1] - splits[0] : 1;
  let day = "";
  return splits.map((v) => {
    const t = fmtTime(v);
    if (t === "–") return "";
    const [date, clock] = t.split(" ");
    if (step >= 86400) return date.slice(5);
    const c = step >= 60 ? clock.slice(0, 5) : clock;
    if (date === day) return c;
    const first = day === "";
    day = date;
    return first ? c : date.slice(5) + " " + c;
  });
}

// ---- requests ----

export class HTTPError extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

const cache = new Map(); // url → {etag, data}: answers to If-None-Match

export async function get(path, params, signal) {
  const url = "/api/" + path + "?" + new URLSearchParams(params || {});
  const old = cache.get(url);
  let r;
  try {
    r = await fetch(url, { signal, headers: old ? { "If-None-Match": old.etag } : {}, cache: "no-store" });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new HTTPError(0, "The server cannot be reached.");
  }
  if (r.status === 304 && old) return old.data;
  let data = null;
  try { data = await r.json(); } catch { /* reported below */ }
  if (!r.ok) throw new HTTPError(r.status, data?.error ? sentence(data.error) : "The server answered with " + r.status + ".");
  const etag = r.headers.get("ETag");
  if (etag) {
    cache.delete(url);
    cache.set(url, { etag, data });
    if (cache.size > 300) cache.delete(cache.keys().next().value);
  }
  return data;
}

function sentence(s) { return s.charAt(0).toUpperCase() + s.slice(1) + (/[.!?]$/.test(s) ? "" : "."); }

export function url(path, params) { return "/api/" + path + "?" + new URLSearchParams(params); }

export function save(blob, name) {
  const a = h("a", { href: URL.createObjectURL(blob), download: name.replace(/[^\w.-]+/g, "_") });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

// ---- settings, kept by the browser ----

export function setting(name, def) {
  try {
    const v = JSON.parse(localStorage.getItem("board." + name));
    return v === null ? def : v;
  } catch { return def; }
}

export function remember(name, value) {
  try { localStorage.setItem("board." + name, JSON.stringify(value)); } catch { /* works without */ }
}

export function debounce(f, ms) {
  let t = 0;
  return (...a) => { clearTimeout(t); t = setTimeout(() => f(...a), ms); };
}

export function cssVar(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

export function announce(text) { document.getElementById("announce").textContent = text; }

// ---- controls ----

export function segmented(label, options, value, onchange) {
  const el = h("div", { class: "seg", role: "radiogroup", "aria-label": label });
  const set = (v) => {
    for (const b of el.children) {
      const on = b.dataset.value === v;
      b.setAttribute("aria-checked", on);
      b.tabIndex = on ? 0 : -1;
    }
  };
  for (const [v, text] of options) {
    el.append(h("button", { type: "button", role: "radio", dataset: { value: v }, onclick: () => { set(v); onchange(v); } }, text));
  }
  el.addEventListener("keydown", (e) => {
    const d = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (!d) return;
    e.preventDefault();
    const all = [...el.children];
    const b = all[(all.indexOf(document.activeElement) + d + all.length) % all.length];
    b.focus();
    b.click();
  });
  set(value);
  return el;
}

export function checkbox(label, value, onchange) {
  const box = h("input", { type: "checkbox", checked: value, onchange: () => onchange(box.checked) });
  return h("label", { class: "check" }, box, h("span", {}, label));
}

export function select(label, options, value, onchange) {
  const s = h("select", { "aria-label": label, onchange: () => onchange(s.value) });
  for (const [v, text] of options) s.append(h("option", { value: v }, text));
  s.value = value;
  return s;
}

export function field(label, control) { return h("label", { class: "field" }, h("span", {}, label), control); }

export function empty(title, ...text) {
  return h("div", { class: "empty" }, h("h2", {}, title), ...text.map((t) => (t instanceof Node ? t : h("p", {}, t))));
}
