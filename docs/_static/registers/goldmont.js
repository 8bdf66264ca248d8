/* Codes of Goldmont to events: the part of pypfm.perf.decode that a page needs, in JavaScript.  The library is not
 * here to try requests out: what it would encode is worked out by its rules (csrc/pfm4/glm.c). */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});
  const { held, hex } = pfm;
  const ALWAYS = { int: 1n, en: 1n }; // what the library sets; it leaves pc and any 0
  const RAW_BITS = 38n; // of an offcore unit mask
  const SELECT = "IA32_PERFEVTSEL";
  const RESPONSES = ["MSR_OFFCORE_RSP_0", "MSR_OFFCORE_RSP_1"];
  const [REQUEST, SUPPLIER, SNOOP, LATENCY] = [0, 1, 2, 3];

  /* The modifiers of an event as text, and whether the fields hold nothing but what they give. */
  const modified = (own, f) => {
    const names = [["k", "os"], ["u", "usr"], ["e", "edge"], ["i", "inv"], ["c", "cmask"]];
    const text = names.filter(([name]) => own.includes(name)).map(([name, field]) => `:${name}=${f[field]}`).join("");
    const fits = names.every(([name, field]) => own.includes(name) || !f[field]) &&
      ["int", "en", "pc", "any"].every((field) => f[field] === (ALWAYS[field] ?? 0n));
    return [text, fits];
  };

  const candidate = (event, aliases, string, request = string) =>
    ({ event, aliases, string: `glm::${string}`, request: `glm::${request}`, plm: null });

  /* The events of a code that is no offcore event's. */
  const core = (data, f) => {
    const code = Number((f.umask << 8n) | f.event);
    const found = [];
    for (const [name, own, modifiers] of data.events) {
      const [text, fits] = modified(modifiers, f);
      const named = data.named.find((n) => n[0] === code && n[1] === name);
      const isRaw = (own & 0xff) === Number(f.event) && !(own >> 8 & ~Number(f.umask));
      if (fits && named) found.push(candidate(name, named[3], named[2] + text));
      else if (fits && isRaw) found.push(candidate(name, [], `${name}:${hex(f.umask)}${text}`));
    }
    return found;
  };

  /* An offcore value by the names of its bits; unit masks that stand for others are not used. */
  const response = (event, value) => {
    const groups = [[], [], [], []];
    let rest = value;
    for (const [name, code, group, isAlias] of event[4]) {
      const bits = BigInt(code);
      if (isAlias || !bits || (bits & value) !== bits) continue;
      groups[group].push(name);
      rest &= ~bits;
    }
    return {
      value: hex(value), requests: groups[REQUEST], suppliers: groups[SUPPLIER], snoops: groups[SNOOP],
      outstanding: groups[LATENCY].length > 0, other: hex(rest),
    };
  };

  const responseRows = (r) => [
    ["requests", r.requests.join(" ") || "none"], ["suppliers", r.suppliers.join(" ") || "none"],
    ["snoops", r.snoops.join(" ") || "none"], ["latency mode", r.outstanding ? "yes" : "no"],
    ...(r.other === "0x0" ? [] : [["other bits", r.other]]),
  ];

  /* Which groups a unit mask that is in use shuts out: those above, and all but the requests and its own. */
  const limits = (chosen) => {
    const of = (flag) => chosen.filter((u) => u[4].includes(flag)).at(-1)?.[2] ?? null;
    return { limit: of("EXCL_GRP_GT"), only: of("EXCL_GRP_BUT_0") };
  };

  /* The unit masks that the library adds to empty groups; null: it refuses. */
  const defaults = (event, chosen, { limit, only }) => {
    const added = [];
    for (let group = 0; group < event[3]; group++) {
      if (chosen.some((u) => u[2] === group)) continue;
      let done = false;
      for (const u of event[4].filter((mask) => mask[2] === group)) {
        if ((limit !== null && group > limit) || u[4].includes("GRP_DFL_NONE") || (only !== null && group && group !== only))
          done = true;
        else if (u[4].includes("DFL")) {
          done = true;
          added.push(u);
          if (!u[4].includes("EXCL_GRP_GT")) continue;
          if (limit !== null) return null;
          limit = group;
        }
      }
      if (!done) return null;
    }
    return added;
  };

  /* What the library encodes named unit masks of an offcore event to: value and names; null: it refuses. */
  const encoded = (event, names) => {
    const chosen = names.map((name) => event[4].find((u) => u[0] === name));
    const { limit, only } = limits(chosen);
    const crowded = chosen.some((u) => u[4].includes("NCOMBO") && chosen.filter((v) => v[2] === u[2]).length > 1);
    const shut = chosen.some((u) => (only !== null && u[2] && u[2] !== only) || (limit !== null && u[2] > limit));
    const added = crowded || shut ? null : defaults(event, chosen, { limit, only });
    if (added === null || (limit !== null && added.some((u) => u[2] > limit))) return null;
    const all = event[4].filter((u) => chosen.includes(u) || added.includes(u));
    return [all.reduce((value, u) => value | BigInt(u[1]), 0n), all.map((u) => u[0])];
  };

  /* Requests for an offcore value, the library's own additions left out. */
  const requests = (event, r) => {
    const latency = r.outstanding ? event[4].filter((u) => u[2] === LATENCY).map((u) => u[0]) : [];
    const suppliers = r.suppliers.filter((name) => name !== "ANY_RESPONSE");
    return [[...r.requests, ...r.suppliers, ...r.snoops, ...latency], [...r.requests, ...suppliers, ...r.snoops, ...latency],
      [...r.requests, ...suppliers, ...latency]];
  };

  const offcore = (event, r, f) => {
    const [name, , modifiers] = event;
    const [text, fits] = modified(modifiers, f);
    if (!fits) return [];
    if (r === null) return [candidate(name, [], `${[name, ...encoded(event, [])[1]].join(":")}${text}`, name + text)];
    const value = BigInt(r.value);
    for (const names of requests(event, r)) {
      const made = encoded(event, names);
      if (made && made[0] === value)
        return [candidate(name, [], [name, ...made[1]].join(":") + text, [name, ...names].join(":") + text)];
    }
    if (value >> RAW_BITS) return [];
    return [candidate(name, [], `${name}:${hex(value & 0xffffffffn)}${text}`, `${name}:${hex(value)}${text}`)];
  };

  const codeNotes = (f, code) => [
    ...["pc", "int", "any", "en"].filter((name) => f[name] !== (ALWAYS[name] ?? 0n))
      .map((name) => `${name} = ${f[name]}: the library writes ${ALWAYS[name] ?? 0n}`),
    ...(code >> 32n ? [`bits above 31: ${hex(code >> 32n)} (the register has 32)`] : []),
  ];

  /* What `pypfm decode -p glm code=... offcore=...` prints. */
  const decodeCodes = (data, code, extra) => {
    const values = Object.fromEntries([["code", code], ["offcore", extra]].filter(([, v]) => v !== undefined)
      .map(([name, value]) => [name, hex(value)]));
    const made = (fields, r, candidates, notes) =>
      ({ pmu: "glm", values, os: "none", fields, offcore: r, candidates, notes });
    if (code === undefined) {
      const first = data.offcore.find((e) => e[0] === "OFFCORE_RESPONSE_0");
      return made({}, response(first, extra), [], ["without the code it can belong to either offcore event"]);
    }
    const f = Object.fromEntries(data.fields.map((field) => [field[0], held(field, code)]));
    const event = data.offcore.find((e) => BigInt(e[1]) === (code & 0xffffn));
    const notes = codeNotes(f, code);
    const r = event && extra !== undefined ? response(event, extra) : null;
    let found = code >> 32n || (!event && extra) ? [] : event ? offcore(event, r, f) : core(data, f);
    if (event && extra === undefined) notes.push("the requests are in the offcore register: give its value too");
    if (!event && extra) notes.push("an offcore value belongs to codes 0x1b7 and 0x2b7 only");
    if (!found.length && !notes.length) notes.push("no event of the library encodes to these values");
    const shown = Object.fromEntries(Object.entries(f).map(([name, value]) => [name, hex(value)]));
    return made(shown, r, found, notes);
  };

  /* The registers of the page, each with its rows. */
  pfm.decodeGoldmont = (data, values) => {
    const code = values.get(SELECT);
    const event = code === undefined ? undefined : data.offcore.find((e) => BigInt(e[1]) === (code & 0xffffn));
    const registers = [...values].map(([name, value]) => {
      const fields = data.layouts[data.registers[name][""]].map((field) =>
        ({ name: field[0], bit: field[1], width: field[2], value: hex(held(field, value)) }));
      const made = { name, value: hex(value), fields, variant: "", meaning: null, notes: [] };
      if (name !== SELECT) {
        const own = data.offcore.find((e) => e[0].endsWith(name.slice(-2)));
        return { ...made, rows: responseRows(response(own, value)) };
      }
      const decoded = decodeCodes(data, value, event && values.get(RESPONSES[Number(event[0].slice(-1))]));
      const found = decoded.candidates.flatMap((c) =>
        [["event", [c.event, ...c.aliases].join(", ")], ["string", c.string]]);
      return { ...made, rows: [...found, ...decoded.notes.map((note) => ["note", note])] };
    });
    return { pmu: "glm", registers, ranges: [], samples: [], trace: [] };
  };

  Object.assign(pfm, { decodeCodes, responseRows });
})();
