/*
 * Samples that overflows write to the sampling buffer, in the formats of versions 2.8 and
 * 3.0, and of perfmonctl(2).
 *
 * Both have the same entries except for the place of the counter's number, and the same
 * first members of the header.
 */
#include "context.h"

_Static_assert(sizeof(pfm_dfl_smpl_entry_t) == sizeof(pfm_default_smpl_entry_t), "entries");
_Static_assert(offsetof(pfm_dfl_smpl_entry_t, last_reset_val) == offsetof(pfm_default_smpl_entry_t, last_reset_val),
	       "entries");
_Static_assert(offsetof(pfm_dfl_smpl_entry_t, tgid) == offsetof(pfm_default_smpl_entry_t, tgid), "entries");
_Static_assert(sizeof(pfm_dfl_smpl_hdr_t) == sizeof(pfm_default_smpl_hdr_t), "headers");
_Static_assert(offsetof(pfm_dfl_smpl_hdr_t, hdr_cur_offs) == offsetof(pfm_default_smpl_hdr_t, hdr_cur_offs), "headers");
_Static_assert(offsetof(pfm_dfl_smpl_hdr_t, hdr_count) == offsetof(pfm_default_smpl_hdr_t, hdr_count), "headers");

/* The size of the largest entry. */
static uint64_t
least_space(const struct machine *machine)
{
	return sizeof(pfm_dfl_smpl_entry_t) + machine->num_pmds * sizeof(uint64_t);
}

uint64_t
sample_least_buffer(const struct machine *machine)
{
	return sizeof(pfm_dfl_smpl_hdr_t) + least_space(machine);
}

void
sample_begin(struct context *c, uint64_t size, uint32_t flags)
{
	pfm_dfl_smpl_hdr_t *header = c->buffer;
	pfm_default_smpl_hdr_t *ctl = c->buffer;

	header->hdr_cur_offs = sizeof(*header);
	if (c->is_ctl) {
		ctl->hdr_version = PFM_DEFAULT_SMPL_VERSION;
		ctl->hdr_buf_size = size;
		return;
	}
	header->hdr_version = PFM_DFL_SMPL_VERSION;
	header->hdr_buf_size = size;
	header->hdr_buf_flags = flags;
	header->hdr_min_buf_space = least_space(c->machine);
}

static bool
is_full(const struct context *c)
{
	const pfm_dfl_smpl_hdr_t *header = c->buffer;
	const pfm_default_smpl_hdr_t *ctl = c->buffer;

	if (c->is_ctl)
		return ctl->hdr_buf_size - ctl->hdr_cur_offs < PFM_DEFAULT_MAX_ENTRY_SIZE;
	return header->hdr_buf_size - header->hdr_cur_offs < header->hdr_min_buf_space;
}

static void
samples_write_number(const struct context *c, pfm_dfl_smpl_entry_t *entry, unsigned int number)
{
	if (c->is_ctl)
		((pfm_default_smpl_entry_t *)(void *)entry)->ovfl_pmd = (uint8_t)number;
	else
		entry->ovfl_pmd = (uint16_t)number;
}

static void
write_entry(struct context *c, pfm_dfl_smpl_hdr_t *header, unsigned int number, const struct where *where)
{
	const struct set *set = c->active;
	const struct pmd *pmd = &set->pmds[number];
	pfm_dfl_smpl_entry_t *entry = (void *)((char *)header + header->hdr_cur_offs);
	uint64_t *values = (uint64_t *)(entry + 1);

	entry->pid = (uint32_t)where->tid;
	entry->tgid = (uint32_t)where->pid;
	samples_write_number(c, entry, number);
	entry->last_reset_val = pmd->lval;
	entry->ip = where->ip;
	entry->tstamp = where->time;
	entry->cpu = (uint16_t)where->cpu;
	entry->set = set->id;
	for (EACH_BIT(rest, pmd->smpl_pmds))
		*values++ = set->pmds[first_bit(rest)].value;
	header->hdr_cur_offs = (uint64_t)((char *)values - (char *)header);
	header->hdr_count++;
}

bool
sample_record(struct context *c, unsigned int pmd, const struct where *where)
{
	if (!is_full(c)) {
		write_entry(c, c->buffer, pmd, where);
		if (!is_full(c))
			return false;
	}
	if (c->is_ctl)
		((pfm_default_smpl_hdr_t *)c->buffer)->hdr_overflows++;
	else
		((pfm_dfl_smpl_hdr_t *)c->buffer)->hdr_overflows++;
	return true;
}

void
sample_restart(struct context *c)
{
	pfm_dfl_smpl_hdr_t *header = c->buffer;

	header->hdr_count = 0;
	header->hdr_cur_offs = sizeof(*header);
}
