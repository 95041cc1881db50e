// What a run says that words mean.

import { get } from "./api.js";
import { h, percent } from "./dom.js";

const asked = new Map();

/** All about a run; it is asked once. */
export function aboutRun(run) {
  if (!asked.has(run)) {
    asked.set(run, get(`runs/${encodeURIComponent(run)}`));
    asked.get(run).catch(() => asked.delete(run));
  }
  return asked.get(run);
}

/** A reading as an entry of a list: the word, what it means, how sure that is, and what is left open. */
export function meaning({ term, means, sure, open, settle }) {
  const known = typeof sure === "number" ? h("small", { class: "soft", text: ` ${percent(sure)} sure` }) : null;
  const left = [...(open ?? []), ...(settle ?? []).map((each) => `to settle it, show ${each}`)];
  const more = open?.length
    ? h("details", {}, h("summary", { text: "what is left open" }), h("ul", {}, ...left.map((each) => h("li", { text: each }))))
    : null;
  return h("li", {}, ...[h("b", { text: term }), ` ${(means ?? "").replace(`${term} `, "")}`, known, more].filter(Boolean));
}
