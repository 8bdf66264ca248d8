/* The file of a process: a mapping that is as long as anything will be, of a file that grows. */

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include "tool.h"

/* Of libcoregrind, in no public header, as those in tool.h. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection, Int fd, Off64T offset);

enum {
	STEP = 64 << 10,
	LONGEST_TEXT = 4096,
	FILE_SIZE = 1, /* RLIMIT_FSIZE */
};

struct header *header;
static HChar *base;            /* where the file is mapped; header, but for its type */
static SizeT mapped, extended; /* bytes */
static Int fd = -1;
static const HChar *directory;
static UInt image; /* how many files this process had before */

/* ---- the file ---- */

static void
name_file(HChar *path, UInt image)
{
	VG_(sprintf)(path, "%s/%d.%u.r10k", directory, VG_(getpid)(), image);
}

/* A file that no process has: one that executes programs has several, and numbers begin anew in a namespace. */
static Int
create(void)
{
	HChar path[VG_(strlen)(directory) + 64];
	for (UInt i = 0; i < 1000000; i++) {
		name_file(path, i);
		SysRes made = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, VKI_S_IRUSR | VKI_S_IWUSR);
		if (!sr_isError(made)) {
			image = i;
			/* The program's umask is not for it. */
			VG_(do_syscall)(__NR_fchmod, (RegWord)sr_Res(made), VKI_S_IRUSR | VKI_S_IWUSR, 0, 0, 0, 0);
			return VG_(safe_fd)((Int)sr_Res(made));
		}
		if (sr_Err(made) != VKI_EEXIST)
			break;
	}
	return -1;
}

/* Whether the file may have that many bytes: more of them would be a signal for the program. */
static Bool
allowed(SizeT size)
{
	struct vki_rlimit limit;
	return VG_(getrlimit)(FILE_SIZE, &limit) != 0 || limit.rlim_cur >= size;
}

static Bool
write_all(const void *bytes, SizeT size)
{
	const HChar *at = bytes;
	while (size) {
		Int n = VG_(write)(fd, at, (Int)(size < STEP ? size : STEP));
		if (n <= 0)
			return False;
		at += n;
		size -= (SizeT)n;
	}
	return True;
}

/* Make the file longer: zeros are written, so that a full disk is noticed here, and not where the memory is touched. */
static Bool
extend(SizeT size)
{
	static const HChar zeros[STEP];
	while (extended < size) {
		SizeT step = size - extended < STEP ? size - extended : STEP;
		if (fd < 0 || !allowed(extended + step) || VG_(lseek)(fd, (Off64T)extended, VKI_SEEK_SET) < 0 ||
		    !write_all(zeros, step))
			return False;
		extended += step;
	}
	return True;
}

static void
describe(void)
{
	static const HChar *const names[] = {
#define NAME(name, what) #name " ",
		R10K_COUNTS(NAME)
#undef NAME
	};
	VG_(memcpy)(header->format, FORMAT, sizeof header->format);
	header->size = (sizeof *header + 7) & ~7u;
	header->num_counts = R10K_NUM_COUNTS;
	header->used = header->size;
	header->pid = VG_(getpid)();
	header->parent = VG_(getppid)();
	header->on = header->wanted = 1;
	for (UInt i = 0, length = 0; i < R10K_NUM_COUNTS; i++) {
		VG_(strcpy)(header->names + length, names[i]);
		length += (UInt)VG_(strlen)(names[i]);
	}
}

/* The file is none. */
static void
forget(void)
{
	HChar path[VG_(strlen)(directory) + 64];
	name_file(path, image);
	VG_(unlink)(path);
	VG_(close)(fd);
	fd = -1;
}

/* Counts that nobody sees: the program runs all the same.  perfex knows by the file that is missing. */
static void
do_without(void)
{
	mapped = extended = sizeof *header;
	base = VG_(calloc)("r10k.header", 1, mapped);
	header = (struct header *)base;
	describe();
	header->on = header->wanted = 0;
	header->full = 1;
	if (fd >= 0)
		forget();
}

