"""Rules of the encoders, each with the edit of the C source that drops or changes it.

An edit stands for a mistake that another implementation could make: a check left out, a
field one bit too narrow, a quirk of the reference not followed.  The old text has to be in
the file exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One rule and the edit that breaks it.

    :ivar rule: what the library does
    :ivar file: the C file, below csrc/
    :ivar old, new: the edit
    :ivar why_not: why no call can notice it, if none can
    """

    rule: str
    file: str
    old: str
    new: str
    why_not: str = ""

    @property
    def library(self) -> str:
        """The library that the file belongs to."""
        return self.file.partition("/")[0]

    def apply(self, text: str) -> str:
        """The edited source."""
        count = text.count(self.old)
        if count != 1:
            message = f"{self.file}: {self.rule}: {count} places for {self.old!r}"
            raise ValueError(message)
        return text.replace(self.old, self.new)


def _off(file: str, rule: str, condition: str) -> Mutant:
    """A check that never finds anything."""
    return Mutant(rule, file, f"if ({condition})", "if (0)")


_ITA2, _MONT, _ITA, _GEN = "pfm3/itanium2.c", "pfm3/montecito.c", "pfm3/itanium.c", "pfm3/gen_ia64.c"
_ABI, _ENCODE, _CHECKS, _ASSIGN = "pfm3/abi.c", "pfm3/encode.c", "pfm3/checks.c", "pfm3/assignment.c"
_RANGES, _REGS, _MODEL, _API3 = "pfm3/ranges.c", "pfm3/registers.c", "pfm3/model.c", "pfm3/api.c"
_PARSE, _GLM, _PERF, _EVENT = "pfm4/parse.c", "pfm4/glm.c", "pfm4/perf.c", "pfm4/perf_event.c"
_IA64 = "pfm4/ia64.c"
_REQUEST, _PMUS, _API4 = "pfm4/request.c", "pfm4/pmus.c", "pfm4/api.c"

ITANIUM2 = [
    _off(_ITA2, "L1 events need one on PMC5", "l1 && !(on5 && on5->group == GROUP_L1)"),
    _off(_ITA2, "L2 events need one on PMC4", "l2 && !(on4 && on4->group == GROUP_L2)"),
    _off(_ITA2, "events of most L2 sets share a unit mask",
         "l2_set_shares_umask(a) && b->umask && b->umask != a->umask"),
    Mutant("a later unit mask of 0 passes", _ITA2, "l2_set_shares_umask(a) && b->umask && b->umask != a->umask",
           "l2_set_shares_umask(a) && b->umask != a->umask"),
    Mutant("the unit mask on PMC4 holds for all L2 events", _ITA2,
           "if (event->group == GROUP_L2 && event->umask && event->umask != on4->umask)", "if (0)",
           "events of the sets that share a unit mask may go to every counter, and of the requests that pass the"
           " check of the groups the first L2 event has the mask of all: it is the one that comes to PMC4"),
    _off(_ITA2, "events of a group are of one set", "a->set != b->set"),
    _off(_ITA2, "one cancel event at a time",
         "e->groups >> GROUP_L2 & 1 && pfm3_count_codes(e, cancel_codes, sizeof(cancel_codes)) > 1"),
    Mutant("L2 sets 1 and 2 have unit masks of their own", _ITA2,
           "event->group == GROUP_L2 && event->set != 1 && event->set != 2", "event->group == GROUP_L2"),
    Mutant("ism of a counter", _REGS, "IA64_ISM(e->request->events[i].ism)", "0"),
    Mutant("prefetch events use pair 1", _ITA2, "prefetches ? 2 : 0", "0"),
    Mutant("a detected processor widens fine ranges", _RANGES, "rules->whole_lines || c->e->settings->fine_mode_bug",
           "rules->whole_lines"),
    _off(_ITA2, "pairs 0 and 2 exclude PMC9", "(num == 0 || num == 4) && e->request->matchers[1].used"),
    _off(_ITA2, "pairs 1 and 3 exclude PMC8", "(num == 2 || num == 6) && e->request->matchers[0].used"),
    Mutant("fine mode inside a page of 4 KB", _ITA2, ".page = 0xfffff000", ".page = 0xffffe000"),
    Mutant("PMC15 routes to the pair of the tagged event", _ITA2, "if (first || !second)", "if (1)"),
    Mutant("PMC8 ignores addresses without code ranges", _ITA2, "!code->used,\n\t\t\t\t     inv)", "1, inv)"),
    Mutant("PMC8 inverts a range", _ITA2, "code->used && code->flags & PFMLIB_ITA2_RR_INV", "0"),
    Mutant("bit 2 of PMC8 is set", _ITA2, "ia64_field(1, 2, 1)", "0"),
    _off(_ITA2, "PMC9 is for retired instructions", "pfm3_count_retired(e) != e->count"),
    Mutant("PMC15 is written even if nothing is matched", _ITA2,
           "ret = pfm3_emit_pmc(e, PMC_OPCM_ROUTE, route);",
           "ret = route == 0xffffffff ? PFMLIB_SUCCESS : pfm3_emit_pmc(e, PMC_OPCM_ROUTE, route);"),
    Mutant("the branch buffer has nine PMDs", _ITA2, "pfm3_emit_shown_pmds(e, 8, 16);",
           "pfm3_emit_shown_pmds(e, 8, 15);"),
    Mutant("code ranges write PMC8 too", _ITA2, " && !(code->used && e->answer->code.count)", ""),
]

