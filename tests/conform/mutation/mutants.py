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


_ITA2, _MONT, _IA64 = "pfm3/itanium2.c", "pfm3/montecito.c", "pfm3/ia64.c"
_ITA, _GEN = "pfm3/itanium.c", "pfm3/gen_ia64.c"
_RANGES, _JOB, _MODEL, _API3 = "pfm3/ranges.c", "pfm3/job.c", "pfm3/model.c", "pfm3/api.c"
_PARSE, _GLM, _PERF, _EVENT = "pfm4/parse.c", "pfm4/glm.c", "pfm4/perf.c", "pfm4/perf_event.c"
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
         "job->groups >> GROUP_L2 & 1 && pfm3_count_codes(job, cancel_codes, sizeof(cancel_codes)) > 1"),
    Mutant("L2 sets 1 and 2 have unit masks of their own", _ITA2,
           "event->group == GROUP_L2 && event->set != 1 && event->set != 2", "event->group == GROUP_L2"),
    Mutant("ism of a counter", _ITA2, "in ? (unsigned int)in->pfp_ita2_counters[i].ism : 0", "0"),
    Mutant("fine mode holds one range of prefetch events", _ITA2, "n > (prefetches ? 1 : 2)", "n > 2"),
    _off(_ITA2, "outside fine mode several ranges need retired events", "!fine && !retired_only && n > 1"),
    _off(_ITA2, "prefetch events in one pair do not mix with others",
         "!fine && !retired_only && prefetches && prefetches + retired != job->count"),
    Mutant("prefetch events use pair 1", _ITA2, "prefetches ? 2 : 0", "0"),
    Mutant("bits 55:32 of a fine mask are 0", _ITA2, ".mask = 0xfffff000", ".mask = 0xfffffffffffff000"),
    Mutant("a detected processor widens fine ranges", _ITA2, ".widen = job->settings->fine_mode_bug", ".widen = 0"),
    _off(_ITA2, "pairs 0 and 2 exclude PMC9", "(num == 0 || num == 4) && job->extras.opcm[1]"),
    _off(_ITA2, "pairs 1 and 3 exclude PMC8", "(num == 2 || num == 6) && job->extras.opcm[0]"),
    Mutant("fine mode inside a page of 4 KB", _ITA2, "pfm3_ranges_in_page(in, n, 0xfffff000)",
           "pfm3_ranges_in_page(in, n, 0xffffe000)"),
    Mutant("the flag that forbids fine mode", _ITA2, "!(in->flags & PFMLIB_ITA2_RR_NO_FINE_MODE) && ", ""),
    Mutant("code ranges are aligned to bundles", _ITA2, "pfm3_count_ranges(in, 16)", "pfm3_count_ranges(in, 1)"),
    Mutant("a code range is needed", _ITA2, "if (n == 0)\n\t\treturn PFMLIB_ERR_IRRINVAL;", ""),
    Mutant("PMC15 routes to the pair of the tagged event", _ITA2, "if (first || !second)", "if (1)"),
    Mutant("PMC8 ignores addresses without code ranges", _ITA2, "opcm_ig_ad = !ranges;", "opcm_ig_ad = 1;"),
    Mutant("PMC8 inverts a range", _ITA2, "opcm_inv = ranges && job->extras.irange.flags & PFMLIB_ITA2_RR_INV;",
           "opcm_inv = 0;"),
    Mutant("bit 2 of PMC8 is set", _ITA2, "opcm_bit2 = 1;\n\ttrace_matcher(job, PMC_OPCM8",
           "opcm_bit2 = 0;\n\ttrace_matcher(job, PMC_OPCM8"),
    _off(_ITA2, "PMC9 is for retired instructions",
         "pfm3_count_codes(job, inst_retired_codes, sizeof(inst_retired_codes)) != job->count"),
    Mutant("PMC15 is written even if nothing is matched", _ITA2,
           "return pfm3_emit_pmc(job, PMC_OPCM_ROUTE, route);",
           "return route == 0xffffffff ? PFMLIB_SUCCESS : pfm3_emit_pmc(job, PMC_OPCM_ROUTE, route);"),
    Mutant("the branch buffer has nine PMDs", _ITA2, "pfm3_emit_shown_pmds(job, 8, 16);",
           "pfm3_emit_shown_pmds(job, 8, 15);"),
    Mutant("code ranges write PMC8 too", _ITA2, " && !(ranges && output(job)->pfp_ita2_irange.rr_nbr_used)", ""),
]

