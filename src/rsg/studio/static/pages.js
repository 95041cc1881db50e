// A list as long as it may be, of which only what is seen exists.

import { get, query } from "./api.js";
import { fill, h } from "./dom.js";
import { safely } from "./studio.js";

const ROW = 44, PAGE = 100, EXTRA = 6, ROOM = 40; // pixels of a row; rows of a page; rows above and below; pages kept

export class Pages {
  /** The rows of `path`; `row(one)` makes what is in a row; `onchoose(one)` when one is chosen. */
  constructor(host, { path, row, onchoose, oncount }) {
    Object.assign(this, { path, row, onchoose, oncount, filter: "", matching: 0, pages: new Map(), active: -1, drawn: 0 });
    this.inner = h("div", { class: "rows-room", role: "presentation" });
    this.box = h("div", { class: "pages", role: "listbox", tabindex: 0, "aria-label": "recordings" }, this.inner);
    fill(host, this.box);
    this.box.onscroll = () => this.draw();
    this.box.onkeydown = (event) => this.key(event);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Begin again, with a filter; what was seen is asked for anew. */
  async load(filter = this.filter) {
    this.filter = filter;
    this.pages.clear();
    const said = await this.page(0);
    if (!said || this.filter !== filter) return false;
    this.active = Math.min(this.active, this.matching - 1);
    await this.draw();
    return true;
  }

  page(number) {
    if (!this.pages.has(number)) {
      const { filter } = this;
      const asked = safely(() => get(query(this.path, { offset: number * PAGE, limit: PAGE, filter })));
      this.pages.set(number, asked);
      asked.then((said) => {
        if (!said) this.pages.delete(number);
        else if (filter === this.filter) {
          this.matching = said.matching;
          this.inner.style.height = `${said.matching * ROW}px`;
          this.oncount(said);
        }
      });
      const [oldest] = this.pages.keys();
      if (this.pages.size > ROOM) this.pages.delete(oldest);
    }
    return this.pages.get(number);
  }

  async at(number) {
    const said = await this.page(Math.floor(number / PAGE));
    return said ? said.rows[number % PAGE] : null;
  }

  async draw() {
    const drawn = (this.drawn += 1);
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - EXTRA);
    const last = Math.min(this.matching, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + EXTRA);
    const numbers = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    const rows = await Promise.all(numbers.map((number) => this.at(number)));
    if (drawn !== this.drawn) return;
    fill(this.inner, ...numbers.map((number, at) => (rows[at] ? this.item(number, rows[at]) : null)));
    const seen = this.inner.querySelector("[aria-selected=true]");
    if (seen) this.box.setAttribute("aria-activedescendant", seen.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  item(number, one) {
    const chosen = number === this.active;
    const item = h("div", {
      role: "option", id: `row-${number}`, class: "row-item", "aria-selected": String(chosen), "aria-setsize": this.matching, "aria-posinset": number + 1,
      onclick: () => this.choose(number),
    }, ...this.row(one));
    item.style.top = `${number * ROW}px`;
    return item;
  }

  async choose(number) {
    if (!this.matching) return;
    this.active = Math.max(0, Math.min(this.matching - 1, number));
    const top = this.active * ROW, { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    if (top + ROW > scrollTop + clientHeight) this.box.scrollTop = top + ROW - clientHeight;
    const one = await this.at(this.active);
    this.draw();
    if (one) this.onchoose(one);
  }

  key(event) {
    const seen = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const far = { ArrowDown: 1, ArrowUp: -1, PageDown: seen, PageUp: -seen }[event.key];
    const to = far ? this.active + far : event.key === "Home" ? 0 : event.key === "End" ? this.matching - 1 : null;
    if (to === null) return;
    event.preventDefault();
    this.choose(to);
  }
}