MONTECITO = [
    _off(_MONT, "L1D events are of one set", "*anchor >= 0 && e->events[*anchor]->set != e->events[i]->set"),
    Mutant("the last L1D event goes to PMC5", _MONT, "*anchor = (int)i;", "if (*anchor < 0)\n\t\t\t*anchor = (int)i;"),
    _off(_MONT, "L2D events are of two sets", "sets[1] >= 0"),
    Mutant("counters of the L2D sets", _MONT, "{ { 4, 5, 8 }, { 6, 7, 9 } }", "{ { 4, 5, 6 }, { 7, 8, 9 } }"),
    Mutant("one cancel event at a time (Montecito)", _MONT,
           "pfm3_count_codes(e, cancel_codes, sizeof(cancel_codes)) > 1", "0"),
    Mutant("PMC5 is the counter of L1D events", _MONT, "take(p, (unsigned int)anchor, 5)",
           "take(p, (unsigned int)anchor, 4)"),
    Mutant("limited events are placed first", _MONT,
           "ret = place_rest(e, 1, p);\n\tif (ret == PFMLIB_SUCCESS)\n\t\tret = place_rest(e, 0, p);",
           "ret = place_rest(e, 0, p);\n\tif (ret == PFMLIB_SUCCESS)\n\t\tret = place_rest(e, 1, p);"),
    Mutant("unit mask M sets bit 30", _MONT, "IA64_MESI(requested->unit_masks)",
           "IA64_MESI(requested->unit_masks & 7)"),
    _off(_MONT, "no event for both threads", "requested->flags & PFM3_ALL_THREADS"),
    Mutant("ism of every counter is 2", _MONT, "IA64_ISM_IA64", "0"),
    _off(_MONT, "dual events need a flag",
         "dual && !(flags & (PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH))"),
    _off(_MONT, "CPU_OP_CYCLES excludes pair 1",
         "match && pfm3_count_codes(e, op_cycles_codes, sizeof(op_cycles_codes))"),
    Mutant("prefetches alone use pair 1", _MONT, "f->base = match && !demand ? 2 : 0;", "f->base = 0;"),
    Mutant("one pair is for fetches and retired instructions (Montecito)", _MONT, ".prefetch_only = 1,", ""),
    Mutant("fine ranges are widened to lines", _MONT, ".whole_lines = 1,", ""),
    Mutant("fine mode inside a page of 64 KB", _MONT, ".page = 0xffff0000", ".page = 0xfffff000"),
    Mutant("addresses of debug registers are one higher", _MONT, ".addr_shift = 1,", ""),
    Mutant("of a slot byte only bit 0 counts", _MONT, "ia64_field(matcher->m, 51, 1)", "ia64_field(matcher->m != 0, 51, 1)"),
    Mutant("a pattern has 41 bits", _MONT, "ia64_field(matcher->match, 0, 41)", "ia64_field(matcher->match, 0, 40)"),
    Mutant("PMC32 ignores addresses without code ranges", _MONT, "ia64_field(!code->used, 57, 1)", "0"),
    Mutant("PMC32 inverts a range", _MONT, "ia64_field(code->used && code->flags & PFMLIB_MONT_RR_INV, 56, 1)", "0"),
    _off(_MONT, "the IP-EAR excludes branches", "e->request->branches.used || pfm3_first_of_kinds(e, 1u << PFM3_BTB)"),
    Mutant("the delay of the IP-EAR has 8 bits", _MONT, "ia64_field(ipear->delay, 11, 8)", "ia64_field(ipear->delay, 11, 7)"),
    Mutant("the trace buffer has PMD38 and PMD39", _MONT, "pfm3_emit_pmds(e, 38, 39);", ""),
]

