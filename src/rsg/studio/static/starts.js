// Where something begins: a place and a seed, a start that fits a task, or a map that one draws.

import { post } from "./api.js";
import { button, fill, h, labelled, newId, options } from "./dom.js";
import { safely, studio } from "./studio.js";

export class Starts {
  /** `player` shows the start; `asked()` gives {task, goal} that must be possible there; `onstart(scene)` hears of a new one. */
  constructor(host, { player, asked, onstart = () => {}, fits = true, draws = true }) {
    Object.assign(this, { player, asked, onstart, before: [] });
    const { places, things } = studio.about, names = Object.entries(places);
    this.place = options(h("select"), ["", "the usual kind"], ...names.map(([name, words]) => [name, words || name]));
    this.place.onchange = () => this.draw();
    this.seed = h("input", { type: "number", min: 0, step: 1, value: 0, class: "short" });
    this.seed.onchange = () => this.draw();
    this.fits = h("input", { type: "checkbox", id: newId("fits"), checked: fits });
    fill(
      host,
      h("div", { class: "controls" },
        names.length ? labelled("Place", this.place) : null,
        labelled("Start number", this.seed),
        button("Another start", () => this.another()),
        h("span", { class: "check" }, this.fits, h("label", { for: this.fits.id, text: "where the task can be done" }))),
      draws && things.length ? this.palette(things) : null,
    );
  }

  get where() {
    const { setting, start } = this.scene;
    return { setting, start, actions: [] };
  }

  another() {
    this.seed.value = Number(this.seed.value) + 1;
    return this.draw();
  }

  /** A start by the numbers that are set; the answer tells whether there is one. */
  draw() {
    return (this.drawing = this.drawn());
  }

  async drawn() {
    const { task, goal } = this.fits.checked ? this.asked() : { task: null, goal: false };
    const place = this.place.value || null, seed = Math.max(0, Math.round(Number(this.seed.value)) || 0);
    const scene = await safely(() => post("start", { task: task || null, goal, place, seed }));
    if (scene) {
      this.before = [];
      await this.take(scene);
    }
    return scene;
  }

  async take(scene) {
    const number = (this.takes = (this.takes ?? 0) + 1);
    await this.player.show(scene);
    if (number !== this.takes) return; // another one was taken meanwhile
    this.scene = scene;
    this.undo && (this.undo.disabled = !this.before.length);
    this.onstart(scene);
  }

  palette(things) {
    const all = [...things, ...["agent", "nothing"].filter((extra) => !things.includes(extra))];
    this.thing = all[0];
    const group = newId("thing");
    const choices = all.map((thing, at) => {
      const radio = h("input", { type: "radio", name: group, id: `${group}-${at}`, value: thing, checked: at === 0 });
      radio.onchange = () => (this.thing = thing);
      return h("span", { class: "chip" }, radio, h("label", { for: radio.id, text: thing }));
    });
    this.undo = button("Undo", () => this.take(this.before.pop()), { disabled: true });
    const details = h("details", { class: "palette" },
      h("summary", { text: "Draw the map" }),
      h("p", { class: "note", text: "Choose a thing, then click where it belongs. By keys: arrows move a mark over the picture, Enter places the thing." }),
      h("fieldset", { class: "chips" }, h("legend", { text: "Thing to place" }), ...choices), this.undo);
    details.ontoggle = () => {
      this.player.onpoint = details.open ? (x, y) => this.edit(x, y) : null;
      this.player.canvas.classList.toggle("pointed", details.open);
      if (details.open) this.player.show(this.scene);
    };
    return details;
  }

  async edit(x, y) {
    const scene = await safely(() => post("edit", { ...this.where, thing: this.thing, x, y }));
    if (!scene) return;
    this.before.push(this.scene);
    await this.take(scene);
  }
}
