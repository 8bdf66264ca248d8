/* The environment of the program, which is what it would be without valgrind. */

#include "pub_tool_basics.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"

#include "tool.h"

/* Of libcoregrind, in no public header. */
extern UWord *VG_(client_auxv) __attribute__((weak));

/* Take an entry out of the environment on the program's stack; what is after it, up to the end of the vector, moves. */
static void
take_out(HChar **entry)
{
	UWord *at = (UWord *)entry;
	do {
		at[0] = at[1];
	} while (*at++);
	do {
		at[0] = at[1];
		at[1] = at[2];
		at += 2;
	} while (at[-2]);
	VG_(client_auxv)--;
}

/* Return the text after a prefix; NULL: the text does not begin with it. */
static HChar *
after(HChar *text, const HChar *prefix)
{
	SizeT length = VG_(strlen)(prefix);
	return VG_(strncmp)(text, prefix, length) == 0 ? text + length : NULL;
}

/* Whether nothing is left of a variable without what valgrind has put there. */
static Bool
is_valgrinds(HChar *variable)
{
	HChar *value, *end;
	if ((value = after(variable, "VALGRIND_LIB=")))
		return VG_(strcmp)(value, VG_(libdir)) == 0;
	if (!(value = after(variable, "LD_PRELOAD=")) || !(end = after(value, VG_(libdir))) ||
	    !(end = after(end, "/vgpreload_core-")) || !(end = VG_(strstr)(end, ".so")))
		return False;
	end += 3;
	if (*end != ':')
		return True;
	while ((*value++ = *++end)) /* the program's own */
		;
	return False;
}

/*
 * Without the library that valgrind has each program load, which does nothing for this tool: to load it would count, and
 * the paths in LD_PRELOAD have no blanks and colons, which that of the user's cache directory may have.
 */
void
client_environment(void)
{
	HChar **end = VG_(client_envp), **at = end;
	while (*end)
		end++;
	if (!&VG_(client_auxv) || VG_(client_auxv) != (UWord *)(end + 1)) /* not as they are on a stack */
		return;
	while (*at) {
		if (is_valgrinds(*at))
			take_out(at);
		else
			at++;
	}
}