ITANIUM = [
    _off(_ITA, "modes of the EARs (Itanium)", "ear->mode > 2"),
    Mutant("mode 2 passes", _ITA, "if (ear->mode > 2)", "if (ear->mode > 1)"),
    Mutant("pm of an EAR (Itanium)", _ITA, "ia64_field(e->request->system_wide, 6, 1) |", ""),
    Mutant("an EAR has 4 bits of unit mask (Itanium)", _ITA, "ia64_field(ear->umask, 16, 4)",
           "ia64_field(ear->umask, 16, 8)"),
    Mutant("ism of an EAR (Itanium)", _ITA, " | ia64_field(ear->ism, 24, 2)", ""),
    Mutant("an EAR that an event implies ignores data ranges", _ITA,
           "!(e->request->dear.used && e->request->data.used)", "!e->request->data.used"),
    Mutant("data ranges restrict the D-EAR of the caller", _ITA,
           "!(e->request->dear.used && e->request->data.used)", "1"),
    Mutant("the second address of PMC11 stays 0", _ITA, "{ PMC_DEAR, 0 }", "{ PMC_DEAR, PMC_DEAR }"),
    Mutant("the last EAR event decides", _ITA, ".has_ism = 1,\n\t\t       .last_ear = 1 }", ".has_ism = 1 }"),
    Mutant("an opcode matcher is a raw value", _ITA, "v = matcher->value;", "v = matcher->value & ~7ul;"),
    Mutant("PMC12 holds its number", _ITA, "PMC_BTB, PMC_BTB, (struct", "PMC_BTB, 0xfff8, (struct"),
    Mutant("the addresses of PMC12 are 0", _ITA, "(struct pfm3_addresses){ 0, 0 }",
           "(struct pfm3_addresses){ PMC_BTB, PMC_BTB }"),
    Mutant("the branch buffer has nine PMDs (Itanium)", _ITA, "pfm3_emit_shown_pmds(e, 8, 16);",
           "pfm3_emit_shown_pmds(e, 8, 15);"),
    Mutant("PMC13 is 0", _ITA, "pfm3_emit_pmc(e, PMC_IRANGE, 0);", "pfm3_emit_pmc(e, PMC_IRANGE, 1);"),
    Mutant("too many code ranges (Itanium)", _RANGES, "return ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_IRRTOOMANY : ret;",
           "return ret;"),
    Mutant("data ranges without a D-EAR event write PMC11", _ITA,
           "ret != PFMLIB_SUCCESS || pfm3_first_of_kinds(e, PFM3_DEAR_KINDS)", "ret != PFMLIB_SUCCESS"),
    Mutant("data ranges write PMC11 even if the D-EAR is used", _ITA,
           "ret != PFMLIB_SUCCESS || pfm3_first_of_kinds(e, PFM3_DEAR_KINDS)",
           "ret != PFMLIB_SUCCESS || e->request->dear.used || pfm3_first_of_kinds(e, PFM3_DEAR_KINDS)"),
    Mutant("the range structures are Itanium's own", _ABI, "READ_RANGES(&in->pfp_ita_irange, &request->code);",
           "READ_RANGES((const pfmlib_ita2_input_rr_t *)(const void *)&in->pfp_ita_irange, &request->code);"),
    Mutant("data ranges of Itanium", _ABI, "READ_RANGES(&in->pfp_ita_drange, &request->data);",
           "READ_RANGES(&in->pfp_ita_irange, &request->data);"),
]

GENERIC_IA64 = [
    Mutant("width of the counters (forced)", _GEN, "counter_width = 47;", "counter_width = 32;"),
    Mutant("codes of the events (forced)", _GEN, ".code = IA64_CYCLES_CODE;", ".code = IA64_RETIRED_CODE;"),
    Mutant("the address of a counter is the place of the event", _GEN, "(struct pfm3_addresses){ i, 0 }",
           "(struct pfm3_addresses){ num, 0 }"),
    Mutant("the second address of a PMD stays 0", _GEN, "(struct pfm3_addresses){ num, 0 }",
           "(struct pfm3_addresses){ num, num }"),
    Mutant("pfm_get_event_counters() misses the counters", _GEN, "n < pmu->pairs && n < PFMLIB_REG_MAX",
           "n < PFMLIB_REG_MAX"),
]

