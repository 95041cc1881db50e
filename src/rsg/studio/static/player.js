// A picture of the world, and what plays in it: a walk with play, step, speed and a slider.

import { post } from "./api.js";
import { button, fill, h, options } from "./dom.js";
import { safely } from "./studio.js";

const PART = 50; // pictures that are asked for at once
const ROOM = 12; // parts that are kept
const SPEEDS = [1, 2, 4, 8, 16, 32]; // steps in a second
const FINE = 1 / 24; // how far the mark goes when a key moves it, in pictures

export class Player {
  /** `label` says what is seen; `below` is put under the picture; `onstep(at)` is called when another moment is shown, `onpoint(x, y)` when a place is chosen. */
  constructor(host, { label, onstep = () => {}, below = null }) {
    Object.assign(this, { label, onstep, at: 0, steps: 0, where: null, images: new Map(), timer: null, onpoint: null, mark: null });
    this.canvas = h("canvas", { class: "stage", role: "img", width: 600, height: 600, tabindex: 0, "aria-label": label });
    this.play = button("Play", () => this.toggle(), { class: "main" });
    this.back = button("◀", () => this.go(this.at - 1, true), { "aria-label": "one step back" });
    this.next = button("▶", () => this.go(this.at + 1, true), { "aria-label": "one step on" });
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "step", class: "scrub" });
    this.slider.oninput = () => this.go(Number(this.slider.value), true);
    this.speed = options(h("select", { "aria-label": "speed" }), ...SPEEDS.map((speed) => [speed, `${speed} steps/s`]));
    this.speed.value = 4;
    this.count = h("output", { class: "count" });
    this.transport = h("div", { class: "transport", hidden: true }, this.play, this.back, this.next, this.speed, this.count, this.slider);
    this.words = h("pre", { class: "words", tabindex: 0 });
    this.inWords = h("details", {}, h("summary", { text: "What is seen, in words" }), this.words);
    this.inWords.ontoggle = () => this.describe();
    fill(host, this.canvas, this.transport, below, this.inWords);
    this.canvas.onclick = (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.onpoint?.((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    };
    this.canvas.onkeydown = (event) => this.point(event);
  }

  /** One picture that stands still. */
  async show(scene) {
    this.stop();
    Object.assign(this, { where: null, steps: 0, at: 0, seen: scene.view });
    this.transport.hidden = true;
    this.name(this.label);
    const image = await loaded(scene.picture);
    if (this.seen !== scene.view) return; // another one is shown by now
    this.draw(image);
    this.describe();
  }

  /** A walk, from its first moment on; the answer tells how many steps it has. `replay`: the same as a start and moves. */
  async load(where, replay = where) {
    this.stop();
    this.images.clear();
    Object.assign(this, { where, replay, steps: 0, seen: null });
    await this.part(0);
    if (this.where !== where) return this.steps;
    this.slider.max = this.steps;
    this.transport.hidden = false;
    await this.go(0);
    return this.steps;
  }

  async part(number) {
    if (!this.images.has(number)) {
      const where = this.where;
      this.images.set(
        number,
        post("pictures", { ...where, first: number * PART, count: PART, pixels: null }).then((said) => {
          if (this.where === where) this.steps = said.steps;
          return Promise.all(said.pictures.map(loaded));
        }),
      );
      this.images.get(number).catch(() => this.images.delete(number));
      const [oldest] = this.images.keys();
      if (this.images.size > ROOM && oldest !== number) this.images.delete(oldest);
    }
    return this.images.get(number);
  }

  async go(at, byHand = false) {
    if (byHand) this.stop();
    if (!this.where) return;
    const where = this.where;
    this.at = Math.max(0, Math.min(this.steps, at));
    const now = this.at;
    this.slider.value = now;
    this.slider.setAttribute("aria-valuetext", `step ${now} of ${this.steps}`);
    this.count.textContent = `${now} / ${this.steps}`;
    this.back.disabled = now === 0;
    this.next.disabled = now === this.steps;
    this.onstep(now);
    this.name(`${this.label}, after step ${now} of ${this.steps}`);
    const images = await safely(() => this.part(Math.floor(now / PART)));
    if (images && this.where === where && this.at === now) this.draw(images[now % PART]);
    if (now % PART > PART / 2 && (Math.floor(now / PART) + 1) * PART <= this.steps) safely(() => this.part(Math.floor(now / PART) + 1));
    this.describe();
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at >= this.steps) this.go(0);
    this.play.textContent = "Pause";
    const on = async () => {
      await this.go(this.at + 1);
      if (!this.timer) return;
      if (this.at >= this.steps) this.stop();
      else this.timer = setTimeout(on, 1000 / Number(this.speed.value));
    };
    this.timer = setTimeout(on, 1000 / Number(this.speed.value));
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  name(text) {
    this.canvas.setAttribute("aria-label", text);
  }

  draw(image) {
    this.canvas.hidden = image === null;
    if (image === null) this.inWords.open = true;
    if (!image) return;
    this.image = image;
    this.canvas.width = image.naturalWidth;
    this.canvas.height = image.naturalHeight;
    this.canvas.style.width = `min(100%, ${(52 * image.naturalWidth) / image.naturalHeight}vh)`;
    const context = this.canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    if (this.over) this.over(context, image.naturalWidth, image.naturalHeight);
    if (this.mark && this.onpoint) cross(context, this.mark[0] * image.naturalWidth, this.mark[1] * image.naturalHeight);
  }

  /** The state in words, for whoever cannot see the picture; asked for only while somebody reads it. */
  async describe() {
    if (!this.inWords.open) return;
    if (!this.where) return (this.words.textContent = this.seen ?? "");
    const { where, replay, at } = this;
    if (!replay.actions) return (this.words.textContent = "of a recording without actions there are pictures only");
    const scene = await safely(() => post("walk", { ...replay, actions: replay.actions.slice(0, at) }));
    if (scene && this.where === where && this.at === at) this.words.textContent = scene.view;
  }

  /** Keys move a mark over the picture, and Enter chooses where it is. */
  point(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!this.onpoint || !(way || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    event.stopPropagation();
    this.mark ??= [0.5, 0.5];
    if (!way) return this.onpoint(...this.mark);
    this.mark = this.mark.map((place, axis) => Math.max(0.01, Math.min(0.99, place + way[axis] * FINE)));
    this.draw(this.image);
  }
}

async function loaded(source) {
  if (!source) return null; // a world that cannot draw itself: there are words
  const image = new Image();
  image.src = source;
  await image.decode();
  return image;
}

function cross(context, x, y) {
  for (const [width, shade] of [[5, "#000000"], [2, "#ffffff"]]) {
    context.strokeStyle = shade;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x - 14, y);
    context.lineTo(x + 14, y);
    context.moveTo(x, y - 14);
    context.lineTo(x, y + 14);
    context.stroke();
  }
}
