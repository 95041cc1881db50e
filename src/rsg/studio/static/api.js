// What the server is asked. All of it: the page knows nothing else.

const SHORT = 0.3, LONG = 1; // seconds that an answer is waited for: at first, and each time after
const TRIES = 4; // when the studio is busy

/** What the server refused, in a sentence for people; perhaps with a place in a text and what may have been meant. */
export class Refused extends Error {
  constructor(error, code) {
    super(error.message);
    Object.assign(this, { name: "Refused", code, type: error.type, position: error.position, suggestion: error.suggestion });
  }
}

/** The server does not answer. */
export class Gone extends Error {
  constructor() {
    super("the studio does not answer; what you did here is kept");
    this.name = "Gone";
  }
}

/** What was asked is no longer wanted. */
export class Cancelled extends Error {
  constructor() {
    super("cancelled");
    this.name = "Cancelled";
  }
}

export const line = new EventTarget(); // says "gone" and "back"

const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function ask(method, path, body, tries = TRIES) {
  const sent = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer, said;
  try {
    answer = await fetch(path, { method, ...sent });
    said = await answer.json();
  } catch {
    if (!answer || answer.ok) {
      line.dispatchEvent(new Event("gone"));
      throw new Gone();
    }
    said = {};
  }
  line.dispatchEvent(new Event("back"));
  if (answer.status === 429 && tries > 1) {
    await pause(Math.min(5, Number(answer.headers.get("Retry-After")) || 1));
    return ask(method, path, body, tries - 1);
  }
  if (!answer.ok) throw new Refused(said.error ?? { message: `the studio answered ${answer.status}` }, answer.status);
  return { code: answer.status, said };
}

export const get = async (path) => (await ask("GET", path)).said;
export const post = async (path, body) => (await ask("POST", path, body)).said;
export const put = async (path, body) => (await ask("PUT", path, body)).said;
export const query = (path, values) => `${path}?${new URLSearchParams(values)}`;

/** Something that may take long. `progress` is told how far it is, `begun` its number; `signal` cancels it there, too. */
export async function job(path, body, { progress = () => {}, begun = () => {}, signal = null } = {}) {
  if (signal?.aborted) throw new Cancelled();
  const { code, said } = await ask("POST", path, { ...body, wait: SHORT });
  if (code === 200) {
    if (signal?.aborted) throw new Cancelled();
    return said;
  }
  begun(said.job);
  return followed(said, { progress, signal });
}

/** The end of a job that goes on already. */
export async function followed(said, { progress = () => {}, signal = null } = {}) {
  const end = () => ask("DELETE", `jobs/${said.job}`).catch(() => {});
  if (signal?.aborted) end();
  else signal?.addEventListener("abort", end, { once: true });
  try {
    while (said.state === "waiting" || said.state === "running") {
      progress(said.progress ?? {}, said.state);
      if (signal?.aborted) throw new Cancelled();
      said = await again(said);
    }
  } finally {
    signal?.removeEventListener("abort", end);
  }
  if (signal?.aborted || said.state === "cancelled") throw new Cancelled();
  if (said.state === "failed") throw new Refused(said.error, 422);
  return said.result;
}

/** The job as it is now; while the studio is gone, as it was. */
async function again(said) {
  try {
    return await get(query(`jobs/${said.job}`, { wait: LONG }));
  } catch (error) {
    if (error.name !== "Gone") throw error;
    await pause(2 * LONG);
    return said;
  }
}

/** Of several questions of a kind only the newest is of interest: asking again cancels the one before. */
export function newest() {
  let before = null;
  const next = () => {
    before?.abort();
    before = new AbortController();
    return before.signal;
  };
  next.stop = () => before?.abort();
  return next;
}