SHARED = [
    Mutant("an event goes to its counters only", _ASSIGN, "s.candidates[i] = event->counters & ",
           "s.candidates[i] = 0xf0u & "),
    Mutant("counters that cache events keep for themselves", _ASSIGN, "~(kept ? kept & ~rules->kept[event->group] : 0)", "~0u",
           why_not="the placements that it adds break the rules that are looked at after it"),
    Mutant("unavailable counters are not taken", _ASSIGN, "~(unsigned int)e->request->unavailable_pmcs", "~0u"),
    Mutant("oi is set in a counter", _REGS, "IA64_OI | IA64_ISM", "IA64_ISM"),
    Mutant("NO_QUALCHECK", _CHECKS, "!(request->events[i].flags & PFM3_UNCHECKED) && ", ""),
    Mutant("opcode matchers are a qualifier", _CHECKS,
           "(request->matchers[0].used || request->matchers[1].used ? PFM3_OPCM : 0u)", "0u"),
    _off(_CHECKS, "with ranges every event is at the default level", "plm != 0 && plm != request->plm"),
    _off(_CHECKS, "model output without model input", "request->has_output && !request->has_input"),
    Mutant("I-EAR cache mode sets bit 13", _REGS, "ia64_field(!ear.mode, 13, 1)", "0"),
    Mutant("I-EAR TLB mode has 7 bits of unit mask", _REGS, "ear.mode ? 7 : 8", "8"),
    Mutant("modes of the I-EAR", _REGS, "if (ear.mode > 1)", "if (ear.mode > 2)"),
    Mutant("modes of the D-EAR", _REGS, "if (ear.mode > 2)", "if (ear.mode > 3)"),
    Mutant("the D-EAR has 4 bits of unit mask", _REGS, "ia64_field(ear.umask, 16, 4)", "ia64_field(ear.umask, 16, 3)"),
    Mutant("ism of the D-EAR (Montecito)", _REGS, "ear.ism : regs->dear_ism", "ear.ism : 0"),
    Mutant("the D-EAR has three PMDs", _REGS, "pfm3_emit_pmds(e, regs->dear_pmd3, regs->dear_pmd3);", ""),
    Mutant("rr_used of data ranges is compared with 1", _REGS, "if (request->data.used == 1)", "if (request->data.used)"),
    Mutant("fine mode matters to PMC13 and PMC41", _RANGES, "e->fine ? 2 : 4, CODE", "4, CODE"),
    _off(_REGS, "branches exclude a D-EAR in TLB or ALAT mode", "conflict && v"),
    Mutant("a D-EAR in TLB or ALAT mode clears the branch PMC", _REGS, "if (!b && !conflict)", "if (!b)"),
    Mutant("settings of the D-EAR can exclude branches", _REGS, " || (dear->used == 1 && dear->mode != 0)", ""),
    Mutant("a branch event records all branches", _REGS, "{ .tm = 3, .ptm = 3, .ppm = 3 }", "{ .tm = 3, .ptm = 2, .ppm = 3 }"),
]

