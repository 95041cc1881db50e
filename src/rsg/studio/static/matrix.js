// Which subgoal helps which: a table with shades and numbers, and the evidence of the place that is looked at.

import { fill, h, quantity } from "./dom.js";

export function matrix({ terms, gains, evidence }) {
  if (!terms.length) return h("p", { class: "note", text: "Nothing to compare: the run knows no terms." });
  const most = Math.max(1e-9, ...gains.flat().filter(Number.isFinite).map(Math.abs));
  const told = h("p", { class: "evidence note", "aria-live": "polite", text: "Point at a number, or move to it with Tab and the arrow keys, to see what it rests on." });
  const counts = new Map((evidence ?? []).map((one) => [`${one.before} ${one.after}`, one]));
  const explain = (row, column) => {
    const known = counts.get(`${terms[row]} ${terms[column]}`);
    const seen = known ? `${terms[row]} came before ${terms[column]} in ${quantity(known.count, "demonstration")}${rest(known)}` : "no demonstration shows the one before the other";
    fill(told, h("b", { text: `${terms[row]} → ${terms[column]}: ${said(gains[row][column])}. ` }), `${seen}.`);
  };
  const cells = terms.map((_, row) => terms.map((__, column) => cell(gains[row][column], most, row, column, explain)));
  const head = h("tr", {}, h("th", { scope: "col", text: "helps →" }), ...terms.map((term) => h("th", { scope: "col" }, h("span", { text: term }))));
  const rows = terms.map((term, row) => h("tr", {}, h("th", { scope: "row", text: term }), ...cells[row]));
  cells[0][0].tabIndex = 0;
  const table = h("table", { class: "matrix" }, h("caption", { class: "note", text: "How much the subgoal of a row helps that of a column." }), h("thead", {}, head), h("tbody", {}, ...rows));
  table.onkeydown = (event) => move(event, cells);
  return h("div", {}, h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "matrix of dependencies" }, table), told);
}

function cell(gain, most, row, column, explain) {
  const place = h("td", { tabindex: -1, text: said(gain), onfocus: () => explain(row, column), onpointerenter: () => explain(row, column) });
  const share = Number.isFinite(gain) ? Math.min(1, Math.abs(gain) / most) : 0;
  place.style.background = `color-mix(in srgb, var(${gain < 0 ? "--second" : "--accent"}) ${Math.round(45 * share)}%, var(--card))`;
  Object.assign(place.dataset, { row, column });
  return place;
}

function move(event, cells) {
  const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const { row, column } = event.target.dataset;
  if (!way || row === undefined) return;
  const next = cells[Number(row) + way[0]]?.[Number(column) + way[1]];
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

const said = (gain) => (Number.isFinite(gain) ? gain.toFixed(2) : "–");
const rest = (known) =>
  Object.entries(known).filter(([key]) => !["before", "after", "count"].includes(key))
    .map(([key, value]) => `; ${key} ${typeof value === "number" ? Number(value.toFixed(3)) : value}`).join("");
