/* A register of the tool: its value, its picture, what it means, and its fields, all of which can be changed.  Pictures
 * and the words for fields are those of the page. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const { held, hex, ones } = pfm;
  const EXTENSION = /^pmd(\d+)ext_/;
  const SELECT = "IA32_PERFEVTSEL";

  /* An element; attributes whose value is null are left out. */
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  const bitsOf = ([, bit, width]) => width === 1 ? String(bit) : `${bit + width - 1}:${bit}`;

  /* What the page has of a register in a variant: the box with its picture and its table. */
  const boxOf = (data, name, variant) => {
    const known = data.registers[name];
    const same = Object.keys(known).filter((other) => known[other] === known[variant]);
    const ids = [variant, ...same].map((which) => `${data.pmu}-${name}${which && `-${which}`}`);
    return ids.map((id) => document.getElementById(id)?.closest(".pfm-register")).find(Boolean);
  };

  /* Meanings of fields, by name, as the table of a box has them. */
  const meaningsOf = (box) => {
    const rows = [...box.querySelectorAll("table.pfm-fields tbody tr")].map((row) => row.cells);
    const words = new Map(rows.map((cells) => [cells[1].textContent.trim(), cells[3].textContent.trim()]));
    return (field) => words.get(field) ??
      words.get(field.replace(EXTENSION, "pmdNext_"))?.replaceAll("PMDN", `PMD${EXTENSION.exec(field)?.[1]}`) ?? "";
  };

  /* A copy of a picture whose digits follow a value; a click on a digit turns the bit. */
  class Picture {
    constructor(box, turn) {
      this.node = box.querySelector(".pfm-picture").cloneNode(true);
      this.digits = [...this.node.querySelectorAll("svg")].map((svg) => [...svg.children].reverse().flatMap((lane) =>
        [...lane.querySelectorAll(".value text")].sort((a, b) => b.getAttribute("x") - a.getAttribute("x"))));
      for (const digits of this.digits)
        digits.forEach((digit, bit) => digit.addEventListener("click", () => turn(bit)));
    }

    show(name, value) {
      this.node.setAttribute("aria-label", `${name} = ${hex(value)}`);
      for (const digits of this.digits)
        digits.forEach((digit, bit) => { (digit.firstElementChild ?? digit).textContent = String(value >> BigInt(bit) & 1n); });
    }
  }

  /* What shows a field and changes it: a box for one bit, a list where values have names, else a number.
   * change is called with the new value, or with the text that is to be one. */
  const control = (register, field, change) => {
    const [name, , width, words] = field;
    const label = { "aria-label": `${register} ${name}, ${width === 1 ? "bit" : "bits"} ${bitsOf(field)}` };
    if (words) {
      const count = Math.max(words.length, 2 ** width);
      const options = Array.from({ length: count }, (_, n) => element("option", { value: n }, words[n] ? `${n} ${words[n]}` : String(n)));
      const node = element("select", label, ...options);
      node.addEventListener("change", () => change(BigInt(node.value)));
      return { node, show: (value) => { node.value = String(value); } };
    }
    if (width === 1) {
      const node = element("input", { ...label, type: "checkbox" });
      node.addEventListener("change", () => change(BigInt(node.checked)));
      return { node, show: (value) => { node.checked = Boolean(value); } };
    }
    const node = numberInput({ ...label, size: Math.ceil(width / 4) + 2 });
    node.addEventListener("change", () => change(node.value));
    return { node, show: (value) => { node.value = hex(value); } };
  };

  const numberInput = (attributes) =>
    element("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", ...attributes });

  /* The events of a register: a name, the bits that say it, and what they are then. */
  const picksOf = (data, name) => {
    if (data.library === "pfm4") {
      if (name !== SELECT) return [];
      const offcore = data.offcore.map(([event, code]) => [event, 0xffffn, BigInt(code)]);
      return [...data.named.map(([code, , text]) => [text, 0xffffn, BigInt(code)]), ...offcore];
    }
    const num = Number(name.slice(3));
    if (!name.startsWith("PMC")) return [];
    if (!data.model.counters.includes(num))
      return data.ears.filter((ear) => ear[0] === num).map((ear) => [ear[4], BigInt(ear[5]), BigInt(ear[6])]);
    const layout = data.layouts[data.registers[name][""]];
    const parts = ["es", "umask"].map((part) => layout.find((field) => field[0] === part)).filter(Boolean);
    const bits = (values) => parts.reduce((sum, [, bit, width], i) => sum | (BigInt(values[i]) & ones(width)) << BigInt(bit), 0n);
    const mask = bits(parts.map(([, , width]) => ones(width)));
    return data.events.map(([event, code, umask]) => [event, mask, bits([code, umask])]);
  };

  /* The list of names for a register, made once for all registers with the same events. */
  const namesOf = (data, name, picks) => {
    const isCounter = name === SELECT || data.model?.counters.includes(Number(name.slice(3)));
    const id = `pfm-events-${isCounter ? "counter" : name}`;
    if (!document.getElementById(id))
      document.body.append(element("datalist", { id }, ...picks.map(([value]) => element("option", { value }))));
    return id;
  };

  /* A row of what a register means; the names of events are links to them. */
  const saidRow = (data, events, what, text) => {
    const names = ["event", "one of"].includes(what) ? text.split(", ") : null;
    const link = (name) => {
      const event = name.split(":")[0];
      const isKnown = [data.events, data.offcore ?? []].some((list) => list.some((e) => e[0] === event));
      return isKnown ? element("a", { href: `${events}#${data.pmu}-${event}` }, name) : name;
    };
    // The string of an event is long: it breaks after a colon, not in the middle of a name.
    const breakable = text.split(/(?<=:)/).flatMap((part, i) => [...(i ? [element("wbr")] : []), part]);
    const shown = names ? names.flatMap((name, i) => [...(i ? [", "] : []), link(name)]) : breakable;
    return [element("dt", {}, what), element("dd", {}, ...shown)];
  };

  class Card {
    /* tool: has data, events (the address of the page of events), change(name, value) and remove(name). */
    constructor(tool, name) {
      Object.assign(this, { tool, name, layout: null, variant: null, value: 0n });
      this.gist = element("span", { class: "pfm-gist" });
      this.code = element("code", { class: "literal" });
      this.body = element("div");
      this.node = element("details", { class: "pfm-card" },
        element("summary", {}, element("strong", {}, name), " = ", this.code, " ", this.gist), this.body);
      this.node.addEventListener("toggle", () => this.fill());
    }

    set open(is) {
      this.node.open = is;
      this.fill();
    }

    /* Show what decode() found; the body only where it is open. */
    update(decoded, register) {
      this.decoded = decoded;
      this.register = register;
      this.value = BigInt(register.value);
      this.rows = pfm.said(this.tool.data, decoded, register);
      this.code.textContent = hex(this.value);
      this.gist.textContent = this.rows.length ? this.rows[0].join(": ") : "";
      this.fill();
    }

    fill() {
      if (!this.node.open || !this.register) return;
      const { data } = this.tool;
      const known = data.registers[this.name];
      const layout = data.layouts[known[this.register.variant] ?? known[""]];
      if (layout !== this.layout) this.build(layout);
      this.complain("");
      this.input.value = hex(this.value);
      this.picture?.show(this.name, this.value);
      this.says.replaceChildren(...this.rows.flatMap(([what, text]) => saidRow(data, this.tool.events, what, text)));
      for (const { field, show } of this.controls) show(held(field, this.value));
      if (this.pick) this.pick.value = this.picked();
    }

    build(layout) {
      // A change of one field can be a change of the layout: the field that has its bit then has the focus.
      const focused = this.controls?.find(({ node }) => node === document.activeElement)?.field;
      const box = boxOf(this.tool.data, this.name, this.register.variant);
      this.layout = layout;
      this.picture = box ? new Picture(box, (bit) => this.change(this.value ^ 1n << BigInt(bit))) : null;
      this.says = element("dl", { class: "simple pfm-says" });
      this.alert = element("p", { class: "pfm-complaint", role: "alert" });
      this.controls = layout.map((field) => ({ field, ...control(this.name, field, (value) => this.changeField(field, value)) }));
      const link = box && element("a", { href: `#${box.id}` }, `Description of ${this.name}`);
      this.body.replaceChildren(this.head(link), this.alert, ...(this.picture ? [this.picture.node] : []), this.says,
        this.table(box ? meaningsOf(box) : () => ""));
      if (focused) this.nearest(focused).node.focus();
    }

    /* The control of a field of the same name, or else of the one that has its lowest bit. */
    nearest([name, bit]) {
      const { controls } = this;
      return controls.find(({ field }) => field[0] === name) ?? controls.find(({ field }) => bit >= field[1] && bit < field[1] + field[2]);
    }

    head(link) {
      this.input = numberInput({ size: 20 });
      this.input.addEventListener("change", () => this.attempt(() => this.change(pfm.parseNumber(this.input.value, this.name))));
      const remove = element("button", { type: "button", "aria-label": `Remove ${this.name}` }, "Remove");
      remove.addEventListener("click", () => this.tool.remove(this.name));
      const { data } = this.tool;
      this.picks = picksOf(data, this.name);
      this.pick = this.picks.length ? numberInput({ list: namesOf(data, this.name, this.picks), size: 28 }) : null;
      this.pick?.addEventListener("change", () => this.attempt(() => this.choose(this.pick.value)));
      return element("div", { class: "pfm-edit" }, element("label", {}, "Value of ", this.name, " ", this.input),
        ...(this.pick ? [element("label", {}, "Event of ", this.name, " ", this.pick)] : []), remove, ...(link ? [link] : []));
    }

    table(meaning) {
      const heads = ["Bits", "Field", "Value", "Meaning"].map((text) => element("th", { scope: "col" }, text));
      const rows = this.controls.map(({ field, node }) => element("tr", {}, element("td", {}, bitsOf(field)),
        element("td", {}, element("code", { class: "literal" }, field[0])), element("td", {}, node),
        element("td", {}, meaning(field[0]))));
      return element("div", { class: "table-wrapper docutils" }, element("table", { class: "docutils pfm-fields" },
        element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
    }

    change(value) {
      this.tool.change(this.name, value);
    }

    /* A field gets a value, or the number that a text is. */
    changeField(field, given) {
      this.attempt(() => {
        const [name, bit, width] = field;
        const value = typeof given === "bigint" ? given : pfm.parseNumber(given, `${this.name} ${name}`, width);
        this.change((this.value & ~(ones(width) << BigInt(bit))) | value << BigInt(bit));
      });
    }

    /* The event whose bits the register has; of several, the one that the reader chose. */
    picked() {
      const found = this.picks.filter(([, mask, bits]) => (this.value & mask) === bits).map(([name]) => name);
      return found.includes(this.pick.value) ? this.pick.value : found[0] ?? "";
    }

    choose(text) {
      const wanted = text.trim().toUpperCase();
      const found = this.picks.find(([name]) => name.toUpperCase() === wanted);
      if (!found)
        throw new pfm.Complaint(`${wanted ? pfm.short(text.trim()) : "nothing"} is no event of ${this.name}: choose one of the list, such as ${this.picks[0][0]}`);
      this.change((this.value & ~found[1]) | found[2]);
    }

    attempt(change) {
      try {
        change();
      } catch (error) {
        if (!(error instanceof pfm.Complaint)) throw error;
        this.complain(error.message);
      }
    }

    complain(text) {
      if (this.alert.textContent !== text) this.alert.textContent = text;
    }
  }

  Object.assign(pfm, { Card, boxOf, element });
})();