RANGES = [
    Mutant("sizes are rounded to doubles", _RANGES, "return h >= 53 && x >= next - block_size(h - 53) ? h + 1 : h;",
           "(void)next;\n\treturn h;"),
    _off(_RANGES, "an empty interval at 0 ends the list", "start == 0 && end == 0"),
    Mutant("a range is not empty", _RANGES, "if (start >= end)", "if (start > end)"),
    Mutant("offsets of fine mode go to entry 0", _RANGES, "offsets[0].start = limit->start - first;",
           "offsets[i].start = limit->start - first;"),
    Mutant("the last pair on the left is doubled", _RANGES, "pairs == 1 && side == LEFT && lsize != 0", "0"),
    Mutant("the last pair on the right is doubled", _RANGES, "pairs == 1 && side == RIGHT && rsize != 0", "0"),
    Mutant("the odd pair goes to the bigger rest", _RANGES, "if (pairs % 2 && lsize > rsize)", "if (0)"),
    Mutant("blocks of 2^56 bytes count as 0", _RANGES, "(size_limit - mask) % size_limit", "(size_limit - mask)"),
    _off(_RANGES, "each range needs a pair", "c->reg == PFM3_NUM_DEBUG_REGS"),
    _off(_RANGES, "a pair needs its tagged event", "!e->fine && !(v >> off_bit[pair] & 1) && !(tagged >> pair & 1)"),
    Mutant("fine mode is bit 13", _RANGES, "ia64_field(e->fine != 0, 13, 1)", "ia64_field(e->fine != 0, 12, 1)"),
    Mutant("error of missing data ranges", _RANGES, "return PFMLIB_ERR_DRRINVAL;", "return PFMLIB_ERR_IRRINVAL;"),
    Mutant("error of too many data ranges", _RANGES, "? PFMLIB_ERR_DRRTOOMANY", "? PFMLIB_ERR_IRRTOOMANY"),
    _off(_RANGES, "opcodes take part in a pair", "part[pair] && request->matchers[pair % 2].used"),
    Mutant("code ranges are aligned to bundles", _RANGES, "count_ranges(c->in, 16)", "count_ranges(c->in, 1)"),
    Mutant("a code range is needed", _RANGES, "return c->n ? PFMLIB_SUCCESS : PFMLIB_ERR_IRRINVAL;", "return PFMLIB_SUCCESS;"),
    Mutant("bits 55:32 of a fine mask are 0", _RANGES, "ret = append_pair(c, r, first, rules->page);",
           "ret = append_pair(c, r, first, rules->page | ~0xffffffffull);"),
    Mutant("the flag that forbids fine mode", _RANGES, "!(c.in->flags & NO_FINE_MODE) && ", ""),
    Mutant("how many ranges there can be", _RANGES, "c->fine ? 2 : retired_only ? 4 : 1", "c->fine ? 2 : 4"),
    Mutant("one pair does not mix fetch events with others", _RANGES,
           "f.events + pfm3_count_retired(c->e) != c->e->count", "0"),
    _off(_RANGES, "one fine range with fetch events", "c->fine && f.events && c->n > 1"),
    _off(_RANGES, "a range for both kinds of fetches is written twice", "ret == PFMLIB_SUCCESS && f.both"),
    Mutant("fine mode for both kinds of fetches uses all pairs", _RANGES, "cover_fine(c, f.base + 2, rules)",
           "cover_fine(c, f.base, rules)"),
    Mutant("debug registers are appended to what was there", _RANGES, "ret = put_pair(c, c->out->count + c->reg, c->reg,",
           "ret = put_pair(c, c->reg, c->reg,",
           why_not="the recorded calls begin with an output of zeros; tests/c/stale.c has others"),
    Mutant("enable bits of PMC13 and PMC41", _RANGES, "ia64_field(part[pair] != 0, 45 + pair, 1)", "0"),
    Mutant("a range has a level of its own", _RANGES, "ia64_field(pfm3_plm(c->e, c->plm), MASK_BITS, 4)",
           "ia64_field(c->e->request->plm, MASK_BITS, 4)"),
]

GENERIC = [
    Mutant("the unit mask of an EAR event is not the counter's", _REGS,
           "PFM3_EAR_KINDS >> event->kind & 1 ? 0 : event->umask", "event->umask"),
    Mutant("a threshold has 3 bits", _REGS, "return ia64_counter_value(",
           "return (uint64_t)(requested->threshold >> 3 & 1) << 23 | ia64_counter_value("),
    Mutant("an event's level replaces the default", _ENCODE, "return plm ? plm : e->request->plm;",
           "return plm | e->request->plm;"),
    _off(_REGS, "unavailable registers are not written", "pfm3_unavailable(e, num)"),
    Mutant("system-wide measurement", _ABI, "in->pfp_flags & PFMLIB_PFP_SYSTEMWIDE", "0"),
    Mutant("what irange_is_fine looks at", _ABI, "reg_value >> 13 & 1", "reg_value >> 12 & 1"),
    Mutant("a default level is needed", _CHECKS, "request->plm == 0 || ", ""),
    _off(_CHECKS, "unit masks are mandatory", "count > 0 && masks == 0"),
    _off(_CHECKS, "unit masks have to exist", "masks >> count"),
    _off(_MODEL, "a unit mask is taken once", "e->unit_masks[i] == mask"),
    _off(_MODEL, "all bits of a combined mask are accounted for", "seen != value"),
    Mutant("the search for a code goes on after an index", _API3, "find_code(code, start + 1, next)",
           "find_code(code, start, next)"),
    Mutant("a name needs room for its end", _API3, "maxlen - 1 < strlen(event->name)", "maxlen < strlen(event->name)"),
    Mutant("a unit mask's name needs a byte more", _API3,
           "strlen(state.model->masks[mask_idx].name) >= maxlen - 1", "strlen(state.model->masks[mask_idx].name) >= maxlen"),
    Mutant("counters of a code query", _API3, "!(cnt < 64 && state.model->impl_counters >> cnt & 1)",
           "!(cnt < 64 && state.model->impl_counters << 1 >> cnt & 1)"),
    Mutant("a code fits an int", _API3, "*end || code > 2147483647", "*end"),
    Mutant("a name ends at a colon", _API3, "pfm3_find_name(state.model, name, strcspn(name, \":\"))",
           "pfm3_find_name(state.model, name, strlen(name))"),
    Mutant("any unit mask has code 0 on Itanium 2", _API3, "*code = 0;", "return PFMLIB_ERR_INVAL;"),
]

