/* Registers of an IA-64 PMU to what they mean, with the samples of the EARs and the trace buffer:
 * pypfm.ia64.decode.decoded and trace_buffer in JavaScript.  pfm.decode(data, values, options) returns what
 * `pypfm decode --json` prints, and the variant of each register's layout. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const { KINDS, Registers, held, hex, ones } = pfm;
  const TOP = ones(64);

  const orNull = (value, convert) => value === undefined ? null : convert(value);

  /* What the trace buffer records: what the reader says, else what its settings say, else branches. */
  const traceOf = (given, asked) => {
    const { ipear, trace } = given.model;
    return asked ?? (given.has(ipear) && !given.pmcs.get(trace) ? "ipear" : "etb");
  };

  /* A bit that belongs to an entry and lies in another register; undefined if that was not given. */
  const extension = (given, num, name, mode = "etb") => {
    const home = given.model.extension ?? given.model.trace_index;
    return given.dataFields(home, mode === "ipear" ? "ipear" : "")[`pmd${num}ext_${name}`];
  };

  /* The layout of a PMD of the trace buffer. */
  const variantOf = (given, num, mode) => {
    if (given.model.ipear === null) return given.fields(given.model.trace).ds ? "ds" : "";
    if (mode === "etb") return "";
    return extension(given, num, "ef", mode) ? "ipear_ef" : "ipear";
  };

  /* The entries that were given, oldest first; without the index, by number. */
  const order = (given) => {
    const { entries, trace_index } = given.model;
    const index = given.dataFields(trace_index);
    const at = Number(index.bbi ?? index.ebi ?? entries.length);
    const first = index.full ? entries.slice(at) : [];
    return [...first, ...entries.slice(0, at)].filter((num) => given.pmds.has(num));
  };

  const branch = (given, num) => {
    const f = given.dataFields(num, variantOf(given, num, "etb"));
    const isSource = Boolean(f.b ?? f.s);
    const bundle = "loaddr" in f ? (f.hiaddr << 57n) | f.loaddr : f.addr;
    const made = (entry, address, more) => ({
      kind: "trace_entry", register: `PMD${num}`, entry, address: hex(address), slot: null, mispredicted: null,
      flushed: null, prediction: orNull(f.pred, hex), cycles: null, delay: null, ...more,
    });
    if (!isSource) return made(f.mp ? "target" : "invalid", bundle << 4n, {});
    return made("source", ((bundle + (extension(given, num, "b1") ?? 0n)) << 4n) & TOP, {
      slot: Number(f.slot), mispredicted: Boolean(f.mp), flushed: orNull(extension(given, num, "bruflush"), Boolean),
    });
  };

  const instruction = (given, num) => {
    const early = extension(given, num, "ef", "ipear");
    const f = given.dataFields(num, early ? "ipear_ef" : "ipear");
    const cycles = (extension(given, num, "cycles", "ipear") ?? 0n) * 16n + f.cycles;
    return {
      kind: "trace_entry", register: `PMD${num}`, entry: "instruction", address: hex(f.addr << (early ? 12n : 4n)),
      slot: null, mispredicted: null, flushed: orNull(extension(given, num, "f", "ipear"), Boolean), prediction: null,
      cycles: Number(cycles), delay: orNull(f.delay, Number),
    };
  };

  /* A sample from the fields of its registers: address, latency, and of a data EAR the instruction. */
  const sample = (what, registers, first, second, third) => {
    const line = first.iaddr ?? first.icla;
    const whole = third && Object.keys(third).length > 0;
    const address = line === undefined ? first.daddr : line << 5n;
    const place = whole ? ((third.iaddr + (third.bn ?? 0n)) << 4n) & TOP : undefined;
    return {
      kind: "ear_sample", what, registers, address: orNull(address, hex),
      latency: orNull(second.latency ?? second.lat, Number),
      overflow: orNull(second.overflow ?? second.ov, Boolean),
      status: orNull(first.stat ?? second.stat ?? second.level, Number),
      instruction: orNull(place, hex), slot: whole ? Number(third.slot) : null,
      valid: whole ? Boolean(third.vl) : orNull(first.v, Boolean),
    };
  };

  /* What the EARs hold, of the registers that were given. */
  const samples = (given) => [["instruction", given.model.iear_pmds], ["data", given.model.dear_pmds]]
    .map(([what, numbers]) => [what, numbers, numbers.filter((n) => given.pmds.has(n)).map((n) => `PMD${n}`)])
    .filter(([, , names]) => names.length)
    .map(([what, numbers, names]) => sample(what, names, ...numbers.map((n) => given.dataFields(n))));

  const register = (given, kind, num, mode) => {
    const value = given.kinds[kind].get(num);
    const variants = { PMC: () => given.pmcVariant(num), PMD: () => variantOf(given, num, mode) };
    const variant = variants[kind]?.() ?? "";
    const meanings = { PMC: pfm.setting, PMD: pfm.dataMeaning };
    const name = `${kind}${num}`;
    return {
      name, value: hex(value),
      fields: given.layout(kind, num, variant).map((field) =>
        ({ name: field[0], bit: field[1], width: field[2], value: hex(held(field, value)) })),
      meaning: meanings[kind]?.(given, num) ?? null, notes: pfm.notes(given, kind, num),
      variant: variant in given.data.registers[name] ? variant : "",
    };
  };

  /* options: trace is "etb" or "ipear" where the reader says which; reads are numbers of PMDs, if they are known. */
  pfm.decode = (data, values, { trace = null, reads = null } = {}) => {
    if (data.library === "pfm4") return pfm.decodeGoldmont(data, values);
    const given = new Registers(data, values, reads);
    const mode = traceOf(given, trace);
    return {
      pmu: data.pmu,
      registers: KINDS.flatMap((kind) => [...given.kinds[kind].keys()].map((num) => register(given, kind, num, mode))),
      ranges: pfm.ranges(given), samples: samples(given),
      trace: order(given).map((num) => (mode === "ipear" ? instruction : branch)(given, num)),
    };
  };
})();
