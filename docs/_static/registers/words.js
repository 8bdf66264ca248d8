/* Meanings in words, as rows of what and text: pypfm.ia64.decode.meanings in JavaScript; what a card says of a
 * register.  The names of values are data of the page. */
(() => {
  "use strict";
  const pfm = (globalThis.pfm ??= {});

  const yes = (value) => value ? "yes" : "no";
  const listed = (names) => names.join(", ") || "none";
  const levels = (words, plm) => listed(words.levels.filter((_, n) => plm >> n & 1));
  const ism = (words, m) => m.ism ? [["instruction set", words.ism[m.ism]]] : [];
  const tail = (words, m) => [["levels", levels(words, m.plm)], ["system-wide", yes(m.system_wide)]];
  const taken = (words, m) => [["branches", words.taken[m.tm]], ["target address", words.predicted[m.ptm]],
    ["path", words.predicted[m.ppm]]];

  /* The bits of a pattern from the highest, x for those that do not count. */
  const pattern = (m) => {
    const [match, mask] = [BigInt(m.match), BigInt(m.mask)];
    const bits = Array.from({ length: m.width }, (_, i) => BigInt(m.width - 1 - i))
      .map((n) => mask >> n & 1n ? "x" : String(match >> n & 1n)).join("");
    return bits.replace(/(?<=.)(?=(.{8})+$)/g, " ");
  };

  const matcher = (m) => {
    const found = [["opcode matcher", String(m.matcher)]];
    if (m.slots !== null) found.push(["slots", listed(m.slots)]);
    if (m.match !== null && m.mask !== null) found.push(["pattern", pattern(m)]);
    if (m.inverted || m.ignores_ranges) found.push(["code ranges", m.inverted ? "inverted" : "ignored"]);
    return found;
  };

  const pairs = (m) => {
    const fine = m.fine === null ? [] : [["fine mode", yes(m.fine)]];
    const needs = m.constraints.length ? m.enabled.map((n) => [`pair ${n}`, `needs ${m.constraints[n]}`]) : [];
    return [[`${m.what} pairs on`, listed(m.enabled.map((n) => `pair ${n}`))], ...fine, ...needs];
  };

  const sample = (m) => {
    const found = [["EAR", `${m.what} (${m.registers.join(", ")})`]];
    if (m.address !== null) found.push(["address", m.address]);
    if (m.latency !== null) found.push(["latency", `${m.latency} cycles${m.overflow ? " or more (overflow)" : ""}`]);
    if (m.status !== null) found.push(["status", String(m.status)]);
    if (m.instruction === null && m.valid === false) found.push(["valid", "no"]);
    if (m.instruction !== null)
      found.push(["instruction", `${m.instruction}, slot ${m.slot}${m.valid ? "" : " (not valid)"}`]);
    return found;
  };

  const ROWS = {
    counter: (words, m) => [
      [m.events.length > 1 ? "one of" : "event", m.events.join(", ") || "none has this code and unit mask"],
      ["levels", levels(words, m.plm)],
      ...(m.threshold ? [["threshold", `counts cycles with more than ${m.threshold} occurrences`]] : []),
      ...ism(words, m), ["system-wide", yes(m.system_wide)],
    ],
    matcher: (_, m) => matcher(m),
    ear: (words, m) => [
      ["EAR", `${m.what}, ${m.mode} mode`], ["records", m.filter || `umask ${m.umask}, which no event has`],
      ...(m.event ? [["event", m.event]] : []), ["levels", levels(words, m.plm)], ...ism(words, m),
      ["system-wide", yes(m.system_wide)],
    ],
    branches: (words, m) => [...taken(words, m), ["type", words.branches[m.brt]],
      ["records", m.ds ? "prediction details" : "targets"], ...tail(words, m)],
    itanium_branches: (words, m) => {
      const by = [["target address register", m.tar], ["target address cache", m.tac],
        ["branch address calculator", m.bac]].filter(([, on]) => on).map(([what]) => what);
      return [...taken(words, m), ["predicted by", listed(by)], ...tail(words, m)];
    },
    ipear: (words, m) => [["records", m.mode === 4 ? "instruction addresses" : `mode ${m.mode}`],
      ["freeze after", `${m.delay} cycles`], ...tail(words, m)],
    pairs: (_, m) => pairs(m),
    routing: (_, m) => [["channels matched", listed(m.channels)]],
    count: (_, m) => [["count", m.count.toLocaleString("en-US")]],
    index: (_, m) => [["next entry", m.next_entry], ["full", yes(m.full)]],
    ear_sample: (_, m) => sample(m),
  };

  /* What is to be said of a trace entry beside its address. */
  const entryText = (m) => {
    const words = [];
    if (m.entry === "source")
      words.push(m.slot === 3 ? "not taken" : `slot ${m.slot}`, m.mispredicted ? "mispredicted" : "correctly predicted");
    if (m.prediction !== null) words.push(`prediction ${m.prediction}`);
    if (m.flushed) words.push("flushed");
    if (m.cycles !== null) words.push(`${m.cycles} cycles`);
    if (m.delay !== null) words.push(`early freeze, delay ${m.delay}`);
    return words.join(", ");
  };

  const rows = (data, meaning) => ROWS[meaning.kind](data.words, meaning);

  /* All that decoded registers say of one of them. */
  const said = (data, decoded, register) => {
    if (data.library === "pfm4") return register.rows;
    const { name } = register;
    return [
      ...(register.meaning ? rows(data, register.meaning) : []),
      ...decoded.ranges.filter((r) => r.registers.includes(name)).map((r) => [`${r.what} range`,
        `${r.start} to ${r.end} (exclusive), levels ${levels(data.words, r.plm)}`]),
      ...decoded.samples.filter((s) => s.registers.includes(name)).flatMap((s) => rows(data, s)),
      ...decoded.trace.filter((t) => t.register === name).map((t) => ["entry", `${t.entry} ${t.address} ${entryText(t)}`.trim()]),
      ...register.notes.map((note) => ["note", note]),
    ];
  };

  Object.assign(pfm, { entryText, rows, said });
})();