PARSER = [
    Mutant("a dot separates attributes", _PARSE, 'strcspn(str, ":.")', 'strcspn(str, ":")'),
    Mutant("a unit mask may stand for others", _PARSE, "if (umask->num_members == 0)", "if (1)"),
    Mutant("one raw unit mask, and no named one before", _PARSE, "run->raw_seen || run->named_seen || ", ""),
    Mutant("no named unit mask after a raw one", _PARSE,
           "return run->raw_seen ? PFM_ERR_ATTR : add_named_umask(run->r, index);", "return add_named_umask(run->r, index);"),
    _off(_PARSE, "a raw unit mask has no value", "name_end != end"),
    Mutant("what a switch takes", _PARSE, 'strchr("yYtT1", *str)', 'strchr("yYtT", *str)'),
    _off(_PARSE, "a number modifier needs a value", "!has_value && modifier->type == PFM_ATTR_MOD_INTEGER"),
    Mutant("a unit mask has no value", _PARSE, "i < r->event->num_umasks && !has_value", "i < r->event->num_umasks"),
    _off(_PARSE, "a modifier has one value", "r->entries[i].value != r->entries[j].value"),
    Mutant("of three equal attributes two stay", _PARSE, "r->num_entries--;", "r->num_entries--;\n\t\t\tj--;"),
    Mutant("no comma, blank, tab or newline", _PARSE, '", \\t\\n"', '", \\n"'),
    Mutant("an inactive PMU needs its name", _PARSE, "!(pmu && context->encode_inactive)", "!context->encode_inactive"),
    Mutant("an alias brings unit masks", _PARSE, "i < found->num_implied", "i < 0"),
]

GOLDMONT = [
    Mutant("a unit mask that is alone in its group", _GLM, "if (++s->count[group] > 1 && s->alone >> group & 1)",
           "s->count[group]++;\n\tif (0)"),
    _off(_GLM, "a raw unit mask fits its register", "value >> bits"),
    Mutant("a raw unit mask fills all groups", _GLM, "s->seen = (1u << r->event->num_groups) - 1;", "s->seen |= 1;"),
    _off(_GLM, "a counter mask has 8 bits", "code == PFM4_C && entry->value > 255"),
    Mutant("levels in a string replace the default", _GLM, "if (!s->levels_given) {", "if (1) {"),
    _off(_GLM, "only defaults are added", "!(umask->flags & PFM4_DFL)"),
    Mutant("ANY_RESPONSE excludes snoops", _GLM, "s->limit = (int)group;", ""),
    Mutant("OUTSTANDING allows requests only", _GLM, "s->only = (int)group;", ""),
    Mutant("what the limit is compared with", _GLM, "umask->group > s->limit", "umask->group >= s->limit"),
    _off(_GLM, "offcore unit masks go into a second code", "r->event->flags & PFM4_NHM_OFFCORE"),
    Mutant("the interrupt bit is set", _GLM, "(uint64_t)1 << INTERRUPT_BIT | ", ""),
    Mutant("the invert bit", _GLM, "s->modifiers[PFM4_I] << INVERT_BIT", "s->modifiers[PFM4_I] << 21"),
    Mutant("a default's own bits", _GLM, "s->umask |= umask->code; /*", "/*"),
    Mutant("a group that may stay empty", _GLM, "umask->flags & PFM4_GRP_DFL_NONE", "0"),
]

