// Elements, pictures to draw on, and what outlives a reload. Every text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function made(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element[name] = value;
    else if (name === "text") element.textContent = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An HTML element: attributes by name, `text`, handlers as functions (`onclick`), then its children. */
export const h = (tag, given = {}, ...children) => made(document.createElement(tag), given, children);

/** The same for SVG. */
export const svg = (tag, given = {}, ...children) => made(document.createElementNS(SVG, tag), given, children);

export const byId = (id) => document.getElementById(id);

/** Put these in the place of what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null));
  return element;
}

let count = 0;
export const newId = (what) => `${what}-${(count += 1)}`;

/** A labelled control: the label first, as people read. */
export function labelled(text, control, given = {}) {
  control.id ||= newId("field");
  return h("div", { class: "field", ...given }, h("label", { for: control.id, text }), control);
}

/** What can be chosen in a select: [value, words] each. */
export const options = (select, ...choices) => fill(select, ...choices.map(([value, text]) => h("option", { value, text })));

export const button = (text, onclick, given = {}) => h("button", { type: "button", text, onclick, ...given });

/** Where to draw, as wide as its room and `height` high, sharp on any screen; units are CSS pixels. */
export function drawable(canvas, height) {
  const width = canvas.clientWidth || canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  return { context, width, height };
}

/** A colour of the page's style, as it is now (light or dark). */
export const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Draw again whenever the room or the colours change. */
export function redrawn(element, draw) {
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(element);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

const COLORS = document.body.dataset.colors.split(" ");
/** The colour of the subgoal with that number, and black or white, whichever is read better on it. */
export const color = (number) => COLORS[number % COLORS.length];
export function inkOn(shade) {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(shade.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000000" : "#ffffff";
}

/** A number for each name, in the order of their first mention: what gives it its colour. */
export function numbered(names) {
  const numbers = new Map();
  for (const name of names) if (!numbers.has(name)) numbers.set(name, numbers.size);
  return numbers;
}

const KEEP = "rsg-studio-";
/** Remember something until this tab of the browser is closed, even if the page is loaded again. */
export function keep(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(KEEP + name);
    else sessionStorage.setItem(KEEP + name, JSON.stringify(value));
  } catch { /* a browser that keeps nothing: the page works, and forgets */ }
}
export function kept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(KEEP + name));
  } catch {
    return null;
  }
}

/** Call after a pause; a new call begins the pause anew. */
export function unhurried(call, pause) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...given), pause);
  };
}

export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
export const quantity = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
export const duration = (seconds) =>
  seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : seconds < 90 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
