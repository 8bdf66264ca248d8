/* Text that a reader types or pastes to values of registers, and back.  What is wrong is said in one line: what it
 * is, and what to write. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const { hex, ones } = pfm;
  const NUMBER = /^\+?(0x_?[0-9a-f]+(?:_[0-9a-f]+)*|0b_?[01]+(?:_[01]+)*|0o_?[0-7]+(?:_[0-7]+)*|0+(?:_0+)*|[1-9][0-9]*(?:_[0-9]+)*)(?:u|l|ul|ull|lu|llu|n)?$/i;
  const NAMED = /^(PMC|PMD|IBR|DBR)(0|[1-9][0-9]{0,2})$/;
  const LONGEST = 1 << 16; // characters: all registers of a PMU take a tenth of it
  const OTHERS = /^(IA32_PERFEVTSEL[0-3]?|MSR_OFFCORE_RSP_[01]|code1?|offcore)$/i; // of Goldmont
  // Of what pypfm prints on a terminal: borders of pictures and tables, and rows of registers and of codes.
  const BORDER = /[─│┌┐└┘├┤┬┴┼]/;
  const ROW = /^\s*([A-Za-z_]\w*)\s+(0x[0-9a-fA-F]{16})(?:\s.*)?$/;
  // Of libpfm's verbose mode: [PMC4(pmc4)=0x001228 thres=0 es=0x12] CPU_CYCLES, and [PMD4(pmd4)].
  const VERBOSE = /\[?\b(PMC|PMD|IBR|DBR)(\d+)\(\w+\)(?:=(0x[0-9a-f]+)[^\]\n]*)?(?:\](?:[ \t]+(?!(?:PMC|PMD|IBR|DBR)\d)[a-z]\w*)?)?/gi;
  // Of programs: a word before the register, as in write PMC4 = 0x1229.
  const BEFORE = /^[ \t]*[a-z]+:?[ \t]+(?=(?:PMC|PMD|IBR|DBR)\d+[ \t]*=)/gim;
  const CODES = /^\s*codes\s+(0x[0-9a-f]+)(?:\s+(0x[0-9a-f]+))?\s*$/;

  class Complaint extends Error {}

  const short = (text) => text.length > 40 ? `${text.slice(0, 40)}...` : text;

  /* The number that a text is.  what: how messages call it; width: its bits. */
  const parseNumber = (text, what, width = 64) => {
    const word = text.trim();
    const range = `write a number from 0 to ${hex(ones(width))}`;
    const hint = width < 64 ? range : null;
    if (!word) throw new Complaint(`${what} has no value: ${hint ?? `write a number, such as ${what}=0x1228`}`);
    if (/^[-\u2212]\s*[0-9]/.test(word)) throw new Complaint(`${what}: ${short(word)} is negative: ${range}`);
    if (!NUMBER.test(word)) throw new Complaint(`${what}: ${short(word)} is not a number: ${advice(word, hint)}`);
    const value = BigInt(word.replace(/[_+]/g, "").toLowerCase().replace(/(?<=[0-9a-f])[uln]+$/, ""));
    if (value > ones(width))
      throw new Complaint(`${what}: ${short(word)} does not fit into ${width} bit${width > 1 ? "s" : ""}: ${range}`);
    return value;
  };

  const advice = (word, hint) => {
    if (/^0[0-9]+$/.test(word)) return `write 0x${word.replace(/^0+/, "") || "0"}, 0o... or a decimal number without the leading 0`;
    if (/^[0-9a-f]+h?$/i.test(word)) return `hexadecimal begins with 0x: write 0x${short(word.replace(/h$/i, ""))}`;
    return hint ?? "write 0x1228, 4648 or 0b1_0010_0010_1000";
  };

  /* The name of a register of the page, in capitals. */
  const nameOf = (data, word) => {
    const name = word.toUpperCase();
    if (name in data.registers) return name;
    if (data.library === "pfm4" && /^(CODE|IA32_PERFEVTSEL[0-3])$/.test(name)) return "IA32_PERFEVTSEL";
    if (!word) throw new Complaint(`a value has no register before its "=": write ${Object.keys(data.registers).at(0)}=0x1228`);
    throw new Complaint(`${data.pmu} has no register ${short(word)}: it has ${listing(data)}`);
  };

  /* The registers of a page as PMC0-15, PMD0-17 ... */
  const listing = (data) => {
    const runs = [];
    for (const name of Object.keys(data.registers)) {
      const [, kind, digits] = NAMED.exec(name) ?? [null, name, ""];
      const last = runs.at(-1);
      if (last && digits && last.kind === kind && Number(digits) === last.to + 1) last.to++;
      else runs.push({ kind, from: digits, to: Number(digits) });
    }
    return runs.map(({ kind, from, to }) => digitsOf(kind, from, to)).join(", ");
  };

  const digitsOf = (kind, from, to) => from === "" || Number(from) === to ? kind + from : `${kind}${from}-${to}`;

  /* What stands in a list: values by name, and options. */
  class List {
    constructor(data) {
      Object.assign(this, { data, values: new Map(), trace: null, reads: null, offcore: [] });
    }

    add(word, text) {
      if (this.data.library === "pfm4" && /^(offcore|code1)$/i.test(word)) this.offcore.push(text);
      else this.set(nameOf(this.data, word), text);
    }

    /* Which of the two offcore registers is meant, the code says, before or after it. */
    finish() {
      const code = this.values.get("IA32_PERFEVTSEL") ?? 0n;
      for (const text of this.offcore) this.set(`MSR_OFFCORE_RSP_${Number((code & 0xffffn) === 0x2b7n)}`, text);
      return this;
    }

    set(name, text) {
      const value = parseNumber(text, name);
      if (this.values.has(name) && this.values.get(name) !== value)
        throw new Complaint(`${name} is given twice, as ${hex(this.values.get(name))} and ${hex(value)}: write it once`);
      this.values.set(name, value);
    }

    option(word, text) {
      if (word === "trace" && this.data.model?.ipear != null && ["etb", "ipear"].includes(text)) this.trace = text;
      else if (word === "pmds" && this.data.library === "pfm3" && /^(\d+(,\d+)*)?$/.test(text))
        this.reads = text ? text.split(",").map(Number) : [];
      else throw new Complaint(`${word}=${short(text)} is no option of ${this.data.pmu}: ${options(this.data)}`);
    }
  }

  const options = (data) => data.library !== "pfm3" ? "write registers and values only"
    : data.model.ipear === null ? "write pmds=2,3 (PMDs that are read)"
      : "write trace=etb, trace=ipear or pmds=32,33 (PMDs that are read)";

  /* What `pypfm encode --json` or `pypfm decode --json` wrote. */
  const parseJson = (list, text) => {
    let data;
    try {
      data = JSON.parse(text);
    } catch {
      return false; // a list in braces, as Python writes it
    }
    // Names and values alone are read as a list: a JSON number loses bits.
    if (Object.values(data).every((held) => typeof held !== "object")) return false;
    if (typeof data.pmu === "string" && data.pmu !== list.data.pmu)
      throw new Complaint(`this JSON is of ${short(data.pmu)}, not of ${list.data.pmu}: open the register page of its PMU`);
    try {
      readEncoding(list, data);
    } catch (error) {
      if (error instanceof Complaint) throw error;
      throw unknown(list.data);
    }
    if (!list.values.size) throw unknown(list.data);
    return true;
  };

  const example = (data) => `${Object.keys(data.registers).find((name) => ["PMC4", "IA32_PERFEVTSEL"].includes(name))}=0x1228`;
  const unknown = (data) => new Complaint(`this JSON is not what pypfm encode --json writes: write a list, such as ${example(data)}`);

  const readEncoding = (list, data) => {
    if (list.data.library === "pfm4") {
      const codes = data.values ? [[data.values.code, data.values.offcore]] : data.events.map((event) => event.codes);
      for (const [code, extra] of codes) {
        if (code !== undefined) list.add("code", code);
        if (extra !== undefined) list.add("offcore", extra);
      }
      list.finish();
      return;
    }
    for (const r of data.pmcs ?? []) list.add(`PMC${r.num}`, r.value);
    for (const [part, kind] of [["irange", "IBR"], ["drange", "DBR"]])
      for (const r of data[part]?.registers ?? []) list.add(`${kind}${r.num}`, r.value);
    for (const r of data.registers ?? []) list.add(r.name, r.value); // of pypfm decode
    if (data.trace?.length && list.data.model.ipear !== null) list.trace = data.trace[0].entry === "instruction" ? "ipear" : "etb";
    if (list.data.model.dear !== null && list.data.model.drange === null && data.pmds) list.reads = data.pmds.map((r) => r.num);
  };

  /* The lines of a text that have values.  Of what pypfm prints on a terminal, and libpfm in its verbose mode, these are rows of tables and captions of
   * pictures; the rest is heads, the second line of a long row, and what the values mean. */
  const linesOf = (data, given) => {
    const text = given.replace(VERBOSE, (_, kind, num, value) => value ? `${kind}${num}=${value}` : "");
    const verbose = text !== given;
    const all = text.replace(BEFORE, "").split("\n").map((line) => line.replace(ROW, "$1=$2")
      .replace(CODES, (_, code, extra) => `code=${code}${extra ? ` offcore=${extra}` : ""}`));
    if (!verbose && !BORDER.test(text) && all.join("\n") === text.replace(BEFORE, "")) return all;
    const found = all.filter((line) => isName(/^\s*(\w+)\s*[=:]/.exec(line)?.[1] ?? ""));
    if (!found.length) throw new Complaint(`there is no value of a register in this: write ${example(data)}`);
    return found;
  };

  /* Codes of Goldmont alone, one or two, or perf's r5300c0, as `pypfm decode` takes them; anything else as it is. */
  const named = (data, words) => data.library === "pfm4" && words.length <= 2 && words.every((word) => /^(r[0-9a-f]+|\+?\d[^=]*)$/i.test(word))
    ? words.map((word, n) => `${["code", "offcore"][n]}=${word.replace(/^r/i, "0x")}`) : words;

  const isName = (word) => NAMED.test(word.toUpperCase()) || OTHERS.test(word);

  /* A list of registers: NAME=VALUE, as encode prints it on a terminal, as Python or C write it, or JSON.
   * alone: the register that a value without a name is of.  Returns values, trace and reads; throws a Complaint. */
  const parseList = (data, text, alone) => {
    if (text.length > LONGEST) throw new Complaint(`this is longer than ${LONGEST} characters: paste registers and values only`);
    const list = new List(data);
    if (/^\s*[{[]/.test(text) && parseJson(list, text)) return list;
    const plain = linesOf(data, text).join(" ").replace(/[\s"'{}()[\]]+/g, " ").replace(/ ?(=|:) ?/g, "=");
    const words = named(data, plain.split(/[\s;&]+|,(?!\d)/).filter(Boolean));
    for (const word of words) {
      const [name, ...rest] = word.replace(/^--(etb|ipear)$/, "trace=$1").split("=");
      const value = rest.join("=");
      if (["trace", "pmds"].includes(name)) list.option(name, value);
      else if (rest.length) list.add(name, value);
      else if (/^[a-z_]/i.test(word) && !/^[0-9a-f]+$/i.test(word)) {
        const register = nameOf(data, word);
        throw new Complaint(`${register} has no value: write ${register}=0x1228`);
      } else {
        parseNumber(word, alone); // complains
        if (words.length > 1) throw new Complaint(`${short(word)} is a value without a register: write ${alone}=${short(word)}`);
        list.add(alone, word);
      }
    }
    return list.finish();
  };

  /* A list as parseList() reads it, the values between others as an address has them. */
  const written = ({ values, trace, reads }, between = " ") => [
    ...[...values].map(([name, value]) => `${name}=${hex(value)}`), ...(trace ? [`trace=${trace}`] : []),
    ...(reads ? [`pmds=${reads.join(",")}`] : []),
  ].join(between);

  Object.assign(pfm, { Complaint, parseList, parseNumber, short, written });
})();