KERNEL = [
    _off(_PERF, "one operation and one result", "seen >> umask->group & 1"),
    Mutant("READ and MISS are the defaults", _PERF, "!(umask->flags & PFM4_DFL)", "1"),
    Mutant("the largest raw number is none", _PERF, "*raw != UINT64_MAX", "1"),
    Mutant("no name of a raw event for perf_event", _PERF, "if (r->os == PFM_OS_NONE)", "if (1)"),
    Mutant("a raw number begins with a digit", _PERF, "!isxdigit((unsigned char)name[1])", "0"),
    Mutant("a period excludes a frequency", _EVENT, "if (value == 0 || attr->freq)", "if (value == 0)"),
    Mutant("a frequency sets freq", _EVENT, "attr->freq = 1;", ""),
    _off(_EVENT, "precise is 0 to 3", "value > 3"),
    _off(_EVENT, "cpu is an int", "value >= INT_MAX"),
    Mutant("exclusive stays if preset", _EVENT, "attr->exclusive |= value & 1;", "attr->exclusive = value & 1;"),
    Mutant("mg counts in guests whatever its value", _EVENT, "s->guest = 1;", "s->guest = value != 0;"),
    Mutant("the host is counted unless only mg is given", _EVENT, "s->host || !s->guest", "s->host"),
    Mutant("named levels replace the default (perf_event)", _EVENT, "s->plm_given ? s->plm : r->dfl_plm", "s->plm | r->dfl_plm"),
    Mutant("a level that the PMU lacks cannot be excluded", _EVENT,
           "plm |= (PFM_PLM0 | PFM_PLM3 | PFM_PLMH) & ~r->plm;", ""),
    Mutant("bits that are not in config", _EVENT, "r->codes[0] & ~r->pmu->not_in_config", "r->codes[0]"),
    _off(_EVENT, "the second code goes to config1", "r->num_codes > 1"),
    _off(_EVENT, "perf_raw clears config1 and config2", "r->pmu->clears_config"),
    Mutant("unit masks are sorted in the string", _REQUEST, "r->entries[j - 1].index > entry.index", "0"),
    Mutant("a raw unit mask shows 32 bits", _REQUEST, "entry->value & 0xffffffff", "entry->value"),
    Mutant("perf_event has the basic modifiers", _PMUS, "os == PFM_OS_PERF_EVENT ? BASIC_MODIFIERS : ", ""),
    Mutant("only precise events take precise", _GLM, "event->flags & PFM4_PEBS ? 0 : 1u << PFM4_OS_PRECISE", "0"),
    Mutant("software events have no h and precise", _PERF, "event->perf_type == PERF_TYPE_SOFTWARE ? set", "0 ? set"),
    Mutant("levels are the operating system's there", _PMUS, "hw &= ~(1u << PFM4_K | 1u << PFM4_U);", ""),
    _off(_PMUS, "disabled PMUs", "*disabled >> i & 1"),
    Mutant("a forced PMU in any letters", _PMUS, "strncasecmp(pfm4_pmus[i]->name, force, len)", "strncmp(pfm4_pmus[i]->name, force, len)"),
    Mutant("a size of 0 is the oldest", _API4, "size = oldest;", ""),
    Mutant("as many bytes of attr as the caller has", _API4,
           "copied = size == 0 ? PERF_ATTR_SIZE_VER0 : size < sizeof(attr) ? size : sizeof(attr);", "copied = sizeof(attr);"),
    Mutant("bits of the default levels", _API4, "dfl_plm & ~PFM4_ALL_PLM", "0"),
    Mutant("defaults of cache events are not reported", _API4, "pmu->shows_defaults && umask->flags", "umask->flags"),
]

