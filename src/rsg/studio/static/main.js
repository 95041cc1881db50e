// The page: which part is seen, which run is asked.

import { byId, keep, kept, options } from "./dom.js";
import { choose, news, refresh, safely, say, studio, watchLine } from "./studio.js";
import { openInside } from "./inside.js";
import { openInstruct } from "./instruct.js";
import { openReview } from "./review.js";
import { openShow } from "./show.js";
import { openTeach } from "./teach.js";

const OPEN = { instruct: openInstruct, show: openShow, teach: openTeach, review: openReview, inside: openInside };
const opened = new Set();
const tabs = [...document.querySelectorAll("[role=tab]")];

function see(name, focus = false) {
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  if (kept("part") !== name) say("");
  keep("part", name);
  if (studio.about && !opened.has(name)) {
    opened.add(name);
    safely(OPEN[name]);
  }
}

const named = () => (location.hash.slice(1) in OPEN ? location.hash.slice(1) : null);

function listTabs() {
  for (const tab of tabs) {
    tab.addEventListener("click", () => (location.hash = tab.dataset.part));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const at = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : step ? tabs.indexOf(tab) + step : null;
      if (at === null) return;
      event.preventDefault();
      const next = tabs[(at + tabs.length) % tabs.length];
      location.hash = next.dataset.part;
      next.focus();
    });
  }
  window.addEventListener("hashchange", () => named() && see(named()));
}

function listRuns() {
  const select = byId("run"), { runs } = studio.about;
  options(select, ...(runs.length ? runs.map(({ name }) => [name, name]) : [["", "none yet: train one"]]));
  select.value = studio.run ?? "";
  byId("place").textContent = studio.about.title;
  document.title = `${studio.about.title} · rsg studio`;
}

async function begin() {
  watchLine();
  listTabs();
  byId("run").addEventListener("change", (event) => choose(event.target.value || null));
  news.addEventListener("about", listRuns);
  news.addEventListener("run", () => {
    byId("run").value = studio.run ?? "";
    keep("run", studio.run);
  });
  news.addEventListener("about", () => see(tabs.find((tab) => tab.tabIndex === 0).dataset.part));
  see(named() ?? kept("part") ?? "instruct");
  await safely(() => refresh(kept("run")));
}

begin();
