// Instruct: say what you want, and see how it is done.

import { job } from "./api.js";
import { byId, button, duration, fill, h, kept, keep, labelled, options, quantity } from "./dom.js";
import { TaskField } from "./field.js";
import { MachineView } from "./machine.js";
import { aboutRun, meaning } from "./means.js";
import { Player } from "./player.js";
import { Starts } from "./starts.js";
import { news, safely, say, studio, terms } from "./studio.js";
import { Timeline } from "./timeline.js";

let part = null;

export async function openInstruct() {
  part = new Instruct();
  await part.begin();
}

class Instruct {
  constructor() {
    const player = (this.player = new Player(byId("instruct-stage"), { label: "the world", onstep: (at) => this.moment(at), below: byId("instruct-timeline") }));
    this.timeline = new Timeline(byId("instruct-timeline"), { onseek: (at) => player.go(at, true) });
    this.machine = new MachineView(byId("instruct-machine"));
    this.field = new TaskField(byId("instruct-field"), {
      label: "Instruction", known: terms, hint: studio.about.example.task,
      onread: (said) => this.understood(said), onenter: () => this.plan(),
    });
    this.goal = h("select", {});
    fill(byId("instruct-goal"), labelled("Goal: what shall be true in the end", this.goal));
    this.goal.onchange = () => this.starts.fits.checked && this.starts.draw();
    this.starts = new Starts(byId("instruct-starts"), { player, asked: () => this.asked(), onstart: () => this.clear() });
    this.planButton = byId("instruct-plan");
    this.planButton.onclick = () => this.plan();
    this.cancel = byId("instruct-cancel");
    this.cancel.onclick = () => this.control?.abort();
    for (const radio of document.querySelectorAll("[name=instruct-mode]")) radio.onchange = () => this.mode();
    news.addEventListener("run", () => this.runChosen());
    news.addEventListener("instruct", () => this.filled());
  }

  get goalOnly() {
    return byId("mode-goal").checked;
  }
  asked() {
    return this.goalOnly ? { task: this.goal.value, goal: true } : { task: this.field.value, goal: false };
  }

  async begin() {
    this.listGoals();
    this.runChosen();
    const { example } = studio.about, wanted = kept("instruct");
    keep("instruct", null);
    this.field.value = wanted ?? (terms().length && !this.allKnown(example.task) ? terms()[0] : example.task);
    await this.starts.draw();
    news.addEventListener("back", () => this.starts.scene || this.starts.draw());
  }

  /** Another part of the page wants a task to be planned. */
  filled() {
    const wanted = kept("instruct");
    if (!wanted) return;
    keep("instruct", null);
    byId("mode-task").checked = true;
    this.mode();
    this.field.value = wanted;
    this.starts.draw();
  }

  allKnown(task) {
    return (task.match(/[^\s();,]+/g) ?? []).every((word) => ["then", "or", "and", ...terms()].includes(word));
  }

  listGoals() {
    const before = this.goal.value || studio.about.example.goal;
    options(this.goal, ...terms().map((term) => [term, term]));
    if (terms().includes(before)) this.goal.value = before;
  }

  runChosen() {
    this.listGoals();
    this.planButton.disabled = !studio.run;
    byId("instruct-none").hidden = Boolean(studio.run);
    if (this.field.value) this.field.read();
  }

  mode() {
    byId("instruct-field").hidden = this.goalOnly;
    byId("instruct-goal").hidden = !this.goalOnly;
    byId("instruct-machine").hidden = this.goalOnly || !this.machine.nodes.length;
    if (this.starts.fits.checked) this.starts.draw();
  }

  understood(said) {
    if (said && !this.found) this.machine.set(said.machine);
    if (said && this.found && said.task !== this.found.task && !this.goalOnly) this.machine.set(said.machine);
    if (this.goalOnly) byId("instruct-machine").hidden = true;
    if (said && !this.goalOnly) safely(() => this.explain(said.terms));
  }

  /** What the words of an instruction mean to the run, where it can say that. */
  async explain(words) {
    const list = byId("instruct-means"), { run } = studio;
    const { readings } = run ? await aboutRun(run) : { readings: [] };
    const told = readings.filter(({ term, sure }) => words.includes(term) && typeof sure === "number");
    fill(list, ...told.map(meaning));
    list.hidden = !told.length;
  }

  clear() {
    this.found = null;
    fill(byId("instruct-told"));
    byId("instruct-timeline").hidden = true;
    this.machine.light(null);
  }

