"""mmap() of a context's descriptor: redirected by the linker with the flags of ``pypfm config``, by the header for those who
compile by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from c_programs import source, succeeds
from conftest import clean_env, run
from native import CC, CXX, PFM3, PFM3_MANUAL, attempt, build, build_program
from pypfm.config import Library
from tools import needs, needs_flags

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static inline void *earlier(int fd) { return mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0); }
#include <perfmon/perfmon_dfl_smpl.h>

struct device { void *(*mmap)(struct device *); int fd; };
static void *of_device(struct device *d) { return earlier(d->fd); }

int main(int argc, char **argv)
{
	void *(*pointer)(void *, size_t, int, int, int, off_t) = &mmap;
	pfarg_ctx_t context;
	pfm_dfl_smpl_arg_t format;
	char name[] = "default";
	struct device d = { of_device, 0 };
	void *maps[5];

	(void)argc;
	pfm_create_context(NULL, NULL, NULL, 0);	/* the library is needed whatever else is */
	context = (pfarg_ctx_t) { 0, 0, { 0 } };
	format = (pfm_dfl_smpl_arg_t) { 4096, 0, 0, { 0 } };
	d.fd = pfm_create_context(&context, name, &format, sizeof(format));
	maps[0] = earlier(d.fd);
	maps[1] = mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0);
	maps[2] = pointer(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0);
	maps[3] = d.mmap(&d);
	for (int i = 0; i < 4; i++)
		printf("%d ", maps[i] != MAP_FAILED && ((pfm_dfl_smpl_hdr_t *)maps[i])->hdr_buf_size == 4096);
	maps[4] = mmap(NULL, 64, PROT_READ, MAP_PRIVATE, fileno(fopen(argv[0], "r")), 0);
	printf("%d\n", maps[4] != MAP_FAILED && ((char *)maps[4])[1] == 'E');
	return d.fd < 0;
}
"""
MODEL = {"LIBPFM_FORCE_PMU": "3", "LIBPFM_PERFMON": "model"}
STANDARD = {"c": "-std=gnu11", "c++": "-std=gnu++17"}


@pytest.mark.parametrize(("compiler", "language", "flags", "linked"), [
    (CC, "c", "-O0", "shared"), (CC, "c", "-D_FILE_OFFSET_BITS=64", "static"), (CC, "c", "-O2 -flto", "static"),
    (CXX, "c++", "-D_FILE_OFFSET_BITS=64", "shared"), (CXX, "c++", "-O2 -flto", "shared"), ("clang", "c", "-O0", "static"),
    ("clang", "c", "-O2 -flto", "shared")])
def test_the_linker_redirects(compiler: str, language: str, flags: str, linked: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    done = attempt(needs(compiler), STANDARD[language], *flags.split(), "-Wall", "-Werror", *PFM3.cflags, "-x", language, "-", "-o", program,
                   "-x", "none", *(PFM3.static_libs if linked == "static" else PFM3.libs), source=PROGRAM)
    if done.returncode and "-flto" in flags and compiler == "clang":
        pytest.skip(f"clang does not link with -flto on this machine: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    assert run(program, env=clean_env(**MODEL)).stdout == "1 1 1 1 1\n"


@pytest.mark.parametrize(("flags", "works"), [([], "1 1 1 1 1\n"), (["-D_FILE_OFFSET_BITS=64", "-DPFM_NO_MMAP_REDIRECT"], "0 0 0 0 1\n")],
                         ids=["header", "no redirection"])
def test_compiled_by_hand(flags: list[str], works: str, tmp_path: Path) -> None:
    """Two directories are all that an old makefile has; gcc takes the label after the inline function, too."""
    directory = PFM3.path.parent
    build(CC, "-std=gnu11", *flags, f"-I{PFM3.include_dir}", "-x", "c", "-", "-o", tmp_path / "program", f"-L{directory}", "-lpfm",
          f"-Wl,-rpath,{directory}", source=PROGRAM)
    assert run(tmp_path / "program", env=clean_env(**MODEL)).stdout == works


@pytest.mark.parametrize(("name", "form"), [("perfmon2_perfmonctl", PFM3), ("perfmon2_samples", PFM3_MANUAL)])
def test_the_static_library_maps_by_itself(name: str, form: Library, tmp_path: Path) -> None:
    """Its own mmap() is wrapped, too."""
    succeeds(build_program(form, source(name), tmp_path / name, libs=form.static_libs))


def test_a_program_may_wrap_mmap_itself(tmp_path: Path) -> None:
    own = PROGRAM + """
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *a, size_t n, int p, int f, int fd, off_t o) { return fd >= 0 ? MAP_FAILED : __real_mmap(a, n, p, f, fd, o); }
"""
    build(CC, "-std=gnu11", *PFM3.cflags, "-x", "c", "-", "-o", tmp_path / "program", "-x", "none", *PFM3.static_libs, source=own)
    assert run(tmp_path / "program", env=clean_env(**MODEL)).stdout == "0 0 0 0 0\n"


OWN = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
int calls;
void *mmap(void *a, size_t n, int p, int f, int fd, off_t o)
{
	calls++;
	return (void *)syscall(SYS_mmap, a, n, p, f, fd, o);
}
"""
CALLER = """
#include <stdio.h>
#include <sys/mman.h>
#include <perfmon/perfmon.h>
extern int calls;
int main(void)
{
	const int before = calls;
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pfm_create_context(NULL, NULL, NULL, 0);
	printf("%d %d\\n", map != MAP_FAILED, calls - before);
	return 0;
}
"""


@pytest.mark.parametrize("libs", [PFM3.libs, PFM3.static_libs, ["-static", *PFM3.static_libs]], ids=["shared", "static", "all static"])
def test_a_programs_own_mmap_is_called(libs: list[str], tmp_path: Path) -> None:
    """An allocator or a tracer in another file; pfm_mmap() is between, and calls it."""
    needs_flags(CC, *(["-static"] if "-static" in libs else []))
    (tmp_path / "own.c").write_text(OWN)
    build(CC, "-std=gnu11", *PFM3.cflags, "-x", "c", "-", tmp_path / "own.c", "-o", tmp_path / "program", "-x", "none", *libs,
          source=CALLER)
    assert run(tmp_path / "program").stdout == "1 1\n"