ITANIUM_EVENTS = [
    _off(_IA64, "a threshold has a limit", "code == PFM4_THRES && entry->value > r->event->max_threshold"),
    Mutant("the largest threshold passes", _IA64, "entry->value > r->event->max_threshold",
           "entry->value >= r->event->max_threshold"),
    Mutant("a threshold is part of the code", _IA64, ".threshold = (unsigned int)values[PFM4_THRES]", ".threshold = 0"),
    Mutant("a threshold has three bits", _IA64, "(unsigned int)values[PFM4_THRES]", "(unsigned int)values[PFM4_THRES] & 3"),
    Mutant("a switch may be off", _IA64, "entry->value != 0;", "1;"),
    Mutant("levels in a string replace the default (Itanium)", _IA64, "if (!levels_given) {", "if (1) {"),
    Mutant("default level of the kernel", _IA64, "(r->dfl_plm & PFM_PLM0) != 0", "(r->dfl_plm & PFM_PLM1) != 0"),
    Mutant("default level of user programs", _IA64, "(r->dfl_plm & PFM_PLM3) != 0", "1"),
    Mutant("k is privilege level 0", _IA64, "(values[PFM4_K] ? PFM_PLM0 : 0)", "(values[PFM4_K] ? PFM_PLM1 : 0)"),
    Mutant("u is privilege level 3", _IA64, "(values[PFM4_U] ? PFM_PLM3 : 0)", "(values[PFM4_U] ? 0xe : 0)"),
    Mutant("the PMU knows two levels", _IA64, ".levels = PFM_PLM0 | PFM_PLM3,", ".levels = PFM_PLM0 | PFM_PLM3 | PFM_PLMH,"),
    Mutant("all states are the default", _IA64, "r->event->num_umasks && !*states", "0"),
    Mutant("the default is a unit mask of the string", _IA64, "\t\t\tpfm4_add_default(r, all_states[i]);\n", "\t\t\t;\n"),
    Mutant("the default is shown as one", _IA64, ",\n\t\t   .flags = PFM4_DFL },\n};", " },\n};"),
    Mutant("unit mask M sets bit 30 (perf)", _IA64, "IA64_MESI(states)", "IA64_MESI(states & 7)"),
    Mutant("unit masks are combined", _IA64, "*states |= r->entries[i].umask->code;", "*states = r->entries[i].umask->code;"),
    Mutant("MESI stands for four", _IA64, " .num_members = sizeof(all_states),", ""),
    Mutant("MESI is what all are", _IA64, '"I:S:E:M"', "NULL"),
    Mutant("events of other registers are no perf events", _IA64,
           "!(r->event->flags & PFM4_OTHER_REGISTERS) && ", ""),
    Mutant("an event that the driver would cut is no perf event", _IA64, " && !(event & r->pmu->not_in_config)", ""),
    Mutant("events of other registers have a code", _IA64, "r->os != PFM_OS_NONE && !ia64_is_driven(r)", "!ia64_is_driven(r)"),
    Mutant("the event's unit mask is part of the code", _IA64, ".umask = r->event->umask,\n", ".umask = 0,\n"),
    Mutant("both threads", _IA64, "(values[PFM4_ALL] ? IA64_ALL : 0)", "0",
           "no event of Montecito may be counted in both threads, so none has the modifier"),
    Mutant("ism of every counter is 2 (perf)", _IA64, ".always = IA64_ISM_IA64", ".always = 0"),
    Mutant("oi of Itanium 2", _IA64, ".always = IA64_OI,\n\t.family = IA64_ITANIUM2", ".always = 0,\n\t.family = IA64_ITANIUM2"),
    Mutant("config of Montecito has the states", _IA64, "0x7c7fff00", "0x047fff00"),
    Mutant("config of Montecito has no levels", _IA64, "0x7c7fff00", "0x7c7fff0f"),
    Mutant("config of Itanium 2 has thresholds", _IA64, "0x007fff00", "0x000fff00"),
    Mutant("config of Itanium has no bit 19", _IA64, "0x0077ff00", "0x007fff00"),
    Mutant("config of the architected PMU is an event", _IA64, "0x0000ff00", "0x0000ffff"),
    Mutant("no precise for Itanium", _IA64, " | 1u << PFM4_OS_PRECISE", ""),
    Mutant("no hw_smpl for Itanium", _IA64, "1u << PFM4_OS_HW_SMPL | ", ""),
    Mutant("the processor's family", _IA64, " && ia64_family(cpuid3) == pmu->family", ""),
    Mutant("counters of Montecito", _IA64, ".num_cntrs = 12", ".num_cntrs = 4"),
    Mutant("one code", _IA64, ".max_encoding = 1", ".max_encoding = 2"),
    Mutant("cycles of the architected PMU", _IA64, "return context->cycles_code ? context->cycles_code : IA64_CYCLES_CODE;",
           "return context->cycles_code;"),
]

MUTANTS = [*ITANIUM2, *MONTECITO, *ITANIUM, *GENERIC_IA64, *SHARED, *RANGES, *GENERIC, *PARSER, *GOLDMONT, *KERNEL,
           *ITANIUM_EVENTS]
