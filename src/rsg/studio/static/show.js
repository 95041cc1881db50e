// Show: do something yourself, see what it looks like, and say what it was.

import { job, newest, post } from "./api.js";
import { byId, button, fill, h, keep, kept, percent, quantity } from "./dom.js";
import { TaskField } from "./field.js";
import { Player } from "./player.js";
import { Starts } from "./starts.js";
import { news, refresh, safely, say, studio } from "./studio.js";
import { Timeline } from "./timeline.js";

const ARROWS = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
const RANKED = 5;

export async function openShow() {
  await new Show().begin();
}

class Show {
  constructor() {
    Object.assign(this, { moves: [], good: 0, guess: newest(), walks: 0 });
    this.player = new Player(byId("show-stage"), { label: "where you are" });
    this.timeline = new Timeline(byId("show-timeline"), {});
    this.field = new TaskField(byId("show-field"), {
      label: "What was it?", known: () => studio.about.terms, run: () => null, hint: studio.about.example.task,
      onread: (said) => this.described(said), onenter: () => this.keep(),
    });
    this.starts = new Starts(byId("show-starts"), {
      player: this.player, asked: () => ({ task: this.field.value, goal: false }), fits: false, draws: true,
      onstart: () => this.anew(),
    });
    this.ranked = byId("show-ranked");
    this.keepButton = byId("show-keep");
    this.keepButton.onclick = () => this.keep();
    this.controls();
    document.addEventListener("keydown", (event) => this.key(event));
    news.addEventListener("run", () => this.recognise());
    news.addEventListener("back", () => (this.starts.scene ? this.walk() : this.starts.draw()));
    news.addEventListener("show", () => this.wanted());
  }

  controls() {
    const { names, help } = studio.about.moves;
    const order = (name) => ({ up: 0, left: 1, right: 2, down: 3 })[name] ?? 4;
    const move = (name) => button(SIGN[name] ?? name, () => this.move(name), { class: `move to-${SIGN[name] ? name : "do"}`, "aria-label": name });
    const plain = [...names].filter((name) => !name.startsWith("half ")).sort((a, b) => order(a) - order(b));
    fill(byId("show-moves"), h("div", { class: "cross" }, ...plain.filter((name) => SIGN[name]).map(move)),
      h("div", { class: "others" }, ...plain.filter((name) => !SIGN[name]).map(move)));
    this.undo = button("Undo (u)", () => this.take(-1));
    this.restart = button("Restart (r)", () => this.take(-Infinity));
    this.bring = button("", () => safely(() => this.bringBack()), { hidden: true });
    fill(byId("show-back"), this.undo, this.restart, this.bring);
    byId("show-keys").textContent = help ? `Keys: ${help.replace(/ {2,}/g, ", ")}.` : "";
  }

  async begin() {
    const had = kept("walk");
    if (had) {
      this.field.value = had.text;
      this.starts.seed.value = had.seed;
      const restored = await safely(() => post("walk", had.walk));
      if (restored) {
        await this.starts.take({ ...restored, actions: [] });
        this.moves = had.walk.actions;
        this.good = this.moves.length;
        await this.player.show(restored);
        this.changed();
        if (this.moves.length) say(`what you did here is restored: ${quantity(this.moves.length, "move")}`, "good");
        return;
      }
    }
    this.wanted();
    await this.starts.draw();
  }

  /** A word that is to be shown, from another part of the page. */
  wanted() {
    const word = kept("show");
    keep("show", null);
    if (word) this.field.value = word;
  }

  async bringBack() {
    const { scene, moves } = this.aside;
    this.moves = [];
    await this.starts.take(scene);
    this.aside = null;
    this.moves = moves;
    await this.walk();
  }

  get where() {
    return { ...this.starts.where, actions: this.moves };
  }

  /** From another start; moves that were not kept are put aside, not lost. */
  anew() {
    if (this.moves.length) this.aside = { scene: this.origin, moves: this.moves };
    this.origin = this.starts.scene;
    this.ended = false;
    this.moves = [];
    this.good = 0;
    this.changed();
  }

  move(name) {
    if (!this.starts.scene || this.ended) return;
    this.moves = [...this.moves, name];
    this.walk();
  }

  take(count) {
    this.moves = this.moves.slice(0, Math.max(0, this.moves.length + count));
    this.walk();
  }