MONTECITO = [
    _off(_MONT, "L1D events are of one set", "*anchor >= 0 && job->events[*anchor]->set != job->events[i]->set"),
    Mutant("the last L1D event goes to PMC5", _MONT, "*anchor = (int)i;", "if (*anchor < 0)\n\t\t\t*anchor = (int)i;"),
    _off(_MONT, "L2D events are of two sets", "sets[1] >= 0"),
    Mutant("counters of the L2D sets", _MONT, "{ { 4, 5, 8 }, { 6, 7, 9 } }", "{ { 4, 5, 6 }, { 7, 8, 9 } }"),
    Mutant("one cancel event at a time (Montecito)", _MONT,
           "pfm3_count_codes(job, cancel_codes, sizeof(cancel_codes)) > 1", "0"),
    Mutant("PMC5 is the counter of L1D events", _MONT, "take(p, (unsigned int)anchor, 5)",
           "take(p, (unsigned int)anchor, 4)"),
    Mutant("limited events are placed first", _MONT,
           "ret = place_rest(job, 1, p);\n\tif (ret == PFMLIB_SUCCESS)\n\t\tret = place_rest(job, 0, p);",
           "ret = place_rest(job, 0, p);\n\tif (ret == PFMLIB_SUCCESS)\n\t\tret = place_rest(job, 1, p);"),
    Mutant("unit mask M sets bit 30", _MONT, "case 3: reg->pmc_mont_counter_reg.pmc_m = 1; break;", ""),
    _off(_MONT, "no event for both threads", "options && options->flags & PFMLIB_MONT_FL_EVT_ALL_THRD"),
    Mutant("ism of every counter is 2", _MONT, "pmc_ism = ISM_IA64;", "pmc_ism = 0;"),
    _off(_MONT, "dual events need a flag",
         "dual && !(flags & (PFMLIB_MONT_IRR_DEMAND_FETCH | PFMLIB_MONT_IRR_PREFETCH_MATCH))"),
    _off(_MONT, "CPU_OP_CYCLES excludes pair 1",
         "match && pfm3_count_codes(job, op_cycles_codes, sizeof(op_cycles_codes))"),
    _off(_MONT, "fine mode for both kinds of fetches uses all pairs", "ret == PFMLIB_SUCCESS && f->both"),
    _off(_MONT, "a coarse pair for both kinds is written twice", "ret == PFMLIB_SUCCESS && f.both"),
    Mutant("prefetches alone use pair 1", _MONT, "f->base = match && !demand ? 2 : 0;", "f->base = 0;"),
    _off(_MONT, "one pair does not mix fetch events with others",
         "!fine && !retired_only && f.events + retired != job->count"),
    _off(_MONT, "one fine range with fetch events", "fine && f.events && n > 1"),
    Mutant("fine ranges are widened to lines", _MONT, ".mask = 0xffff0000, .widen = 1", ".mask = 0xffff0000, .widen = 0"),
    Mutant("fine mode inside a page of 64 KB", _MONT, "pfm3_ranges_in_page(in, n, 0xffff0000)",
           "pfm3_ranges_in_page(in, n, 0xfffff000)"),
    Mutant("addresses of a single pair are one higher", _MONT,
           "ret = pfm3_cover_single(job, in, f.base, 1, out);\n\t\tif",
           "ret = pfm3_cover_single(job, in, f.base, 0, out);\n\t\tif"),
    Mutant("of a slot byte only bit 0 counts", _MONT, "opcm->opcm_m & 1u", "opcm->opcm_m != 0"),
    Mutant("a pattern has 41 bits", _MONT, "pfm3_field(opcm->opcm_match, 0, 41)", "pfm3_field(opcm->opcm_match, 0, 40)"),
    Mutant("PMC32 ignores addresses without code ranges", _MONT, "opcm_ig_ad = !ranges;", "opcm_ig_ad = 0;"),
    _off(_MONT, "the IP-EAR excludes branches", "job->extras.branches.used || pfm3_first_of_kinds(job, 1u << PFM3_BTB)"),
    Mutant("the delay of the IP-EAR has 8 bits", _MONT, "ipear_delay & 0xffu", "ipear_delay & 0x7fu"),
    Mutant("the trace buffer has PMD38 and PMD39", _MONT, "pfm3_emit_pmds(job, 38, 39);", ""),
]

