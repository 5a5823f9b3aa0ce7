// Images: one card per tag and run, with a slider over the steps.
import { h, get, url, fmtStep, fmtTime, iconButton, checkbox, setting, remember, save } from "./util.js";
import { color } from "./store.js";
import { Groups, perRun, tagFilter, cardHead } from "./groups.js";

export const id = "images", label = "Images", plugin = "images";

const options = { actual: setting("actual", false) === true };

export function runLine(entry) {
  return h("p", { class: "sub", title: entry.run.name }, h("span", { class: "sw", style: { background: color(entry.run) } }), entry.run.name);
}

// Steps is what images and sounds share: a slider that stays at the newest step
// until it is moved.
export class Steps {
  constructor(entry, what, show) {
    this.entry = entry;
    this.what = what;
    this.show = show;
    this.follow = true;
    this.points = [];
    this.text = h("span");
    this.time = h("span");
    this.range = h("input", {
      type: "range", min: "0", max: "0", value: "0", "aria-label": "Step",
      oninput: () => { this.follow = +this.range.value === this.points.length - 1; this.go(); },
    });
    this.el = h("div", { class: "stepper" }, this.text, this.range, this.time);
  }

  async load() {
    const d = await get("points", { plugin: this.what, tag: this.entry.tag, run: this.entry.run.id });
    this.points = d.points;
    this.v = d.v;
    this.range.max = String(Math.max(0, d.n - 1));
    if (this.follow || +this.range.value >= d.n) this.range.value = String(d.n - 1);
    this.range.hidden = d.n < 2;
    this.go();
  }

  go() {
    const i = +this.range.value, p = this.points[i];
    if (!p) return;
    this.text.replaceChildren("Step ", h("b", {}, fmtStep(Number(p[0]))));
    this.time.textContent = fmtTime(Number(p[1]));
    this.range.setAttribute("aria-valuetext", "step " + p[0]);
    // The version is part of the address: after a restart a point may be another.
    this.show(i, { tag: this.entry.tag, run: this.entry.run.id, i, p: p.join("-") });
  }
}

class Card {
  constructor(entry) {
    this.entry = entry;
    this.img = h("img", { alt: "", decoding: "async" });
    this.message = h("p", { class: "note", hidden: true });
    this.box = h("div", { class: "imgbox" }, this.img);
    this.img.addEventListener("load", () => {
      this.img.hidden = false;
      this.message.hidden = true;
      this.img.classList.toggle("small", this.img.naturalWidth < 256);
    });
    this.img.addEventListener("error", () => {
      this.img.hidden = true;
      this.message.textContent = "This image cannot be shown.";
      this.message.hidden = false;
    });
    this.steps = new Steps(entry, "images", (i, params) => {
      this.img.alt = `${entry.tag} of ${entry.run.name}, step ${this.steps.points[i][0]}`;
      this.src = url("image", params);
      this.img.src = this.src;
    });
    this.el = h("article", { class: "card" },
      cardHead(entry.name, runLine(entry), iconButton("expand", "Larger", (e) => {
        e.currentTarget.setAttribute("aria-pressed", String(this.el.classList.toggle("wide")));
      }, { "aria-pressed": "false" }), iconButton("download", "Download this image", async () => {
        const b = await (await fetch(this.src)).blob();
        save(b, `${entry.run.name}_${entry.tag}_${this.steps.range.value}.${b.type.split("/")[1] || "png"}`);
      })), this.steps.el, this.box, this.message);
    this.size();
  }

  size() { this.box.classList.toggle("actual", options.actual); }

  async draw() {
    try { await this.steps.load(); } catch (e) { this.message.textContent = e.message; this.message.hidden = false; }
  }
}

export function mount(root) {
  const bar = h("div", { class: "toolbar" });
  root.append(bar);
  const groups = new Groups(root, { name: "images", what: "images", list: () => perRun("images"), make: (e) => new Card(e) });
  bar.append(tagFilter(groups), checkbox("Actual size", options.actual, (v) => {
    options.actual = v;
    remember("actual", v);
    for (const c of groups.cards.values()) c.size();
  }));
  groups.update();
  return {
    data: (changed) => groups.update((e) => changed.has(e.run.id)),
    runs: () => groups.update(() => false),
    destroy: () => groups.destroy(),
  };
}
