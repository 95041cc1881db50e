// Review: what was recorded, how it is cut into subgoals, and a cut that a person knows better.

import { get, job, newest, put } from "./api.js";
import { byId, button, fill, h, keep, kept, percent, quantity, unhurried } from "./dom.js";
import { TaskField } from "./field.js";
import { Pages } from "./pages.js";
import { Player } from "./player.js";
import { news, safely, say, studio } from "./studio.js";
import { Timeline } from "./timeline.js";

export async function openReview() {
  await new Review().begin();
}

class Review {
  constructor() {
    Object.assign(this, { cutting: newest(), drafts: kept("drafts") ?? {} });
    this.pages = new Pages(byId("review-list"), {
      path: "demos",
      row: ({ episode, task, steps, corrected }) => [
        h("span", { class: "soft number", text: episode }), h("span", { class: "task", text: task }),
        h("span", { class: "soft", text: `${quantity(steps, "step")}${corrected ? " · corrected" : ""}` })],
      onchoose: ({ episode }) => safely(() => this.open(episode)),
      oncount: ({ count, matching }) => {
        byId("review-count").textContent = matching === count ? quantity(count, "recording") : `${matching.toLocaleString("en")} of ${quantity(count, "recording")}`;
        byId("review-none").hidden = count > 0;
      },
    });
    this.player = new Player(byId("review-stage"), { label: "the recording", onstep: (at) => this.timeline.moment(at) });
    this.timeline = new Timeline(byId("review-timeline"), { onseek: (at) => this.player.go(at, true), onmove: () => this.moved() });
    this.field = new TaskField(byId("review-field"), {
      label: "Description", known: () => studio.about.terms, run: () => null, onread: (said) => this.described(said),
    });
    byId("review-filter").oninput = unhurried(() => this.pages.load(byId("review-filter").value.trim()), 200);
    byId("review-keep").onclick = () => safely(() => this.keep());
    byId("review-forget").onclick = () => safely(() => this.forget());
    byId("review-reset").onclick = () => this.reset();
    news.addEventListener("about", () => studio.about.demos?.count !== this.count && this.begin());
    news.addEventListener("run", () => this.demo && safely(() => this.cut()));
  }

  async begin() {
    this.count = studio.about.demos?.count ?? 0;
    if (!this.count) return (byId("review-none").hidden = false);
    if ((await this.pages.load()) && !this.demo) await this.pages.choose(0);
  }

  async open(episode) {
    const demo = await get(`demos/${episode}`);
    this.demo = demo;
    byId("review-one").hidden = false;
    byId("review-title").textContent = `Recording ${episode}`;
    const draft = this.drafts[episode];
    this.task = draft?.task ?? demo.correction?.task ?? demo.task;
    this.ends = draft?.ends ?? demo.correction?.ends ?? null;
    this.field.value = this.task;
    this.timeline.set({ steps: demo.steps, actions: demo.actions ?? [] });
    const { setting, start, actions } = demo;
    await Promise.all([this.player.load({ episode }, { setting, start, actions }), this.cut()]);
    if (draft) say("what you changed here and did not keep yet is still there", "good");
  }

  /** Cut the recording by what it is said to be; a person's ends count more than the run's. */
  async cut() {
    const signal = this.cutting(), { demo, task } = this;
    byId("review-run").textContent = studio.run ? `Cut by ${studio.run}.` : "There is no run to cut it with.";
    this.state();
    if (!studio.run || !task) return;
    const found = await safely(() => job("segment", { episode: demo.episode, run: studio.run, task }, { signal }));
    if (signal.aborted || demo !== this.demo) return;
    this.found = found || { segments: [], curves: {} };
    this.see();
  }

  see() {
    const { segments, curves, second } = this.found, { steps, actions } = this.demo;
    let start = 0;
    const own = this.ends?.map(([term, end]) => ({ term, start, end: (start = end) }));
    this.timeline.set({ steps, segments: own ?? segments.map((one) => ({ ...one })), actions: actions ?? [], curves });
    this.timeline.moment(this.player.at);
    const least = Math.min(...segments.map((one) => one.confidence ?? 1));
    byId("review-sure").textContent = own
      ? "These ends are a person's."
      : segments.length ? `The least sure end: ${percent(least)}. ${second ? "A second way to cut it is nearly as likely." : ""}` : "";
    this.state();
  }

  described(said) {
    if (!said || !this.demo || this.field.value === this.task) return;
    this.task = this.field.value;
    this.ends = null;
    this.draft();
    safely(() => this.cut());
  }

  moved() {
    this.ends = this.timeline.segments.map(({ term, end }, at, all) => [term, at < all.length - 1 ? end : this.demo.steps]);
    byId("review-sure").textContent = "These ends are a person's.";
    this.draft();
    this.state();
  }

  draft() {
    this.drafts[this.demo.episode] = { task: this.task, ends: this.ends };
    this.save();
  }
  undraft() {
    delete this.drafts[this.demo.episode];
    this.save();
  }
  save() {
    keep("drafts", this.drafts);
  }

  state() {
    const changed = Boolean(this.drafts[this.demo.episode]);
    byId("review-keep").disabled = byId("review-reset").disabled = !changed;
    byId("review-forget").hidden = !this.demo.correction;
    byId("review-told").textContent = this.demo.correction ? `Corrected; it was recorded as “${this.demo.task}”.` : "";
  }

  reset() {
    this.undraft();
    safely(() => this.open(this.demo.episode));
  }

  async keep() {
    const { episode, task } = this.demo;
    await put(`demos/${episode}`, { task: this.task === task ? null : this.task, ends: this.ends });
    await this.after(`the correction of recording ${episode} is kept. Train again, and it counts.`);
  }

  async forget() {
    const { episode } = this.demo;
    await put(`demos/${episode}`, { task: null, ends: null });
    await this.after(`recording ${episode} is as it was recorded again`);
  }

  async after(told) {
    this.undraft();
    await this.open(this.demo.episode);
    await this.pages.load();
    fill(byId("review-next"), button("Train again", () => (location.hash = "teach")));
    say(told, "good");
  }
}
