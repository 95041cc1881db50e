// Inside: what a run thinks that words mean. Two runs can be seen beside each other.

import { job, newest } from "./api.js";
import { byId, fill, h, labelled, options, percent, quantity, duration } from "./dom.js";
import { curves } from "./chart.js";
import { matrix } from "./matrix.js";
import { aboutRun, meaning } from "./means.js";
import { Player } from "./player.js";
import { Starts } from "./starts.js";
import { news, safely, studio } from "./studio.js";

export async function openInside() {
  await new Inside().begin();
}

class Inside {
  constructor() {
    this.other = byId("inside-other");
    this.term = h("select", {});
    this.term.onchange = () => this.heat();
    fill(byId("inside-term"), labelled("Word", this.term));
    const start = new Player(byId("inside-stage"), { label: "the start" });
    this.starts = new Starts(byId("inside-starts"), {
      player: start, asked: () => ({ task: this.term.value, goal: true }), fits: true, draws: true, onstart: () => this.heat(),
    });
    this.other.onchange = () => this.runs();
    news.addEventListener("run", () => this.runs());
    news.addEventListener("about", () => this.options());
  }

  async begin() {
    this.options();
    await this.runs();
  }

  options() {
    const before = this.other.value, names = studio.about.runs.map((run) => run.name);
    options(this.other, ["", "none"], ...names.map((name) => [name, name]));
    this.other.value = names.includes(before) ? before : "";
  }

  async runs() {
    const names = [...new Set([studio.run, this.other.value])].filter(Boolean);
    byId("inside-none").hidden = names.length > 0;
    byId("inside-beside").hidden = studio.about.runs.length < 2;
    byId("inside-responses").hidden = !(names.length && studio.about.positions);
    this.columns = names.map((name) => new Column(name));
    fill(byId("inside-columns"), ...this.columns.map((column) => column.element));
    const terms = [...new Set(names.flatMap((name) => studio.about.runs.find((run) => run.name === name)?.terms ?? []))];
    const before = this.term.value;
    options(this.term, ...terms.map((term) => [term, term]));
    if (terms.includes(before)) this.term.value = before;
    this.maps = names.map((name) => new Heat(name));
    fill(byId("inside-heat"), ...this.maps.map((map) => map.element));
    if (names.length && studio.about.positions && !this.starts.scene) this.starts.draw();
    else this.heat();
    await Promise.all(this.columns.map((column) => safely(() => column.load())));
  }

  heat() {
    if (!studio.about.positions || !this.starts.scene || !this.term.value) return;
    for (const map of this.maps ?? []) safely(() => map.load(this.starts.where, this.starts.scene.picture, this.term.value));
  }
}

/** How sure a run is of a word, with the agent at each place, over the picture. */
class Heat {
  constructor(run) {
    Object.assign(this, { run, ask: newest() });
    const stage = h("div", { class: "heat" });
    this.caption = h("figcaption", { "aria-live": "polite" });
    this.element = h("figure", {}, this.caption, stage);
    this.player = new Player(stage, { label: `responses of ${run}` });
    this.player.inWords.hidden = true;
  }

  async load(where, picture, term) {
    const signal = this.ask();
    const known = studio.about.runs.find((run) => run.name === this.run)?.terms.includes(term);
    this.caption.textContent = known ? `${this.run}: asking …` : `${this.run} never learned ${term}`;
    this.player.over = null;
    if (!known) return this.player.show({ picture });
    const said = await job("responses", { ...where, run: this.run, terms: [term] }, { signal });
    if (signal.aborted) return;
    this.player.over = (context, width, height) => paint(context, said, said.values[term], width, height);
    this.caption.textContent = `${this.run}: ${term} ${summary(said.values[term].flat().filter(Number.isFinite))}`;
    this.player.label = this.caption.textContent;
    await this.player.show({ picture });
  }
}

function summary(shares) {
  const low = Math.min(...shares), high = Math.max(...shares), holds = shares.filter((share) => share > 0.5).length;
  if (high - low < 0.05) return `does not depend on where the agent is; here it is ${percent(high)} sure`;
  return `holds at ${holds} of ${quantity(shares.length, "place")}; at most ${percent(high)} sure`;
}

function paint(context, { rows, columns, box }, values, width, height) {
  const [x0, y0, x1, y1] = box, wide = ((x1 - x0) * width) / columns, high = ((y1 - y0) * height) / rows;
  values.forEach((line, row) => line.forEach((p, column) => {
    if (!Number.isFinite(p)) return;
    const [x, y] = [x0 * width + column * wide, y0 * height + row * high];
    context.fillStyle = `rgba(214, 40, 40, ${0.75 * p})`;
    context.fillRect(x, y, wide + 0.5, high + 0.5);
    if (p < 0.5) return;
    context.strokeStyle = "#ffffff";
    context.lineWidth = Math.max(1, wide / 24);
    context.strokeRect(x + wide * 0.06, y + high * 0.06, wide * 0.88, high * 0.88);
  }));
}

/** All about one run. */
class Column {
  constructor(name) {
    Object.assign(this, { name, ask: newest() });
    this.body = h("div", { class: "inside-body" }, h("p", { class: "soft", text: "asking …" }));
    this.gains = h("div", {}, h("p", { class: "soft", text: "counting what came before what …" }));
    this.element = h("section", { class: "card" }, h("h2", { text: name }), this.body, h("h3", { text: "What rests on what" }), this.gains);
  }

  async load() {
    const about = await aboutRun(this.name);
    const chart = h("div", { class: "charts" }), facts = Object.entries(about.settings);
    const steps = about.steps ? ` and ${quantity(about.steps, "step")}` : "";
    fill(this.body,
      h("p", { class: "note", text: `${quantity(about.terms.length, "term")}, learned in ${duration(about.seconds)}${steps}.` }),
      h("h3", { text: "What the words mean" }),
      about.readings.length
        ? h("ul", { class: "readings" }, ...about.readings.map(meaning))
        : h("p", { class: "note", text: "Networks tell what holds here; there is no sentence for what they learned." }),
      chart,
      h("details", {}, h("summary", { text: "Settings" }), h("dl", { class: "facts" }, ...facts.flatMap(([key, value]) => [
        h("dt", { text: key }), h("dd", { text: typeof value === "string" ? value : JSON.stringify(value) })]))));
    curves(chart)(about.curve ?? []);
    const found = await job("dependencies", { run: this.name }, { signal: this.ask() });
    fill(this.gains, matrix(found));
  }
}
