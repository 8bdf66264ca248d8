/* What PMCs and debug registers say: pypfm.ia64.decode.settings in JavaScript.  Each function returns what
 * `pypfm decode --json` has: values that are written in hexadecimal there are such strings. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const { hex, held, ones, Registers } = pfm;
  const PAIRS = [0, 1, 2, 3];
  const ADDRESS_BITS = 56;
  const TOP = ones(64);
  const IGNORED = /^(\w+ext_)?(ig|res|ignored)\d*$/;

  const number = (value) => Number(value ?? 0n);
  const common = (f) => ({ plm: number(f.plm), system_wide: Boolean(f.pm) });

  /* The events that a counter register can mean. */
  const counterEvents = (data, f) => {
    data.byCode ??= data.events.reduce((found, event) => {
      const key = `${event[1]},${event[2]}`;
      return found.set(key, [...(found.get(key) ?? []), event]);
    }, new Map());
    return data.byCode.get(`${f.es},${f.umask ?? 0n}`) ?? [];
  };

  const counter = (given, num) => {
    const f = given.fields(num);
    const { masks } = given.data;
    const events = counterEvents(given.data, f).map(([name, , , takesMasks]) =>
      [name, ...(takesMasks ? masks.filter((mask) => f[mask.toLowerCase()]) : [])].join(":"));
    return {
      kind: "counter", events, plm: number(f.plm), threshold: number(f.thres),
      ism: given.model.has_ism ? number(f.ism) : 0, system_wide: Boolean(f.pm),
    };
  };

  const branches = (given, num) => {
    const f = given.fields(num);
    const shared = { tm: number(f.tm), ptm: number(f.ptm), ppm: number(f.ppm) };
    if ("bpt" in f)
      return { kind: "itanium_branches", ...shared, tar: number(f.tar), tac: number(f.bpt), bac: number(f.bac), ...common(f) };
    return { kind: "branches", ...shared, brt: number(f.brt), ds: number(f.ds), ...common(f) };
  };

  const ipear = (given, num) => {
    const f = given.fields(num);
    return { kind: "ipear", mode: number(f.mode), delay: number(f.delay), ...common(f) };
  };

  const routing = (given, num) => {
    const ignored = Object.entries(given.fields(num)).filter(([name]) => /^(ibrp|ch)/.test(name));
    return { kind: "routing", channels: [...ignored.keys()].filter((n) => !ignored[n][1]) };
  };

  const matcher = (given, which) => {
    const f = Object.assign({}, ...given.model.matchers[which].map((num) => given.fields(num)));
    // Of two matchers in two registers each, only the first decides on code ranges.
    const decides = "inv" in f && !(which === 1 && !given.model.has_raw_matchers);
    return {
      kind: "matcher", matcher: which + 1, slots: "m" in f ? [..."mifb"].filter((slot) => f[slot]) : null,
      match: "match" in f ? hex(f.match) : null, mask: "mask" in f ? hex(f.mask) : null,
      width: given.model.matcher_bits, inverted: decides ? Boolean(f.inv) : null,
      ignores_ranges: decides ? Boolean(f.ig_ad) : null,
    };
  };

  const earMode = (given, num, f, modes) => {
    if ("tlb" in f) return number(f.tlb);
    if (num !== given.model.iear) return number(f.mode);
    if (given.pmcVariant(num) === "cache") return modes.indexOf("cache");
    return f.ct ? -1 : modes.indexOf("tlb");
  };

  const ear = (given, num) => {
    const { data, model } = given;
    const f = given.fields(num);
    const { modes } = data.words;
    const mode = earMode(given, num, f, modes);
    const find = (umask) => data.ears.findLast((e) => e[0] === num && e[1] === mode && e[2] === umask) ?? null;
    const event = find(number(f.umask));
    const isInstruction = num === model.iear;
    const level = model.tlb_levels[Number(isInstruction)];
    const words = event ?? (modes[mode] === "tlb" ? find(number(f.umask) & level) : null);
    return {
      kind: "ear", what: isInstruction ? "instruction" : "data", mode: modes[mode] ?? "none", umask: hex(f.umask),
      filter: words && words[3], event: event && event[4], plm: number(f.plm), ism: model.has_ism ? number(f.ism) : 0,
      system_wide: Boolean(f.pm),
    };
  };

  const pairs = (given, num) => {
    const { data, model } = given;
    const f = given.fields(num);
    const made = (what, enabled, fine, constraints) => ({ kind: "pairs", what, enabled, fine, constraints });
    if (model.drange === null) { // Itanium: all pairs that there are, or none
      const [kind, unrestricted] = num === model.irange ? ["IBR", f.ta] : ["DBR", f.pt];
      const all = given.pairs(kind).map((n) => n / 2);
      return made(kind === "IBR" ? "code" : "data", unrestricted ? [] : all, null, []);
    }
    if (num === model.irange)
      return made("code", PAIRS.filter((n) => !f[`${model.code_pair}${n}`]), Boolean(f.fine), []);
    return made("data", PAIRS.filter((n) => f[`ena_dbrp${n}`]), null,
      PAIRS.map((n) => data.words.constraints[number(f[`${model.data_pair}${n}`])]));
  };

  /* What a PMC says, with the registers that belong to it; null if another one says that, or nothing does. */
  const setting = (given, num) => {
    const { model } = given;
    if (model.counters.includes(num)) return counter(given, num);
    const which = model.matchers.findIndex((numbers) => numbers.includes(num));
    if (which >= 0) return model.matchers[which].find((n) => given.has(n)) === num ? matcher(given, which) : null;
    const readers = new Map([[model.iear, ear], [model.dear, given.usesDataEar ? ear : pairs], [model.trace, branches],
      [model.ipear, ipear], [model.irange, pairs], [model.drange, pairs], [model.routing, routing]]);
    return readers.get(num)?.(given, num) ?? null;
  };

  /* What a PMD says on its own. */
  const dataMeaning = (given, num) => {
    const { model } = given;
    const f = given.dataFields(num);
    if (model.counters.includes(num)) return { kind: "count", count: f.count ?? given.pmds.get(num) };
    if (num !== model.trace_index) return null;
    return { kind: "index", next_entry: `PMD${model.entries[number(f.bbi ?? f.ebi)]}`, full: Boolean(f.full) };
  };

  const blockSize = (maskWord) => (1n << BigInt(ADDRESS_BITS)) - (maskWord & ones(ADDRESS_BITS));
  const isOneBlock = (maskWord) => !(blockSize(maskWord) & (blockSize(maskWord) - 1n));
  const levelsOf = (maskWord) => number((maskWord >> BigInt(ADDRESS_BITS)) & 0xfn);

  const rangesOf = (given, kind, fine) => {
    const values = given.kinds[kind];
    const whole = given.pairs(kind);
    const what = kind === "IBR" ? "code" : "data";
    const made = (numbers, start, end, mask) => ({
      kind: "range", what, registers: numbers.map((n) => `${kind}${n}`), start: hex(start), end: hex(end),
      plm: levelsOf(mask), fine,
    });
    if (fine)
      return [0, 2].filter((n) => whole.includes(n) && whole.includes(n + 4)).map((n) =>
        made([n, n + 1, n + 4, n + 5], values.get(n), values.get(n + 4) + 16n, values.get(n + 1)));
    return whole.filter((n) => isOneBlock(values.get(n + 1))).map((n) => {
      const mask = values.get(n + 1);
      const start = values.get(n) & ((mask & ones(ADDRESS_BITS)) | (TOP & ~ones(ADDRESS_BITS)));
      return made([n, n + 1], start, start + blockSize(mask), mask);
    });
  };

  /* The addresses that the debug registers cover. */
  const ranges = (given) => [...rangesOf(given, "IBR", given.fine), ...rangesOf(given, "DBR", false)];

  const fixedNotes = (given, num, f) => {
    const { model } = given;
    const usual = model.counters.includes(num) ? model.counter_bits : model.field_bits[num] ?? {};
    return Object.entries(usual).filter(([name, bits]) => f[name] !== BigInt(bits))
      .map(([name, bits]) => `${name} = ${f[name]}: the encoder writes ${bits}`);
  };

  const reservedNotes = (given, num, value) => {
    const { model } = given;
    const layout = given.pmcLayout(num);
    if (Registers.isWhole(layout) || (model.has_raw_matchers && model.matchers.some((n) => n.includes(num)))) return [];
    const base = BigInt(model.reserved_bits[num] ?? 0);
    return layout.filter((field) => IGNORED.test(field[0]) && held(field, value) !== held(field, base)).map((field) =>
      `${field[0]} = ${hex(held(field, value))}: reserved, the encoder writes ${hex(held(field, base))}`);
  };

  const maskNotes = (given, f) => {
    const chosen = [..."iesm"].filter((name) => f[name]);
    const takes = counterEvents(given.data, f).some(([, , , takesMasks]) => takesMasks);
    if (chosen.length && !takes) return [`${chosen.join(", ")}: unit masks of an event that has none`];
    return takes && !chosen.length ? ["no unit mask is chosen: the encoder demands one"] : [];
  };

  const settingNotes = (given, num, value) => {
    const { model } = given;
    const f = given.fields(num);
    const constant = model.constants[num];
    const differs = constant !== undefined && value !== BigInt(constant);
    return [
      ...fixedNotes(given, num, f),
      ...(differs ? [`libpfm writes ${hex(BigInt(constant))}, whatever the setting`] : []),
      ...reservedNotes(given, num, value),
      ...(model.counters.includes(num) ? maskNotes(given, f) : []),
      ...(Object.keys(f).length ? [] : ["no encoder writes this register"]),
    ];
  };

  const dataNotes = (given, num, value) => {
    const layout = given.layout("PMD", num);
    if (!given.model.counters.includes(num) || layout.length < 2) return [];
    const [count, above] = layout;
    const sign = held(count, value) >> BigInt(count[2] - 1);
    const isSign = [0n, sign * ones(above[2])].includes(held(above, value));
    return isSign ? [] : ["the bits above the counter are not its sign"];
  };

  const debugNotes = (given, kind, num, value) => {
    const found = [];
    if (num % 2) {
      for (const field of given.layout(kind, num))
        if (["ig", "w", "rx"].includes(field[0]) && held(field, value))
          found.push(`${field[0]} = ${held(field, value)}: the encoder leaves it 0`);
      if (!isOneBlock(value) && !(kind === "IBR" && given.fine))
        found.push("the mask is no block: what matches is not one range");
    }
    if (!given.kinds[kind].has(num ^ 1)) found.push(`without ${kind}${num ^ 1} it covers nothing that can be told`);
    return found;
  };

  /* What no encoder writes, and what has no place in a meaning. */
  const notes = (given, kind, num) => {
    const value = given.kinds[kind].get(num);
    if (kind === "PMC") return settingNotes(given, num, value);
    return kind === "PMD" ? dataNotes(given, num, value) : debugNotes(given, kind, num, value);
  };

  Object.assign(pfm, { dataMeaning, notes, ranges, setting });
})();