ITANIUM = [
    _off(_ITA, "modes of the EARs (Itanium)", "ear->mode > 2"),
    Mutant("mode 2 passes", _ITA, "if (ear->mode > 2)", "if (ear->mode > 1)"),
    Mutant("pm of an EAR (Itanium)", _ITA, "pfm3_field(pfm3_systemwide(job), 6, 1) |", ""),
    Mutant("an EAR has 4 bits of unit mask (Itanium)", _ITA, "pfm3_field(ear->umask, 16, 4)",
           "pfm3_field(ear->umask, 16, 8)"),
    Mutant("ism of an EAR (Itanium)", _ITA, " |\n\t\t\t pfm3_field(ear->ism, 24, 2)", ""),
    Mutant("an EAR that an event implies ignores data ranges", _ITA,
           "!(job->extras.dear.used && job->extras.drange.used)", "!job->extras.drange.used"),
    Mutant("data ranges restrict the D-EAR of the caller", _ITA,
           "!(job->extras.dear.used && job->extras.drange.used)", "1"),
    Mutant("the second address of PMC11 stays 0", _ITA, "{ PMC_DEAR, 0 }", "{ PMC_DEAR, PMC_DEAR }"),
    Mutant("the last EAR event decides", _ITA, ".has_ism = 1, .last_ear = 1", ".has_ism = 1"),
    Mutant("an opcode matcher is a raw value", _ITA, "{ .pmc_val = opcm->pmc_val }", "{ .pmc_val = opcm->pmc_val & ~7ul }"),
    Mutant("PMC12 holds its number", _ITA, "PMC_BTB, PMC_BTB, (struct", "PMC_BTB, 0xfff8, (struct"),
    Mutant("the addresses of PMC12 are 0", _ITA, "(struct pfm3_addresses){ 0, 0 }",
           "(struct pfm3_addresses){ PMC_BTB, PMC_BTB }"),
    Mutant("the branch buffer has nine PMDs (Itanium)", _ITA, "pfm3_emit_shown_pmds(job, 8, 16);",
           "pfm3_emit_shown_pmds(job, 8, 15);"),
    Mutant("code ranges are aligned to bundles (Itanium)", _ITA, "pfm3_count_ranges(in, 16)", "pfm3_count_ranges(in, 1)"),
    Mutant("a code range is needed (Itanium)", _ITA, "if (n == 0)\n\t\treturn PFMLIB_ERR_IRRINVAL;", ""),
    Mutant("PMC13 is 0", _ITA, "pfm3_emit_pmc(job, PMC_IRANGE, 0);", "pfm3_emit_pmc(job, PMC_IRANGE, 1);"),
    Mutant("too many code ranges (Itanium)", _ITA, "ret == PFMLIB_ERR_TOOMANY ? PFMLIB_ERR_IRRTOOMANY : ret", "ret"),
    Mutant("data ranges without a D-EAR event write PMC11", _ITA,
           "ret != PFMLIB_SUCCESS || pfm3_first_of_kinds(job, PFM3_DEAR_KINDS)", "ret != PFMLIB_SUCCESS"),
    Mutant("data ranges write PMC11 even if the D-EAR is used", _ITA,
           "ret != PFMLIB_SUCCESS || pfm3_first_of_kinds(job, PFM3_DEAR_KINDS)",
           "ret != PFMLIB_SUCCESS || job->extras.dear.used || pfm3_first_of_kinds(job, PFM3_DEAR_KINDS)"),
    Mutant("the range structures are Itanium's own", _ITA, ".plm = given->rr_limits[i].rr_plm",
           ".plm = given->rr_limits[i].rr_flags"),
]

