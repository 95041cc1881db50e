// What happened when: subgoals, actions and how sure each classifier is, all on one axis of steps.

import { color, drawable, fill, h, ink, inkOn, newId, numbered, percent, redrawn } from "./dom.js";

const GUTTER = 8, BAR = 30, GAP = 6, STRIP = 18, CURVE = 44, TICKS = 20;
const SIGNS = { up: "↑", down: "↓", left: "←", right: "→", toggle: "●" };

export class Timeline {
  /** `onseek(at)`: a moment was pointed at; `onmove(number, end)`: the end of a subgoal was moved, if `moves`. */
  constructor(host, { onseek = () => {}, onmove = null }) {
    Object.assign(this, { onseek, onmove, at: 0, steps: 0, segments: [], actions: [], curves: {}, colors: new Map() });
    this.canvas = h("canvas", { class: "timeline", role: "img" });
    this.handles = h("div", { class: "handles" });
    this.box = h("div", { class: "axis" }, this.canvas, this.handles);
    this.list = h("ol", { class: "legend" });
    fill(host, this.box, this.list);
    let held = false;
    const seek = (event) => this.onseek(this.stepAt(event.clientX));
    this.canvas.onpointerdown = (event) => {
      held = true;
      this.canvas.setPointerCapture(event.pointerId);
      seek(event);
    };
    this.canvas.onpointermove = (event) => held && seek(event);
    this.canvas.onpointerup = this.canvas.onpointercancel = () => (held = false);
    redrawn(this.box, () => this.draw());
  }

  /** segments: [{term, start, end, confidence?}]; actions: names or vectors; curves: {term: [T + 1 numbers]}. */
  set({ steps, segments = [], actions = [], curves = {} }) {
    const colors = numbered([...segments.map((one) => one.term), ...Object.keys(curves)]);
    Object.assign(this, { steps, segments, actions: (actions ?? []).map(sign), curves, colors });
    const said = segments.map((one) => `${one.term}, steps ${one.start + 1} to ${one.end}`).join("; ");
    this.canvas.setAttribute("aria-label", said ? `Subgoals over ${steps} steps: ${said}` : `${steps} steps`);
    fill(this.list, ...segments.map((one, number) => this.entry(one, number)));
    this.hold();
    this.draw();
  }

  entry(one, number) {
    const mark = h("span", { class: "swatch" });
    mark.style.background = color(this.colors.get(one.term));
    const sure = one.confidence === undefined || one.confidence === null ? "" : `, ${percent(one.confidence)} sure`;
    const text = `steps ${one.start + 1} to ${one.end}${sure}`;
    return h("li", {}, h("button", { type: "button", class: "part", onclick: () => this.onseek(one.start) },
      mark, h("b", { text: one.term }), h("small", { class: "soft", text, id: `${this.list.id}${number}` })));
  }

  moment(at) {
    this.at = at;
    [...this.list.children].forEach((item, number) => {
      const { start, end } = this.segments[number];
      const now = at >= start && (at < end || (at === end && end === this.steps));
      item.classList.toggle("now", now);
    });
    this.draw();
  }

  get room() {
    return this.box.clientWidth - 2 * GUTTER;
  }
  x(step) {
    return GUTTER + (this.room * step) / Math.max(1, this.steps);
  }
  stepAt(clientX) {
    const share = (clientX - this.box.getBoundingClientRect().left - GUTTER) / this.room;
    return Math.round(Math.max(0, Math.min(1, share)) * this.steps);
  }

  draw() {
    if (!this.box.clientWidth) return;
    const names = Object.keys(this.curves), strip = this.actions.length ? STRIP + GAP : 0;
    const height = BAR + GAP + strip + names.length * (CURVE + GAP) + TICKS;
    const { context } = drawable(this.canvas, height);
    let y = 0;
    for (const one of this.segments) this.bar(context, one, y);
    y += BAR + GAP;
    if (strip) this.strip(context, y);
    y += strip;
    for (const name of names) {
      this.curve(context, name, y);
      y += CURVE + GAP;
    }
    this.ticks(context, y);
    context.fillStyle = ink("ink");
    context.fillRect(this.x(this.at) - 1, 0, 2, y + 4);
  }

  bar(context, { term, start, end }, y) {
    const left = this.x(start), width = this.x(end) - left, shade = color(this.colors.get(term));
    context.fillStyle = shade;
    context.fillRect(left + 0.5, y, Math.max(1, width - 1), BAR);
    words(context, term, left + width / 2, y + BAR / 2, width - 8, inkOn(shade));
  }

