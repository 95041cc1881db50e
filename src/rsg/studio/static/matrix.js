// Which subgoal helps which: a table with shades and numbers, and the evidence of the place that is looked at.

import { fill, h } from "./dom.js";

const HOW = "Point at a number, or move to it with Tab and the arrow keys, to see what it rests on.";
const WHAT = "Each row: how much its subgoal rests on that of each column having come true before; a row adds up to 1.";

export function matrix({ terms, gains, evidence }) {
  if (!terms.length) return h("p", { class: "note", text: "Nothing to compare: the run knows no terms." });
  const most = Math.max(1e-9, ...gains.flat().filter(Number.isFinite).map(Math.abs));
  const told = h("p", { class: "evidence note", "aria-live": "polite", text: HOW });
  const seen = new Map(evidence.map(({ first, then, words }) => [`${first} ${then}`, words]));
  const explain = (row, column) => {
    const words = seen.get(`${terms[column]} ${terms[row]}`) ?? "no demonstration speaks for it";
    fill(told, h("b", { text: `${terms[row]} rests on ${terms[column]}: ${said(gains[row][column])}. ` }), `${words}.`);
  };
  const cells = terms.map((_, row) => terms.map((__, column) => cell(gains[row][column], most, row, column, explain)));
  const head = h("tr", {}, h("td", {}), ...terms.map((term) => h("th", { scope: "col" }, h("span", { text: term }))));
  const rows = terms.map((term, row) => h("tr", {}, h("th", { scope: "row", text: term }), ...cells[row]));
  cells[0][0].tabIndex = 0;
  const table = h("table", { class: "matrix" }, h("thead", {}, head), h("tbody", {}, ...rows));
  table.onkeydown = (event) => move(event, cells);
  return h("div", {}, h("p", { class: "note", text: WHAT }), h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "matrix of dependencies" }, table), told);
}

function cell(gain, most, row, column, explain) {
  const told = () => explain(row, column);
  const place = h("td", { tabindex: -1, class: gain ? "" : "none", text: said(gain), onfocus: told, onpointerenter: told });
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

const said = (gain) => (gain ? gain.toFixed(2) : "0");
