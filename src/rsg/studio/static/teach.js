// Teach: from what was shown to a new run, with what is learned seen while it is learned.

import { followed, get, job } from "./api.js";
import { byId, button, duration, fill, h, keep, kept, options, quantity } from "./dom.js";
import { curves } from "./chart.js";
import { aboutRun, meaning } from "./means.js";
import { news, refresh, safely, say, studio, tell } from "./studio.js";

export async function openTeach() {
  await new Teach().begin();
}

class Teach {
  constructor() {
    this.draw = curves(byId("teach-curves"));
    this.trainButton = byId("teach-train");
    this.cancel = byId("teach-cancel");
    this.cancel.onclick = () => this.control?.abort();
    byId("teach-form").onsubmit = (event) => {
      event.preventDefault();
      this.train();
    };
    byId("teach-with").onchange = byId("teach-expert").oninput = () => this.ready();
    byId("teach-expert").parentElement.hidden = !studio.about.expert;
    if (studio.about.expert && !studio.about.runs.length && !studio.about.demos?.count) byId("teach-expert").value = 1;
    byId("teach-filter").oninput = () => this.list();
    news.addEventListener("about", () => safely(() => this.count()));
    news.addEventListener("run", () => this.options());
  }

  async begin() {
    this.options();
    this.cutOff(studio.about.cut_off);
    await this.count();
    const going = kept("training");
    if (going) await this.finish((control) => followed({ job: going.job, state: "running" }, control), going);
  }

  options() {
    const { runs } = studio.about, select = byId("teach-with");
    const before = select.value;
    options(select, ["", "no: only what is in the store"], ...runs.map(({ name }) => [name, `those of ${name}, too`]));
    select.value = runs.some(({ name }) => name === before) ? before : studio.run ?? "";
    const taken = new Set(runs.map(({ name }) => name)), input = byId("teach-name");
    if (input.value && !taken.has(input.value)) return this.ready();
    let number = 1;
    while (taken.has(`taught-${number}`)) number += 1;
    input.value = `taught-${number}`;
    this.ready();
  }

  get expert() {
    return Math.max(0, Math.min(10, Math.round(Number(byId("teach-expert").value)) || 0));
  }

  ready() {
    const { demos } = studio.about, known = studio.about.runs.length;
    const nothing = !demos?.count && !byId("teach-with").value && !this.expert;
    this.trainButton.disabled = nothing || Boolean(this.control);
    byId("teach-store").textContent = demos?.count
      ? `${quantity(demos.count, "demonstration")} in ${demos.name}.`
      : `Nothing was kept yet${demos ? ` in ${demos.name}` : ""}: show something and describe it${known ? "" : ", then a first run can be trained"}.`;
  }

  /** How many recordings of the store name each term. */
  async count() {
    const { about } = studio, here = new Map(), learned = new Set(about.runs.find((run) => run.name === studio.run)?.terms ?? []);
    this.ready();
    const named = (await get("terms")).shown;
    for (const term of new Set([...about.terms, ...learned, ...Object.keys(named)])) here.set(term, named[term] ?? 0);
    this.rows = [...here].map(([term, shown]) => ({ term, shown, learned: learned.has(term) }));
    this.rows.sort((a, b) => b.shown - a.shown || a.learned - b.learned || a.term.localeCompare(b.term));
    this.list();
  }

  list() {
    const wanted = byId("teach-filter").value.trim().toLowerCase();
    const rows = this.rows.filter(({ term }) => term.toLowerCase().includes(wanted));
    fill(byId("teach-terms"), ...rows.map(({ term, shown, learned }) => {
      const act = learned
        ? button("Plan with it", () => go("instruct", term), { "aria-label": `Plan with it: ${term}` })
        : button("Show it", () => go("show", term), { "aria-label": `Show it: ${term}` });
      return h("tr", {}, h("th", { scope: "row", text: term }), h("td", { text: shown }), h("td", { text: learned ? "yes" : "not yet" }), h("td", {}, act));
    }));
  }

  train() {
    const name = byId("teach-name").value.trim(), other = byId("teach-with").value || null;
    if (!name) return say("give the new run a name", "bad");
    const before = studio.about.runs.find((run) => run.name === (other ?? studio.run))?.terms ?? [];
    const notes = { name, before };
    return this.finish((control) => job("train", { name, with_run: other, expert: this.expert, network: byId("teach-network").checked }, {
      ...control, begun: (number) => keep("training", { ...notes, job: number }),
    }), notes);
  }

  async finish(work, { name, before }) {
    if (this.control) return;
    this.control = new AbortController();
    this.busy(true, name);
    let lost = false;
    const made = await safely(() => work({ signal: this.control.signal, progress: (now, state) => this.progress(now, state) }).catch((error) => {
      lost = error.code === 404; // a studio that was started anew knows nothing of it
      throw error;
    }));
    if (this.control.signal.aborted) say("training was cancelled; no run was made of it");
    this.control = null;
    keep("training", null);
    this.busy(false, name);
    if (made) return safely(() => this.done(made, before));
    await safely(() => refresh());
    if (lost) this.cutOff([name]);
  }

  cutOff(names) {
    if (names.length) say(`training was cut off before it was done: ${names.join(", ")}. Nothing that was kept is lost; train again.`, "bad");
  }

  busy(on, name) {
    this.ready();
    this.cancel.hidden = !on;
    byId("teach-busy").hidden = !on;
    if (!on) return;
    this.draw([]);
    fill(byId("teach-done"));
    byId("teach-step").textContent = `${name} is being trained …`;
    byId("teach-progress").removeAttribute("value");
  }

  progress({ step, steps, curve, shown, of }, state) {
    const bar = byId("teach-progress");
    if (steps) {
      bar.max = steps;
      bar.value = step;
      byId("teach-step").textContent = `step ${step.toLocaleString("en")} of at most ${steps.toLocaleString("en")}`;
    } else if (of) {
      bar.max = of;
      bar.value = shown;
      byId("teach-step").textContent = `the expert has shown ${shown.toLocaleString("en")} of ${of.toLocaleString("en")} demonstrations`;
    } else if (state === "waiting") byId("teach-step").textContent = "waiting for its turn …";
    if (curve?.length) this.draw(curve);
  }

  async done({ run, terms, seconds }, before) {
    await refresh(run);
    const about = await aboutRun(run);
    if (about.curve?.length) this.draw(about.curve);
    const fresh = terms.filter((term) => !before.includes(term));
    say(`${run} is trained and chosen: ${quantity(terms.length, "term")} in ${duration(seconds)}`, "good");
    const means = new Map(about.readings.map((reading) => [reading.term, reading]));
    const told = (term) => {
      const entry = meaning(means.get(term) ?? { term });
      entry.append(h("div", {}, button(`Plan with ${term}`, () => go("instruct", term), { class: "main" })));
      return entry;
    };
    fill(byId("teach-done"),
      h("h3", { text: `${run}: ${quantity(terms.length, "term")}, learned in ${duration(seconds)}` }),
      h("p", { text: fresh.length ? "New words:" : "No word is new; what the words mean was learned again." }),
      h("ul", { class: "rows" }, ...(fresh.length ? fresh : terms.slice(0, 3)).map(told)));
  }
}

/** Go to another part of the page with a word. */
export function go(part, word) {
  keep(part, word);
  location.hash = part;
  tell(part);
}
