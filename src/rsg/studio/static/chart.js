// A curve over the steps of training.

import { color, drawable, h, fill, ink, redrawn } from "./dom.js";

const HEIGHT = 150, LEFT = 48, LOW = 22, TOP = 8, RIGHT = 12;

class Chart {
  constructor(host, name, number = 0) {
    Object.assign(this, { name, number, points: [] });
    this.canvas = h("canvas", { class: "chart", role: "img", "aria-label": name });
    this.caption = h("figcaption", { text: name });
    host.append(h("figure", {}, this.caption, this.canvas));
    redrawn(this.caption, () => this.draw());
  }

  /** points: [[step, value], ...]; those without a value are left out. */
  set(points) {
    this.points = points.filter(([, value]) => Number.isFinite(value));
    const [last] = this.points.slice(-1);
    const now = last ? `${number(last[1])} at step ${last[0].toLocaleString("en")}` : "nothing yet";
    this.caption.textContent = `${this.name}: ${now}`;
    const first = this.points[0];
    this.canvas.setAttribute("aria-label", last ? `${this.name}, from ${number(first[1])} to ${now}` : this.name);
    this.draw();
  }

  draw() {
    if (!this.canvas.clientWidth) return;
    const { context, width, height } = drawable(this.canvas, HEIGHT);
    if (!this.points.length) return;
    const steps = this.points.map(([step]) => step), values = this.points.map(([, value]) => value);
    const last = Math.max(...steps, 1), low = Math.min(...values), high = Math.max(...values, low + 1e-9);
    const x = (step) => LEFT + ((width - LEFT - RIGHT) * step) / last;
    const y = (value) => TOP + ((height - TOP - LOW) * (high - value)) / (high - low);
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const value of high - low > 1e-8 ? [low, (low + high) / 2, high] : [low]) {
      context.fillStyle = ink("line");
      context.fillRect(LEFT, y(value), width - LEFT - RIGHT, 1);
      context.fillStyle = ink("soft");
      context.fillText(number(value), LEFT - 6, y(value));
    }
    context.textAlign = "left";
    context.fillText("0", LEFT, height - 8);
    context.textAlign = "right";
    context.fillText(last.toLocaleString("en"), width - RIGHT, height - 8);
    context.strokeStyle = color(this.number);
    context.lineWidth = 2;
    context.beginPath();
    this.points.forEach(([step, value]) => context.lineTo(x(step), y(value)));
    context.stroke();
    if (this.points.length === 1) {
      context.fillStyle = color(this.number);
      context.fillRect(x(steps[0]) - 2, y(values[0]) - 2, 4, 4);
    }
  }
}

/** The two curves of a training, side by side. */
export function curves(host) {
  fill(host);
  const loss = new Chart(host, "loss on what it learns from", 0), heldOut = new Chart(host, "score on what is held out", 1);
  return (points) => {
    loss.set(points.map(([step, value]) => [step, value]));
    heldOut.set(points.map(([step, , value]) => [step, value]));
    host.hidden = !points.length;
  };
}

const number = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));