GENERIC_IA64 = [
    Mutant("width of the counters (forced)", _GEN, "counter_width = 47;", "counter_width = 32;"),
    Mutant("codes of the events (forced)", _GEN, ".code = 18;", ".code = 8;"),
    Mutant("the address of a counter is the place of the event", _GEN, "(struct pfm3_addresses){ i, 0 }",
           "(struct pfm3_addresses){ num, 0 }"),
    Mutant("the second address of a PMD stays 0", _GEN, "(struct pfm3_addresses){ num, 0 }",
           "(struct pfm3_addresses){ num, num }"),
    Mutant("pfm_get_event_counters() misses the counters", _GEN, "n < model->num_counters && n < PFMLIB_REG_MAX",
           "n < PFMLIB_REG_MAX"),
    Mutant("too many events (generic)", _GEN, "if (job->count > PMU_GEN_IA64_NUM_COUNTERS)", "if (0)",
           why_not="forced, there are four counters, and the generic API refuses more events"),
]

IA64 = [
    Mutant("an event goes to its counters only", _IA64, "s.candidates[i] = event->counters & ", "s.candidates[i] = 0xf0u & "),
    Mutant("counters that cache events keep for themselves", _IA64, "~(kept ? kept & ~rules->kept[event->group] : 0)", "~0u",
           why_not="the placements that it adds break the rules that are looked at behind it"),
    Mutant("unavailable counters are not taken", _IA64, "~(unsigned int)job->in->pfp_unavail_pmcs.bits[0]", "~0u"),
    Mutant("oi is set in a counter", _IA64, "pfm3_field(1, 5, 1) |\t/* oi */\n\t\t\t ", ""),
    _off(_IA64, "events have to support the qualifiers",
         "!(x->unchecked >> i & 1) && (needed & ~(unsigned int)job->events[i]->flags)"),
    Mutant("NO_QUALCHECK", _IA64, "!(x->unchecked >> i & 1) && ", ""),
    Mutant("opcode matchers are a qualifier", _IA64, "(x->opcm[0] || x->opcm[1] ? PFM3_OPCM : 0u)", "0u"),
    _off(_IA64, "with ranges every event is at the default level", "plm != 0 && plm != job->in->pfp_dfl_plm"),
    _off(_IA64, "model output without model input", "job->model_out && !job->model_in"),
    Mutant("I-EAR cache mode sets bit 13", _IA64, "pfm3_field(ear->umask, 5, 8) | pfm3_field(1, 13, 1)",
           "pfm3_field(ear->umask, 5, 8)"),
    Mutant("I-EAR TLB mode has 7 bits of unit mask", _IA64, "pfm3_field(ear->umask, 5, 7)", "pfm3_field(ear->umask, 5, 8)"),
    Mutant("modes of the I-EAR", _IA64, "default:\n\t\treturn PFMLIB_ERR_INVAL;", "default:\n\t\treturn PFMLIB_SUCCESS;"),
    Mutant("modes of the D-EAR", _IA64, "if (ear.mode > 2)", "if (ear.mode > 3)"),
    Mutant("the D-EAR has 4 bits of unit mask", _IA64, "pfm3_field(ear.umask, 16, 4)", "pfm3_field(ear.umask, 16, 3)"),
    Mutant("ism of the D-EAR (Montecito)", _IA64, "ear.ism |= regs->dear_ism;", ""),
    Mutant("the D-EAR has three PMDs", _IA64, "pfm3_emit_pmds(job, regs->dear_pmd3, regs->dear_pmd3);", ""),
    Mutant("rr_used of data ranges is compared with 1", _IA64, "int data = drange->used == 1,", "int data = drange->used != 0,"),
    Mutant("fine mode matters to PMC13 and PMC41", _IA64,
           "fine = (int)bits(job->out->pfp_pmcs[job->pmcs - 1].reg_value, 13, 1);", "fine = 0;"),
    _off(_IA64, "branches exclude a D-EAR in TLB or ALAT mode", "conflict && v"),
    Mutant("a D-EAR in TLB or ALAT mode clears the branch PMC", _IA64, "if (!b && !conflict)", "if (!b)"),
    Mutant("settings of the D-EAR can exclude branches", _IA64, " || (dear->used == 1 && dear->mode != 0)", ""),
    Mutant("a branch event records all branches", _IA64, "{ .tm = 3, .ptm = 3, .ppm = 3 }", "{ .tm = 3, .ptm = 2, .ppm = 3 }"),
]