  strip(context, y) {
    const cell = this.room / this.steps, kinds = numbered(this.actions);
    this.actions.forEach((name, step) => {
      context.fillStyle = ink(kinds.get(name) % 2 ? "band" : "line");
      context.fillRect(this.x(step), y, cell, STRIP);
      if (cell >= 9) words(context, name, this.x(step + 0.5), y + STRIP / 2, cell + 4, ink("ink"));
    });
  }

  curve(context, name, y) {
    const values = this.curves[name], shade = color(this.colors.get(name)), low = y + CURVE, high = y + 14;
    context.fillStyle = ink("band");
    context.fillRect(GUTTER, high, this.room, CURVE - 14);
    context.beginPath();
    context.moveTo(this.x(0), low);
    values.forEach((value, step) => context.lineTo(this.x(step), low - value * (low - high)));
    context.lineTo(this.x(values.length - 1), low);
    context.globalAlpha = 0.35;
    context.fillStyle = shade;
    context.fill();
    context.globalAlpha = 1;
    context.beginPath();
    values.forEach((value, step) => context.lineTo(this.x(step), low - value * (low - high)));
    context.strokeStyle = shade;
    context.lineWidth = 2;
    context.stroke();
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = ink("ink");
    context.fillText(`${name} holds: ${percent(values[this.at] ?? 0)}`, GUTTER, y + 6, this.room);
  }

  ticks(context, y) {
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10000].find((step) => (this.room / this.steps) * step >= 34) ?? this.steps;
    context.fillStyle = ink("soft");
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let step = 0; step <= this.steps; step += every) {
      context.fillRect(this.x(step) - 0.5, y, 1, 4);
      if (step < this.steps || every === 1) context.fillText(String(step), this.x(step), y + 6);
    }
  }

  // Boundaries that can be moved, by pointer or by keys.

  hold() {
    if (!this.onmove) return;
    fill(this.handles, ...this.segments.slice(0, -1).map((one, number) => this.handle(one, number))); // the last ends with the recording
  }

  bounds(number) {
    return [this.segments[number].start + 1, this.segments[number + 1].end - 1];
  }

  handle(one, number) {
    const place = h("div", { class: "handle", role: "slider", tabindex: 0, id: newId("end"), "aria-label": `end of ${one.term}` });
    const put = (end) => {
      const [low, high] = this.bounds(number);
      one.end = this.segments[number + 1].start = Math.max(low, Math.min(high, end));
      this.onmove(number, one.end);
      this.list.replaceChildren(...this.segments.map((each, at) => this.entry(each, at)));
      this.draw();
      [...this.handles.children].forEach((each, at) => this.tell(each, at));
    };
    place.onpointerdown = (event) => {
      place.setPointerCapture(event.pointerId);
      place.onpointermove = (moved) => put(this.stepAt(moved.clientX));
      place.onpointerup = place.onpointercancel = () => (place.onpointermove = null);
      event.preventDefault();
      place.focus();
    };
    place.onkeydown = (event) => {
      const [low, high] = this.bounds(number);
      const far = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      const end = far ? one.end + far : event.key === "Home" ? low : event.key === "End" ? high : null;
      if (end === null) return;
      event.preventDefault();
      put(end);
    };
    this.tell(place, number);
    return place;
  }

  tell(handle, number) {
    const [low, high] = this.bounds(number), { end, term } = this.segments[number];
    const said = { "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": end, "aria-valuetext": `${term} ends after step ${end}` };
    for (const [name, value] of Object.entries(said)) handle.setAttribute(name, value);
    handle.style.left = `calc(${GUTTER}px + (100% - ${2 * GUTTER}px) * ${end / Math.max(1, this.steps)})`;
  }
}

const sign = (action) => (Array.isArray(action) ? arrow(action) : SIGNS[action] ?? action.charAt(0));
const arrow = ([x, y]) => (Math.hypot(x, y) < 1e-6 ? "·" : "→↗↑↖←↙↓↘"[(Math.round(Math.atan2(y, x) / (Math.PI / 4)) + 8) % 8]);

function words(context, text, x, y, room, shade) {
  if (context.measureText(text).width > room) {
    while (text.length > 1 && context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
    if (text.length < 3) return;
    text += "…";
  }
  context.fillStyle = shade;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y);
}
