// Where a task is typed: terms complete themselves, and what cannot be read is shown with a caret while one types.

import { post } from "./api.js";
import { button, fill, h, newId, unhurried } from "./dom.js";
import { safely, studio } from "./studio.js";

const WORDS = ["then", "or", "and"];
const MOST = 8; // offered at once
const AROUND = 28; // characters shown on each side of a caret
const WORD = /[^\s();,]*$/;

export class TaskField {
  /** `known()` gives the terms to offer, `run()` by what to read (null: any word will do); `onread(said)` gets what the text says, or null. */
  constructor(host, { label, known, run = () => studio.run, onread = () => {}, onenter = () => {}, hint = "" }) {
    Object.assign(this, { known, run, onread, onenter, offered: [], active: -1, asked: 0 });
    const [id, list, told] = ["task", "terms", "told"].map(newId);
    this.input = h("input", {
      id, type: "text", role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-autocomplete": "list",
      "aria-expanded": "false", "aria-controls": list, "aria-describedby": told, placeholder: hint, maxlength: studio.about.limits?.text,
    });
    this.list = h("ul", { id: list, role: "listbox", "aria-label": "terms", class: "offers", hidden: true });
    this.told = h("div", { id: told, class: "told", role: "status" });
    fill(host, h("div", { class: "field combo" }, h("label", { for: id, text: label }), h("div", { class: "anchor" }, this.input, this.list)), this.told);
    const soon = unhurried(() => this.read(), 180);
    this.input.oninput = () => {
      this.offer();
      soon();
    };
    this.input.onkeydown = (event) => this.key(event);
    this.input.onblur = () => this.close();
  }

  get value() {
    return this.input.value.trim();
  }
  set value(text) {
    this.input.value = text;
    this.close();
    this.read();
  }

  /** Ask what the text says; an answer to an older text is forgotten. */
  async read() {
    const asked = (this.asked += 1), text = this.value;
    let said = null, problem = null;
    if (text)
      await safely(async () => {
        try {
          said = await post("read", { run: this.run(), text });
        } catch (error) {
          if (error.name !== "Refused") throw error;
          problem = error;
        }
      });
    if (asked !== this.asked) return said;
    this.input.setAttribute("aria-invalid", String(Boolean(problem)));
    this.tell(problem, text);
    this.onread(said);
    return said;
  }

  tell(problem, text) {
    fill(this.told);
    if (!problem) return;
    const { position: at, suggestion } = problem;
    this.told.append(h("p", { text: sentence(problem.message) }));
    if (at !== null && at !== undefined) {
      const from = Math.max(0, at - AROUND), before = (from ? "…" : "") + text.slice(from, at);
      this.told.append(h("pre", { "aria-hidden": "true", text: `${before}${text.slice(at, at + AROUND)}\n${" ".repeat(before.length)}^` }));
    }
    if (suggestion) {
      const wrong = text.slice(at).match(/^[^\s(),;]*/)[0].length || 1;
      this.told.append(button(`Use “${suggestion}”`, () => {
        this.value = text.slice(0, at) + suggestion + text.slice(at + wrong);
        this.input.focus();
      }));
    }
  }

  offer() {
    const caret = this.input.selectionStart, before = this.input.value.slice(0, caret), typed = before.match(WORD)[0].toLowerCase();
    const rest = before.slice(0, before.length - typed.length).trim(), last = rest.split(/[\s();,]+/).pop();
    const joins = rest && !WORDS.includes(last) && !rest.endsWith("(") ? WORDS : [];
    const all = [...joins, ...this.known()].filter((word) => word !== typed);
    const starts = all.filter((word) => word.startsWith(typed));
    const holds = all.filter((word) => !word.startsWith(typed) && typed.length > 1 && word.includes(typed));
    this.show(typed ? [...starts, ...holds].slice(0, MOST) : []);
  }

  show(words) {
    this.offered = words;
    fill(this.list, ...words.map((word, at) => {
      const choose = (event) => {
        event.preventDefault(); // the field keeps the focus
        this.take(at);
      };
      return h("li", { id: `${this.list.id}-${at}`, role: "option", "aria-selected": "false", text: word, onpointerdown: choose });
    }));
    this.list.hidden = !words.length;
    this.input.setAttribute("aria-expanded", String(words.length > 0));
    this.light(-1);
  }

  light(at) {
    this.active = at;
    [...this.list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === at)));
    if (at < 0) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", this.list.children[at].id);
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.show([]);
  }

  take(at) {
    const caret = this.input.selectionStart, before = this.input.value.slice(0, caret).replace(WORD, this.offered[at] + " ");
    this.input.value = before + this.input.value.slice(caret).trimStart();
    this.input.setSelectionRange(before.length, before.length);
    this.close();
    this.read();
  }

  key(event) {
    const count = this.offered.length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!count) return this.show(this.known().slice(0, 200));
      this.light((this.active + (event.key === "ArrowDown" ? 1 : this.active < 0 ? 0 : -1) + count) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.active >= 0) this.take(this.active);
      else {
        this.close();
        this.onenter();
      }
    } else if (event.key === "Tab" && this.active >= 0) {
      event.preventDefault();
      this.take(this.active);
    } else if (event.key === "Escape") this.close();
  }
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
