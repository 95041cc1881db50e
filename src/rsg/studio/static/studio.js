// What all parts share: what the server offers, which run is chosen, and the line that says what happened.

import { get, line } from "./api.js";
import { byId, fill, h, button } from "./dom.js";

export const studio = { about: null, run: null };
export const news = new EventTarget(); // "run": another is chosen; "about": there are other runs, terms, recordings
export const tell = (what) => news.dispatchEvent(new Event(what));

/** Ask again what there is; the chosen run stays chosen if it still exists. */
export async function refresh(run = studio.run) {
  const before = studio.run;
  studio.about = await get("about");
  const names = studio.about.runs.map((one) => one.name);
  studio.run = names.includes(run) ? run : studio.about.run;
  tell("about");
  if (studio.run !== before) tell("run");
}

export function choose(run) {
  studio.run = run;
  tell("run");
}

export const terms = () => studio.about?.runs.find((one) => one.name === studio.run)?.terms ?? [];

/** Say something to everybody, eyes or ears: `kind` is "good", "bad" or "". */
export function say(text, kind = "") {
  const status = byId("status");
  status.className = kind;
  status.textContent = text;
}

/** Do something; whatever goes wrong is said in the status line, and false comes back. */
export async function safely(what) {
  try {
    return await what();
  } catch (error) {
    if (error.name === "Cancelled") return false;
    if (error.name !== "Gone") say(error.message, "bad");
    if (error.name !== "Gone" && error.name !== "Refused") console.error(error);
    return false;
  }
}

/** While the server is gone, a banner says so and asks every few seconds; then everything goes on. */
export function watchLine() {
  const banner = byId("gone");
  let timer = null;
  const retry = () => get("health").catch(() => {});
  line.addEventListener("gone", () => {
    if (timer) return;
    timer = setInterval(retry, 3000);
    fill(banner, h("p", { text: "The studio does not answer; what you did here is kept. " }, button("Try again", retry)));
    banner.hidden = false;
  });
  line.addEventListener("back", () => {
    if (!timer) return;
    clearInterval(timer);
    timer = null;
    banner.hidden = true;
    say("the studio answers again", "good");
    safely(refresh).then(() => tell("back")); // it may have been started anew
  });
}