  /** Show where the moves lead; moves go on meanwhile, and only the newest answer is shown. */
  async walk() {
    const number = (this.walks += 1), asked = this.where;
    this.changed();
    try {
      const scene = await post("walk", asked);
      if (number !== this.walks) return;
      this.good = asked.actions.length;
      this.ended = scene.ended;
      await this.player.show(scene);
      if (scene.ended) say("it ends here: nothing more can be done");
    } catch (error) {
      if (number !== this.walks || error.name !== "Refused") return;
      say(error.message, "bad");
      this.moves = this.moves.slice(0, this.good);
      this.changed();
    }
  }

  changed() {
    keep("walk", this.starts.scene ? { walk: this.where, text: this.field.value, seed: this.starts.seed.value } : null);
    this.undo.disabled = this.restart.disabled = !this.moves.length;
    this.bring.hidden = !this.aside;
    if (this.aside) this.bring.textContent = `Bring back the ${quantity(this.aside.moves.length, "move")} before`;
    byId("show-count").textContent = quantity(this.moves.length, "move");
    this.described();
    this.recognise();
  }

  described(said) {
    if (said !== undefined) this.said = said;
    if (this.starts?.scene) keep("walk", { walk: this.where, text: this.field.value, seed: this.starts.seed.value });
    this.keepButton.disabled = !(this.said && this.moves.length) || this.keeping;
    const learned = new Set(studio.about.runs.find((run) => run.name === studio.run)?.terms ?? []);
    const fresh = (this.said?.terms ?? []).filter((term) => !learned.has(term));
    fill(byId("show-meant"));
    if (fresh.length && said && studio.run) this.meant(said);
    byId("show-new").textContent = fresh.length && studio.run ? `${fresh.join(", ")}: the run ${studio.run} never learned that. A few demonstrations teach it.` : "";
  }

  /** A new word may be an old one with a slip: then the run knows one like it. */
  async meant(said) {
    const text = this.field.value;
    const refused = await post("read", { run: studio.run, text }).catch((error) => error);
    if (said !== this.said || !refused.suggestion) return;
    const wrong = text.slice(refused.position).match(/^[^\s(),;]*/)[0].length;
    const mended = text.slice(0, refused.position) + refused.suggestion + text.slice(refused.position + wrong);
    fill(byId("show-meant"), button(`Did you mean ${refused.suggestion}?`, () => (this.field.value = mended)));
  }

  async recognise() {
    const signal = this.guess(), steps = this.moves.length;
    if (!studio.run || !steps) {
      fill(this.ranked, h("li", { class: "soft", text: studio.run ? "Move, and guesses appear here." : "No run is there to guess with." }));
      byId("show-timeline").hidden = true;
      return;
    }
    if (!this.ranked.querySelector("button")) fill(this.ranked, h("li", { class: "soft", text: "guessing …" }));
    const found = await safely(() => job("recognise", { ...this.where, run: studio.run, prefix: true }, { signal }));
    if (!found || signal.aborted) return;
    fill(this.ranked, ...found.ranked.slice(0, RANKED).map((one) => this.guessed(one)));
    byId("show-timeline").hidden = false;
    this.timeline.set({ steps, segments: found.segments, actions: this.moves });
    this.timeline.moment(steps);
  }

  guessed({ task, probability }) {
    const bar = h("span", { class: "share" });
    bar.style.width = `${100 * probability}%`;
    const use = button(task, () => (this.field.value = task), { class: "plain", title: "describe it so" });
    return h("li", {}, h("span", { class: "bar", "aria-hidden": "true" }, bar), h("span", { class: "number", text: percent(probability) }), use);
  }

  key(event) {
    if (byId("show").hidden || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target, key } = event;
    if (target.closest("input, select, textarea, [role=tab], summary, .combo")) return;
    if (target.closest("button") && (key === "Enter" || key === " ")) return;
    const { names, keys } = studio.about.moves;
    const what = ARROWS[key] ?? keys[key] ?? keys[key.toLowerCase()];
    if (names.includes(what)) this.move(what);
    else if (what === "undo" || key === "Backspace") this.take(-1);
    else if (what === "restart") this.take(-Infinity);
    else return;
    event.preventDefault();
  }

  async keep() {
    if (this.keepButton.disabled) return;
    this.keeping = this.keepButton.disabled = true;
    const task = this.field.value;
    const made = await safely(() => post("demos", { ...this.where, task }));
    this.keeping = false;
    if (!made) return this.described();
    keep("walk", null);
    this.moves = [];
    await safely(() => refresh());
    await this.starts.another();
    say(`kept: “${task}” is episode ${made.episode}, one of ${quantity(made.count, "recording")} now. Here is another start.`, "good");
    if (!this.starts.scene) this.anew();
    this.player.canvas.focus();
  }
}

const SIGN = { up: "▲", down: "▼", left: "◀", right: "▶" };
