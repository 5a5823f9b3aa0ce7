// Tags in groups that fold, each with cards that are drawn when they come in sight.
import { h, icon, clear, setting, remember, empty } from "./util.js";
import { matcher, tagsOf, visible, store } from "./store.js";

// Groups shows cards made by make(entry) → {el, draw(), destroy()}; entries come
// from list() as {key, group, ...}. draw is called whenever a card in sight is out
// of date.
export class Groups {
  constructor(root, opts) {
    this.root = root;
    this.o = opts;
    this.cards = new Map(); // key → card
    this.sections = new Map();
    this.filter = "";
    this.body = h("div", { class: "groups" });
    root.append(this.body);
    this.seen = new IntersectionObserver((es) => {
      for (const e of es) {
        const c = e.target.card;
        if (!c) continue;
        c.inSight = e.isIntersecting;
        if (c.inSight && c.stale) this.draw(c);
      }
    }, { rootMargin: "150px" });
  }

  destroy() {
    this.seen.disconnect();
    for (const c of this.cards.values()) c.destroy?.();
  }

  draw(c) {
    c.stale = false;
    c.draw();
  }

  // update makes and removes cards; those for which changed(entry) is true, or all,
  // are drawn again.
  update(changed) {
    const ok = matcher(this.filter);
    const all = this.o.list();
    const entries = all.filter((e) => ok(e.match ?? e.key));
    const keys = new Set(entries.map((e) => e.key));
    for (const [k, c] of this.cards) {
      if (keys.has(k)) continue;
      this.seen.unobserve(c.el);
      c.destroy?.();
      c.el.remove();
      this.cards.delete(k);
    }
    this.body.querySelector(".empty")?.remove();
    if (!entries.length) {
      for (const s of this.sections.values()) s.el.remove();
      this.sections.clear();
      this.body.append(this.nothing(all.length));
      return;
    }
    const groups = new Map();
    for (const e of entries) {
      if (!groups.has(e.group)) groups.set(e.group, []);
      groups.get(e.group).push(e);
    }
    for (const [g, s] of this.sections) if (!groups.has(g)) { s.el.remove(); this.sections.delete(g); }
    let before = null;
    const folded = setting("folded." + this.o.name, {});
    for (const [g, list] of groups) {
      let s = this.sections.get(g);
      if (!s) this.sections.set(g, (s = this.section(g, folded[g] ?? false)));
      s.count.textContent = list.length;
      if (before ? before.nextSibling !== s.el : this.body.firstChild !== s.el) before ? before.after(s.el) : this.body.prepend(s.el);
      before = s.el;
      let prev = null;
      for (const e of list) {
        let c = this.cards.get(e.key);
        if (!c) {
          c = this.o.make(e);
          c.el.card = c;
          c.stale = true;
          this.cards.set(e.key, c);
          this.seen.observe(c.el);
        } else {
          c.entry = e;
          if (!changed || changed(e)) c.stale = true;
        }
        c.update?.(e);
        if (prev ? prev.nextSibling !== c.el : s.grid.firstChild !== c.el) prev ? prev.after(c.el) : s.grid.prepend(c.el);
        prev = c.el;
        if (c.stale && c.inSight) this.draw(c);
      }
    }
  }

  section(name, folded) {
    const count = h("span", { class: "count" });
    const grid = h("div", { class: "grid " + (this.o.gridClass || "") });
    const button = h("button", { type: "button", class: "group", "aria-expanded": String(!folded) }, icon("chevron"), h("span", {}, name), count);
    const el = h("section", { class: "section" }, h("h2", {}, button), grid);
    grid.hidden = folded;
    button.addEventListener("click", () => {
      grid.hidden = !grid.hidden;
      button.setAttribute("aria-expanded", String(!grid.hidden));
      remember("folded." + this.o.name, { ...setting("folded." + this.o.name, {}), [name]: grid.hidden });
    });
    return { el, grid, count };
  }

  nothing(others) {
    if (others) return empty("No tag matches", `None of ${others} tags here matches “${this.filter}”.`);
    if (!visible().length && store.runs.size) return empty("No run is selected", "Tick some runs in the list to see their data.");
    return empty("Nothing here", `The selected runs have logged no ${this.o.what}.`);
  }
}

// group of a tag: what stands before its first slash.
export function groupOf(tag) {
  const i = tag.indexOf("/");
  return i > 0 ? tag.slice(0, i) : tag;
}

// perRun lists one entry for each tag of each visible run.
export function perRun(plugin) {
  const out = [];
  for (const t of tagsOf(plugin)) {
    for (const r of t.runs) out.push({ key: r.run.id + ":" + t.tag, match: t.tag, group: groupOf(t.tag), tag: t.tag, name: t.name, desc: t.desc, run: r.run, n: r.n, v: r.v });
  }
  return out;
}

export function tagFilter(groups) {
  return h("input", {
    type: "search", class: "filter", placeholder: "Filter tags", "aria-label": "Filter tags (a regular expression)", spellcheck: "false",
    oninput: (e) => { groups.filter = e.target.value; groups.update(() => false); },
  });
}

// cardHead is the title line of a card.
export function cardHead(title, sub, ...buttons) {
  return h("div", { class: "head" }, h("div", { class: "names" }, h("h3", { title }, title), sub), h("div", { class: "tools" }, buttons));
}

export function note(el, text) {
  clear(el).append(h("p", { class: "note" }, text));
}
