"""A library that forwards each call to pypfm's own, and does one wrong thing that an environment variable names.

``MUTANT``, or ``LIBPFM_MUTANT``, holds ``FUNCTION WHAT N ARG OFFSET AFTER``. ``WHAT`` is one letter:

* ``a``: abort; ``r``: return N without the call; ``e``: make the call, then return N;
* ``f``: after a call that succeeds, change N bytes at OFFSET of what argument ARG points to (-1: what the pointer there does);
* ``d``: the same after a call that fails; ``s``: put a string that nobody can free where ARG points to;
* ``n``: when a call succeeds, N bytes at OFFSET stay as the caller had them; ``w``: they become 0; ``N`` and ``W``: the same
  behind the pointer that is first in what ARG points to;
* ``p``: print; ``l``: leak N bytes; ``m``: map N bytes and never unmap them; ``h``: another handler for SIGINT.

It happens from call AFTER + 1 of that function on.
"""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from native import CC, build
from pypfm.config import LIBRARIES
from pypfm.conform.checks.symbols import exported

MUTANT = "MUTANT"
_CODE = r"""
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef long word;
typedef word function(word, word, word, word, word, word);
static void *real;
static char name[64];
static char what;
static long number, offset, after, calls;
static int arg;

__attribute__((constructor)) static void load(void)
{
	const char *mutant = getenv(getenv("MUTANT") ? "MUTANT" : "LIBPFM_MUTANT");

	real = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
	if (mutant)
		sscanf(mutant, "%63s %c %ld %d %ld %ld", name, &what, &number, &arg, &offset, &after);
}

static void change(word *args, int failed)
{
	char *place = arg < 0 || !args[arg] ? NULL : (char *)args[arg];

	if (place && offset < 0) {	/* what a pointer there points to */
		place = *(char **)place;
		if (place && what == 'f' && !failed)
			place[0] ^= 1;
	} else if (place && (what == 'f' ? !failed : failed)) {
		for (long i = 0; i < number; i++)
			place[offset + i] ^= 1;
	}
}

/* Where a member of another width would be written, or would not; NULL for other changes. */
static char *member(word *args)
{
	char *place = strchr("nwNW", what) ? (char *)args[arg] : NULL;

	if (place && strchr("NW", what))
		place = *(char **)place;
	return place ? place + offset : NULL;
}

static void handle(int n) { _Exit(n); }

static word through(const char *called, word *a)
{
	static char text[] = "a text that nobody can free";
	function *f = (function *)dlsym(real, called);
	char *place, kept[64];
	word result;

	if (!what || strcmp(called, name) || calls++ < after)
		return f(a[0], a[1], a[2], a[3], a[4], a[5]);
	if (what == 'a')
		abort();
	if (what == 'r')
		return number;
	if (what == 'p')
		puts("chatter");
	if (what == 'l')
		memset(malloc((size_t)number), 1, (size_t)number);
	if (what == 'm')
		mmap(NULL, (size_t)number, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (what == 'h')
		signal(SIGINT, handle);
	place = member(a);
	if (place)
		memcpy(kept, place, (size_t)number);
	result = f(a[0], a[1], a[2], a[3], a[4], a[5]);
	if (place && (int)result == 0) {
		if (strchr("nN", what))
			memcpy(place, kept, (size_t)number);
		else
			memset(place, 0, (size_t)number);
	}
	if (what == 's' && (int)result == 0 && a[arg])
		*(char **)a[arg] = text;
	if (what == 'f' || what == 'd')
		change(a, (int)result < 0);
	return what == 'e' ? number : result;
}

#define FORWARD(name) \
	word name(word a, word b, word c, word d, word e, word f) { word all[] = { a, b, c, d, e, f }; return through(#name, all); }
"""


@cache
def forwarder(api: str) -> Path:
    """The library, built once for all tests of a process."""
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    library = LIBRARIES[api]
    code = _CODE + "".join(f"FORWARD({name})\n" for name, kind in exported(library.path).items() if kind == "function")
    out = Path(kept.name) / library.soname
    build(CC, "-shared", "-fPIC", "-w", "-fno-builtin", "-O1", f'-DREAL="{library.path}"', "-x", "c", "-", f"-Wl,-soname,{library.soname}",
          "-o", out, source=code)
    return out