  /** A search that its budget ended can be given ten times as much. */
  longer({ ended, expansions }) {
    const budget = Math.min(10 * expansions, studio.about.limits.budget);
    if (ended !== "budget" || budget <= expansions) return null;
    return button(`Search longer: ${budget.toLocaleString("en")} expansions`, () => this.plan(budget));
  }

  async plan(budget = null) {
    if (this.control || !studio.run) return;
    await this.starts.drawing;
    if (!this.starts.scene) return say("there is no start yet: choose another one", "bad");
    const { task } = this.asked();
    if (!task) return say("say what you want first", "bad");
    this.clear();
    this.control = new AbortController();
    this.busy(true);
    const what = this.goalOnly ? { goal: task } : { task };
    const found = await safely(() =>
      job("plan", { ...this.starts.where, run: studio.run, ...what, budget }, {
        progress: (now) => this.progress(now), signal: this.control.signal,
      }));
    if (this.control.signal.aborted) say("planning was cancelled");
    this.control = null;
    this.busy(false);
    if (found) await this.tell(found);
  }

  busy(on) {
    this.planButton.disabled = on || !studio.run;
    this.cancel.hidden = !on;
    byId("instruct-busy").hidden = true;
  }

  progress({ expansions = 0, budget = 0 }) {
    byId("instruct-busy").hidden = false;
    const bar = byId("instruct-progress");
    bar.max = budget || 1;
    bar.value = expansions;
    byId("instruct-expansions").textContent = `${expansions.toLocaleString("en")} of at most ${budget.toLocaleString("en")} expansions`;
  }

  async tell(found) {
    this.found = found;
    const steps = found.actions.length;
    if (found.machine) this.machine.set(found.machine);
    if (this.goalOnly) safely(() => this.explain(found.machine.nodes.map((node) => node.label)));
    if (found.found) {
      say(`${quantity(steps, "step")}: ${found.parts.map((one) => one.term).join(", then ")}`, "good");
      fill(byId("instruct-told"), figures(found), ...remarks(found, this.goalOnly));
    } else {
      say(found.reason, "bad");
      fill(byId("instruct-told"), ...why(found), this.longer(found));
    }
    if (!steps) return this.player.show(this.starts.scene);
    await safely(() => this.player.load({ ...this.starts.where, actions: found.actions }));
    byId("instruct-timeline").hidden = false;
    this.timeline.set({ steps, segments: found.parts, actions: found.actions });
    this.moment(0);
    if (window.matchMedia("(max-width: 56rem)").matches) this.player.canvas.scrollIntoView({ block: "center" });
    if (found.found && !window.matchMedia("(prefers-reduced-motion: reduce)").matches) this.player.toggle();
  }

  moment(at) {
    if (!this.found) return;
    this.timeline.moment(at);
    const { nodes, machine, found } = this.found;
    this.machine.light(at < nodes.length ? nodes[at] : found ? machine.nodes.length - 1 : null);
  }
}

function figures({ actions, cost, expansions, seconds }) {
  const tile = (value, words) => h("div", { class: "tile" }, h("b", { text: value }), h("span", { text: words }));
  return h("div", { class: "tiles" }, tile(actions.length, "steps"), tile(cost === null ? "?" : cost.toFixed(2), "cost"),
    tile(expansions.toLocaleString("en"), "expansions"), tile(duration(seconds), "of planning"));
}

function remarks({ task, likely, right }, goalOnly) {
  const said = [];
  if (goalOnly) said.push(h("p", { text: "On the way: " }, h("b", { text: task })));
  if (likely) said.push(h("p", { class: "note", text: "It counts on what a word is only likely to mean: there was no way to all that it may mean." }));
  const wrong = "the plan does not do what was asked: a word was not learned quite right.";
  if (typeof right === "boolean")
    said.push(h("p", { class: right ? "note" : "bad", text: `Played in the true world, ${right ? "the plan does what was asked." : wrong}` }));
  return said;
}

function why({ reason, reached, missed, expansions, seconds, actions }) {
  const list = (title, names) => (names.length ? h("p", {}, h("b", { text: `${title}: ` }), names.join(", ")) : null);
  return [
    h("p", { class: "bad", text: reason.charAt(0).toUpperCase() + reason.slice(1) }),
    list("Reached on some way", reached), list("Never reached", missed),
    h("p", { class: "note", text: `${expansions.toLocaleString("en")} expansions in ${duration(seconds)}.` + (actions.length ? " This is how far it came:" : "") }),
    h("p", { class: "note", text: "Try another start, or one where the task can be done." }),
  ].filter(Boolean);
}
