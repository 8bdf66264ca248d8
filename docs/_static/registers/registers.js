/* Registers of an IA-64 PMU by kind and number, and what their fields hold: what pypfm.ia64.register_set and
 * pypfm.ia64.models are in Python, on the data of a page (docs/_ext/register_data.py).  Values are BigInt. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const KINDS = ["PMC", "PMD", "IBR", "DBR"];
  const CACHE_MODE = 13n; // bit of an instruction EAR

  const ones = (width) => (1n << BigInt(width)) - 1n;
  const hex = (value) => `0x${value.toString(16)}`;
  const held = ([, bit, width], value) => (value >> BigInt(bit)) & ones(width);

  class Registers {
    /* values: a Map from names, in capitals; reads: numbers of the PMDs to read, if they are known. */
    constructor(data, values, reads = null) {
      Object.assign(this, { data, model: data.model, reads });
      this.kinds = Object.fromEntries(KINDS.map((kind) => [kind, new Map()]));
      for (const [name, value] of values) this.kinds[name.slice(0, 3)].set(Number(name.slice(3)), value);
      this.pmcs = this.kinds.PMC;
      this.pmds = this.kinds.PMD;
    }

    /* The fields of a register in a variant, or as it is without one. */
    layout(kind, num, variant = "") {
      const known = this.data.registers[`${kind}${num}`];
      return this.data.layouts[known[variant] ?? known[""]];
    }

    pmcVariant(num) {
      const two = "cache" in this.data.registers[`PMC${num}`];
      return two && this.pmcs.get(num) >> CACHE_MODE & 1n ? "cache" : "";
    }

    pmcLayout(num) {
      return this.layout("PMC", num, this.pmcVariant(num));
    }

    /* Whether no fields of a register are declared. */
    static isWhole(layout) {
      return layout.length === 1 && layout[0][0] === "value";
    }

    /* The fields of a PMC by name; of one that was not given, or has none, nothing. */
    fields(num) {
      if (num === null || !this.pmcs.has(num)) return {};
      const layout = this.pmcLayout(num);
      return Registers.isWhole(layout) ? {} : this.read(layout, this.pmcs.get(num));
    }

    /* The fields of a PMD by name; of one that was not given, nothing. */
    dataFields(num, variant = "") {
      if (num === null || !this.pmds.has(num)) return {};
      return this.read(this.layout("PMD", num, variant), this.pmds.get(num));
    }

    read(layout, value) {
      return Object.fromEntries(layout.map((field) => [field[0], held(field, value)]));
    }

    has(num) {
      return num !== null && this.pmcs.has(num);
    }

    /* Whether the data EAR is set: on Itanium its register is written for data ranges alone, too. */
    get usesDataEar() {
      const { dear, drange, dear_pmds } = this.model;
      if (!this.has(dear) || drange !== null) return this.has(dear);
      if (this.reads !== null) return this.reads.includes(dear_pmds[0]);
      return Object.entries(this.fields(dear)).some(([name, value]) => name !== "plm" && value);
    }

    get fine() {
      return Boolean(this.fields(this.model.irange).fine);
    }

    /* Numbers of the debug registers that hold addresses and whose mask word is there, too. */
    pairs(kind) {
      const values = this.kinds[kind];
      return [...values.keys()].filter((n) => n % 2 === 0 && values.has(n + 1)).sort((a, b) => a - b);
    }
  }

  Object.assign(pfm, { KINDS, Registers, held, hex, ones });
})();
