/* The tool at the top of a register page: a list of registers and values, and a card for each.  The address of the
 * page has the values: #PMC4=0x1228&PMC5=0x5028. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const { element, hex } = pfm;
  const PAUSE = 600; // milliseconds after which what is typed counts as finished
  const FEW = 3; // cards that are open without being asked for
  const SELECT = "IA32_PERFEVTSEL";

  class Tool {
    constructor(place, data) {
      Object.assign(this, { place, data, events: place.dataset.events, cards: new Map(), state: null });
      this.alone = Object.keys(data.registers).find((name) => ["PMC4", SELECT].includes(name));
      this.build();
      this.text.addEventListener("input", () => this.read(this.text.value));
      this.text.addEventListener("change", () => this.finish());
      this.trace?.addEventListener("change", () => {
        this.state.trace = this.trace.value || null;
        this.rewrite();
      });
      window.addEventListener("hashchange", () => this.follow());
      for (const example of document.querySelectorAll(".pfm-example")) this.offer(example);
      this.state = pfm.parseList(data, "", this.alone);
      this.showTrace();
      this.follow();
    }

    build() {
      const example = this.alone === SELECT ? `${SELECT}=0x25500c2` : "PMC4=0x1228 PMC5=0x5028";
      const ids = { text: "pfm-values", hint: "pfm-hint", complaint: "pfm-complaint" };
      this.text = element("textarea", { id: ids.text, rows: 2, spellcheck: "false", autocomplete: "off", autocapitalize: "off",
        placeholder: example, "aria-describedby": `${ids.hint} ${ids.complaint}` });
      this.complaint = element("p", { id: ids.complaint, class: "pfm-complaint", role: "alert" });
      this.status = element("p", { class: "pfm-status", role: "status", "aria-live": "polite" });
      this.list = element("div", { class: "pfm-cards" });
      const clear = element("button", { type: "button" }, "Clear");
      clear.addEventListener("click", () => this.load(""));
      const hint = element("p", { id: ids.hint, class: "pfm-hint" }, "Type or paste registers, such as ",
        element("code", { class: "literal" }, example), ", or what ", element("code", { class: "literal" }, "pypfm encode"),
        ` prints; a number alone is ${this.alone}. Change a value, a field, or a digit of a picture. The address of this page has the values: a link shows the same.`);
      this.place.append(element("h2", { id: "pfm-tool-title" }, "Decode values"),
        element("label", { for: ids.text }, "Registers and values"), this.text, this.complaint, hint,
        element("div", { class: "pfm-edit" }, clear, ...this.traceChoice()), this.status, this.list);
      this.place.setAttribute("role", "region");
      this.place.setAttribute("aria-labelledby", "pfm-tool-title");
      this.place.hidden = false;
    }

    /* What the trace buffer holds, where that cannot always be told from the registers. */
    traceChoice() {
      if (this.data.model?.ipear == null) return [];
      const options = [["", "what its registers say"], ["etb", "branches"], ["ipear", "instruction addresses (IP-EAR)"]];
      this.trace = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
      this.traceLabel = element("label", {}, "The trace buffer holds ", this.trace);
      return [this.traceLabel];
    }

    /* A button that takes an example of the page into the tool. */
    offer(example) {
      const { name, values } = example.dataset;
      const button = element("button", { type: "button", class: "pfm-take", "aria-label": `Change the example of ${name}` }, "Change");
      button.addEventListener("click", () => {
        this.load(values);
        this.cards.get(name).open = true;
        this.cards.get(name).node.scrollIntoView();
        this.cards.get(name).input.focus({ preventScroll: true });
      });
      example.parentElement.querySelector(".pfm-caption").append(" ", button);
    }

    /* What the address says. */
    follow() {
      let text = location.hash.slice(1);
      try {
        text = decodeURIComponent(text);
      } catch { /* a % that stands for nothing: the message will show it */ }
      if (!text.includes("=")) return;
      if (text === this.address && !this.wrong) return;
      this.load(text.replaceAll("&", " "));
      this.place.scrollIntoView();
    }

    load(text) {
      this.text.value = text;
      this.read(text);
      this.finish();
    }

    /* Take what is typed, as far as it can be read; a complaint waits for a pause. */
    read(text) {
      clearTimeout(this.waiting);
      try {
        this.state = pfm.parseList(this.data, text, this.alone);
        this.wrong = "";
        this.show();
        this.complain();
      } catch (error) {
        if (!(error instanceof pfm.Complaint)) throw error;
        this.wrong = error.message;
      }
      this.waiting = setTimeout(() => this.finish(), PAUSE);
    }

    /* What is done when nothing more is typed: complaints, the address, and what a screen reader says. */
    finish() {
      clearTimeout(this.waiting);
      this.complain();
      if (this.wrong) return;
      this.address = pfm.written(this.state, "&");
      const hash = this.address && `#${this.address}`;
      if (hash || location.hash.includes("="))
        history.replaceState(null, "", hash || location.pathname + location.search);
      this.announce();
    }

    complain() {
      if (this.complaint.textContent !== this.wrong) this.complaint.textContent = this.wrong;
      if (this.wrong) this.text.setAttribute("aria-invalid", "true");
      else this.text.removeAttribute("aria-invalid");
      this.list.classList.toggle("pfm-stale", Boolean(this.wrong));
    }

    announce() {
      const names = [...this.state.values.keys()];
      const name = names.includes(this.changed) ? this.changed : names[0];
      const rows = this.cards.get(name)?.rows ?? [];
      const one = () => [`${name} = ${hex(this.state.values.get(name))}`, ...rows.map((row) => row.join(": "))].join(". ");
      const text = !names.length ? "" : names.length === 1 || this.changed ? one() : `${names.length} registers: ${names.join(", ")}`;
      if (this.status.textContent !== text) this.status.textContent = text;
      this.changed = null;
    }

    /* A card for each register, in the order of decode(); those that stay are changed, not made anew. */
    show() {
      const { values, trace, reads } = this.state;
      const decoded = pfm.decode(this.data, values, { trace, reads });
      for (const [name, card] of this.cards)
        if (!values.has(name)) {
          card.node.remove();
          this.cards.delete(name);
        }
      decoded.registers.forEach((register, i) => {
        const known = this.cards.get(register.name);
        const card = known ?? new pfm.Card(this, register.name);
        this.cards.set(register.name, card);
        card.update(decoded, register);
        if (!known && decoded.registers.length <= FEW) card.open = true;
        if (this.list.children[i] !== card.node) this.list.insertBefore(card.node, this.list.children[i] ?? null);
      });
      this.showTrace();
    }

    /* The choice for the trace buffer, where one of its registers is there. */
    showTrace() {
      if (!this.trace) return;
      const { values, trace } = this.state;
      this.trace.value = trace ?? "";
      this.traceLabel.hidden = !trace && !this.data.model.entries.some((num) => values.has(`PMD${num}`));
    }

    change(name, value) {
      this.state.values.set(name, value);
      this.changed = name;
      this.rewrite();
    }

    remove(name) {
      this.state.values.delete(name);
      this.rewrite();
      this.text.focus();
    }

    rewrite() {
      this.text.value = pfm.written(this.state);
      this.wrong = "";
      this.show();
      this.finish();
    }
  }

  for (const place of document.querySelectorAll(".pfm-tool"))
    pfm.tool = new Tool(place, JSON.parse(place.parentElement.querySelector(".pfm-data").textContent));
})();