RANGES = [
    Mutant("sizes are rounded to doubles", _RANGES, "return h >= 53 && x >= next - block_size(h - 53) ? h + 1 : h;",
           "(void)next;\n\treturn h;"),
    _off(_RANGES, "an empty interval at 0 ends the list", "start == 0 && end == 0"),
    Mutant("a range is not empty", _RANGES, "if (start >= end)", "if (start > end)"),
    Mutant("offsets of fine mode go to entry 0", _RANGES, "out->infos[0].soff = limit->start - first;",
           "out->infos[i].soff = limit->start - first;"),
    Mutant("the last pair on the left is doubled", _RANGES, "pairs == 1 && side == LEFT && lsize != 0", "0"),
    Mutant("the last pair on the right is doubled", _RANGES, "pairs == 1 && side == RIGHT && rsize != 0", "0"),
    Mutant("the odd pair goes to the bigger rest", _RANGES, "if (pairs % 2 && lsize > rsize)", "if (0)"),
    Mutant("blocks of 2^56 bytes count as 0", _RANGES, "(size_limit - mask) % size_limit", "(size_limit - mask)"),
    _off(_RANGES, "each range needs a pair", "c.reg == PFM3_NUM_DEBUG_REGS"),
    _off(_RANGES, "a pair needs its tagged event", "!(v >> off_bit[pair] & 1) && !(tagged >> pair & 1)"),
    Mutant("fine mode is bit 13", _RANGES, "v |= (uint64_t)1 << 13;", "v |= (uint64_t)1 << 12;"),
    Mutant("error of missing data ranges", _RANGES, "return PFMLIB_ERR_DRRINVAL;", "return PFMLIB_ERR_IRRINVAL;"),
    Mutant("error of too many data ranges", _RANGES, "? PFMLIB_ERR_DRRTOOMANY", "? PFMLIB_ERR_IRRTOOMANY"),
    _off(_RANGES, "opcodes take part in a pair", "part[pair] && (pair % 2 ? opcm1 : opcm0)"),
    Mutant("in fine mode pairs 2 and 3 are bounds", _RANGES, "fine ? 2 : 4, CODE", "4, CODE"),
    Mutant("enable bits of PMC13 and PMC41", _RANGES, "pfm3_field(part[pair] != 0, 45 + pair, 1)", "0"),
    Mutant("a range has a level of its own", _RANGES, "pfm3_field(pfm3_plm(job, plm), MASK_BITS, 4)",
           "pfm3_field(job->in->pfp_dfl_plm + 0 * plm, MASK_BITS, 4)"),
]