void
output_open(const HChar *where, const HChar *program)
{
	SysRes made;
	directory = VG_(strdup)("r10k.directory", where);
	fd = create();
	if (fd < 0 || !extend((sizeof *header + STEP - 1) & ~(SizeT)(STEP - 1))) {
		do_without();
		return;
	}
	for (mapped = (SizeT)(sizeof(UWord) == 8 ? 1u << 31 : 1u << 28); mapped >= extended; mapped /= 2) {
		made = VG_(am_shared_mmap_file_float_valgrind)(mapped, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
		if (!sr_isError(made))
			break;
	}
	if (mapped < extended) {
		do_without();
		return;
	}
	base = (HChar *)sr_Res(made);
	header = (struct header *)base;
	describe();
	VG_(strncpy)(header->program, program, sizeof header->program - 1);
}

Bool
output_was_wanted(void)
{
	HChar path[VG_(strlen)(directory) + 64];
	struct header before = { .wanted = 0 };
	if (!image)
		return False;
	name_file(path, image - 1);
	Int file = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (file >= 0) {
		VG_(read)(file, &before, sizeof before);
		VG_(close)(file);
	}
	return before.wanted != 0;
}

/* ---- items ---- */

void *
output_item(enum kind kind, SizeT size)
{
	SizeT whole = (sizeof(struct item) + size + 7) & ~(SizeT)7;
	struct item *item = (struct item *)(base + header->used);
	if (header->full || header->used + whole + sizeof *item > mapped ||
	    !extend(header->used + whole + sizeof *item)) {
		header->full = 1;
		return NULL;
	}
	item->size = (UInt)whole;
	item->kind = kind;
	header->used += whole;
	return item + 1;
}

UInt
output_reference(const void *inside)
{
	return inside ? (UInt)(((const HChar *)inside - base) >> 3) : 0;
}

void *
output_at(UInt reference)
{
	return reference ? base + ((SizeT)reference << 3) : NULL;
}

/* A name that was written, found again by its text or its parts. */
struct known {
	UInt reference;
	ULong hash;
	SizeT size;
};

static Word
compare_known(const void *key, const void *element)
{
	const struct known *a = key, *b = element;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->size < b->size ? -1 : a->size > b->size;
}

/* Find or make the entry of a key, in a set that is made with the first one; a new entry has reference 0. */
static struct known *
look_up(OSet **set, struct known key)
{
	if (!*set)
		*set = VG_(OSetGen_Create)(0, compare_known, VG_(malloc), "r10k.known", VG_(free));
	struct known *found = VG_(OSetGen_Lookup)(*set, &key);
	if (!found) {
		found = VG_(OSetGen_AllocNode)(*set, sizeof *found);
		*found = key;
		VG_(OSetGen_Insert)(*set, found);
	}
	return found;
}

ULong
output_hash(ULong hash, const void *bytes, SizeT size)
{
	for (SizeT i = 0; i < size; i++)
		hash = (hash ^ ((const UChar *)bytes)[i]) * 0x100000001b3;
	return hash;
}

/* An item by its bytes, made once.  Two with the same 64 bits of hash and the same length are taken for the same. */
static UInt
intern(enum kind kind, const void *bytes, SizeT size)
{
	static OSet *sets[ITEM_FUNCTION + 1];
	struct known *found =
		look_up(&sets[kind], (struct known){ .hash = output_hash(HASH_START, bytes, size), .size = size });
	void *item = found->reference ? NULL : output_item(kind, size);
	if (item) {
		VG_(memcpy)(item, bytes, size);
		found->reference = output_reference(item);
	}
	return found->reference;
}

UInt
output_text(const HChar *text)
{
	SizeT size = VG_(strlen)(text);
	return intern(ITEM_TEXT, text, size < LONGEST_TEXT ? size + 1 : LONGEST_TEXT);
}

static UInt
file_of(const HChar *name, const HChar *where)
{
	HChar path[VG_(strlen)(name) + VG_(strlen)(where) + 2];
	VG_(sprintf)(path, "%s%s%s", where, *where ? "/" : "", name);
	return output_text(path);
}

/* How far an address is from the beginning of its function: at the end of the name, after a plus. */
static UWord
distance(DiEpoch epoch, Addr address)
{
	const HChar *name;
	if (!VG_(get_fnname_w_offset)(epoch, address, &name))
		return 0;
	const HChar *plus = VG_(strrchr)(name, '+');
	HChar *end = NULL;
	Long offset = plus ? VG_(strtoll10)(plus + 1, &end) : 0;
	return end && !*end && offset > 0 ? (UWord)offset : 0;
}

/* The name of a function whose rarely executed part this is the name of. */
static const HChar *
whole(const HChar *name)
{
	static HChar text[LONGEST_TEXT];
	const HChar *end = VG_(strstr)(name, ".cold");
	SizeT length = end ? (SizeT)(end - name) : 0;
	if (!length || length >= sizeof text || (end[5] && end[5] != '.'))
		return name;
	VG_(memcpy)(text, name, length);
	text[length] = '\0';
	return text;
}

/* Code that a program has made, and whose name it may know, by its address. */
static UInt
address_of(Addr address)
{
	HChar text[32];
	VG_(sprintf)(text, "0x%lx", address);
	return output_text(text);
}

UInt
output_function(DiEpoch epoch, Addr address)
{
	struct function function = { 0 };
	const HChar *name, *where;
	if (VG_(get_objname)(epoch, address, &name))
		function.object = output_text(name);
	else if (options.asked)
		function.name = address_of(address);
	if (VG_(get_fnname)(epoch, address, &name)) {
		function.name = output_text(whole(name));
		if (VG_(get_filename_linenum)(epoch, address - distance(epoch, address), &name, &where, &function.line))
			function.file = file_of(name, where);
	}
	return intern(ITEM_FUNCTION, &function, sizeof function);
}

struct record *
output_block(ULong key, SizeT number, Bool *known)
{
	static OSet *blocks;
	struct known *found = look_up(&blocks, (struct known){ .hash = key, .size = number });
	*known = found->reference != 0;
	if (!*known)
		found->reference = output_reference(output_item(ITEM_BLOCK, number * sizeof(struct record)));
	return output_at(found->reference);
}

struct call *
output_call(UInt caller, UInt callee)
{
	static OSet *pairs;
	struct known *found = look_up(&pairs, (struct known){ .hash = (ULong)caller << 32 | callee });
	struct call *made = found->reference ? NULL : output_item(ITEM_CALL, sizeof *made);
	if (made) {
		made->caller = caller;
		made->callee = callee;
		found->reference = output_reference(made);
	}
	return output_at(found->reference);
}

void
output_place(struct record *record, DiEpoch epoch)
{
	const HChar *name, *where;
	UInt line;
	record->function = output_function(epoch, record->address);
	if (VG_(get_filename_linenum)(epoch, record->address, &name, &where, &line)) {
		record->file = file_of(name, where);
		record->line = line;
	}
}

/* ---- fork ---- */

/* All counts of an item are 0. */
static void
clear(const struct item *item, void *inside)
{
	switch (item->kind) {
	case ITEM_BLOCK:
		for (struct record *r = inside; (HChar *)(r + 1) <= (HChar *)item + item->size; r++) {
			r->executed = 0;
			r->site = 0; /* the parent may have made it since */
		}
		break;
	case ITEM_SITE:
		VG_(memset)(inside, 0, R10K_NUM_COUNTS * sizeof(ULong));
		break;
	case ITEM_THREAD:
		VG_(memset)(((struct thread *)inside)->counts, 0, R10K_NUM_COUNTS * sizeof(ULong));
		break;
	case ITEM_CALL:
		((struct call *)inside)->calls = 0;
		VG_(memset)(((struct call *)inside)->counts, 0, R10K_NUM_COUNTS * sizeof(ULong));
		break;
	default:
		break;
	}
}

/* Those of all items up to there; those of threads, too? */
static void
clear_all(SizeT end, Bool with_threads)
{
	for (SizeT at = header->size; at < end;) {
		struct item *item = (struct item *)(base + at);
		if (with_threads || item->kind != ITEM_THREAD)
			clear(item, item + 1);
		at += item->size;
	}
}

void
output_clear(void)
{
	clear_all(header->used, False);
}

static void
map_here(Int file, Int flags)
{
#if defined(__NR_mmap2) && !defined(VGA_arm64) && !defined(VGA_amd64)
	const UWord number = __NR_mmap2;
#else
	const UWord number = __NR_mmap;
#endif
	SysRes made = VG_(do_syscall)(number, (RegWord)base, mapped, VKI_PROT_READ | VKI_PROT_WRITE,
				      (RegWord)(flags | VKI_MAP_FIXED), (RegWord)file, 0);
	tl_assert(!sr_isError(made));
}

static SizeT used; /* bytes, at the time of fork(): the parent goes on */

void
output_before_fork(void)
{
	used = header->used;
}

void
output_fork(void)
{
	Int parents = fd;
	HChar *old = base;
	extended = 0;
	fd = create();
	if (fd < 0 || !allowed(used) || !write_all(old, used) ||
	    (extended = used, !extend((used + STEP) & ~(SizeT)(STEP - 1)))) {
		/* What this process counts is lost; its parent's file says so. */
		__sync_fetch_and_add(&header->lost, 1);
		HChar *copy = VG_(malloc)("r10k.copy", used);
		VG_(memcpy)(copy, old, used);
		if (fd >= 0)
			forget();
		map_here(-1, VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS);
		VG_(memcpy)(base, copy, used);
		VG_(free)(copy);
		header->full = 1;
	} else {
		map_here(fd, VKI_MAP_SHARED);
	}
	VG_(close)(parents);
	clear_all(used, True);
	UInt on = header->on, wanted = header->wanted, full = header->full;
	VG_(memset)(header->now, 0, sizeof header->now);
	header->lost = 0;
	header->not_begun = 0;
	header->state = STATE_RUNS;
	describe();
	header->used = used;
	header->on = on;
	header->wanted = wanted;
	header->full = full;
}