GENERIC = [
    Mutant("the unit mask of an EAR event is not the counter's", _JOB,
           "PFM3_EAR_KINDS >> event->kind & 1 ? 0 : event->umask", "event->umask"),
    Mutant("a threshold has 3 bits", _JOB, "pfm3_field(thres, 20, 3)", "pfm3_field(thres, 20, 4)"),
    Mutant("an event's level replaces the default", _JOB, "return plm ? plm : job->in->pfp_dfl_plm;",
           "return plm | job->in->pfp_dfl_plm;"),
    _off(_JOB, "unavailable registers are not written", "pfm3_unavailable(job, num)"),
    Mutant("system-wide measurement", _JOB, "pfm3_field(pfm3_systemwide(job), 6, 1)", "0"),
    Mutant("what irange_is_fine looks at", _JOB, "reg_value >> 13 & 1", "reg_value >> 12 & 1"),
    Mutant("a default level is needed", _MODEL, "in->pfp_dfl_plm == 0 || ", ""),
    _off(_MODEL, "unit masks are mandatory", "masks > 0 && e->num_masks == 0"),
    _off(_MODEL, "unit masks have to exist", "e->unit_masks[i] >= masks"),
    _off(_MODEL, "a unit mask is taken once", "e->unit_masks[i] == mask"),
    _off(_MODEL, "all bits of a combined mask are accounted for", "ret == PFMLIB_SUCCESS && seen != value"),
    Mutant("the search for a code goes on behind an index", _API3, "find_code(code, start + 1, next)",
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
    Mutant("no named unit mask behind a raw one", _PARSE,
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
    Mutant("the invert bit", _GLM, "(uint64_t)s->modifiers[PFM4_I] << INVERT_BIT", "(uint64_t)s->modifiers[PFM4_I] << 21"),
    Mutant("a default's own bits", _GLM, "s->umask |= umask->code;\t/*", "/*"),
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
    Mutant("bits that are not in config", _EVENT, "r->codes[0] & ~NOT_IN_CONFIG", "r->codes[0]"),
    _off(_EVENT, "the second code goes to config1", "r->num_codes > 1"),
    _off(_EVENT, "perf_raw clears config1 and config2", "r->pmu == &pfm4_perf_raw"),
    Mutant("unit masks are sorted in the string", _REQUEST, "r->entries[j - 1].index > entry.index", "0"),
    Mutant("a raw unit mask shows 32 bits", _REQUEST, "entry->value & 0xffffffff", "entry->value"),
    Mutant("perf_event has the basic modifiers", _PMUS, "os == PFM_OS_PERF_EVENT ? BASIC_MODIFIERS : ", ""),
    _off(_PMUS, "only precise events take precise", "pmu == &pfm4_glm && !(event->flags & PFM4_PEBS)"),
    _off(_PMUS, "software events have no h and precise",
         "pmu == &pfm4_perf && event->perf_type == PERF_TYPE_SOFTWARE"),
    Mutant("levels are the operating system's there", _PMUS, "hw &= ~(1u << PFM4_K | 1u << PFM4_U);", ""),
    _off(_PMUS, "disabled PMUs", "*disabled >> i & 1"),
    Mutant("a forced PMU in any letters", _PMUS, "strncasecmp(pmus[i]->name, force, len)", "strncmp(pmus[i]->name, force, len)"),
    Mutant("a size of 0 is the oldest", _API4, "size = oldest;", ""),
    Mutant("as many bytes of attr as the caller has", _API4,
           "copied = size == 0 ? PERF_ATTR_SIZE_VER0 : size < sizeof(attr) ? size : sizeof(attr);", "copied = sizeof(attr);"),
    Mutant("bits of the default levels", _API4, "dfl_plm & ~PFM4_ALL_PLM", "0"),
    Mutant("defaults of cache events are not reported", _API4, "pmu == &pfm4_glm && umask->flags", "umask->flags"),
]

MUTANTS = [*ITANIUM2, *MONTECITO, *ITANIUM, *GENERIC_IA64, *IA64, *RANGES, *GENERIC, *PARSER, *GOLDMONT, *KERNEL]
