"""Debug information that goes in circles, or was changed in a few bits: an end in bounded time, and one clear error."""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from native import CC, PFM4, build, build_library
from pypfm.conform.checks import structures
from pypfm.layout import LayoutError, dwarf
from pypfm.layout.bounded import bounded
from terminal import pypfm
from tools import cpu_seconds

FILES = int(os.environ.get("PYPFM_FUZZ_DWARF", "150"))  # how many changed files are read
SECONDS = 5  # a file like these is read in a tenth of one

# A structure in hand-written DWARF 4; its member has the type at the label "other".
ASSEMBLY = """
    .section .debug_abbrev,"",@progbits
    .uleb128 1 ; .uleb128 0x11 ; .byte 1 ; .uleb128 0, 0
    .uleb128 2 ; .uleb128 0x13 ; .byte 1 ; .uleb128 3, 8, 0xb, 0xb, 0, 0
    .uleb128 3 ; .uleb128 0xd ; .byte 0 ; .uleb128 3, 8, 0x49, 0x13, 0x38, 0xb, 0, 0
    .uleb128 4 ; .uleb128 0x16 ; .byte 0 ; .uleb128 3, 8, 0x49, 0x13, 0, 0
    .uleb128 5 ; .uleb128 1 ; .byte 0 ; .uleb128 0x49, 0x13, 0, 0
    .uleb128 6 ; .uleb128 0x13 ; .byte 1 ; .uleb128 0xb, 0xb, 0, 0
    .uleb128 7 ; .uleb128 0x26 ; .byte 0 ; .uleb128 0x49, 0x13, 0, 0
    .uleb128 8 ; .uleb128 0x4 ; .byte 0 ; .uleb128 0x49, 0x13, 0, 0
    .byte 0
    .section .debug_info,"",@progbits
begin: .long end - start
start: .short 4 ; .long .debug_abbrev ; .byte 8
    .uleb128 1
    .uleb128 2 ; .asciz "outer" ; .byte 8
    .uleb128 3 ; .asciz "member" ; .long other - begin ; .byte 0
    .byte 0
other: %s
    .byte 0
end:
"""
CYCLES = {
    "typedef": '.uleb128 4 ; .asciz "loop" ; .long other - begin',
    "two typedefs": '.uleb128 4 ; .asciz "a" ; .long more - begin ; more: .uleb128 4 ; .asciz "b" ; .long other - begin',
    "const": ".uleb128 7 ; .long other - begin",
    "array": ".uleb128 5 ; .long other - begin",
    "array of typedef": '.uleb128 5 ; .long more - begin ; more: .uleb128 4 ; .asciz "b" ; .long other - begin',
    "structure": '.uleb128 6 ; .byte 8 ; .uleb128 3 ; .asciz "x" ; .long other - begin ; .byte 0'
                 ' ; .uleb128 3 ; .asciz "y" ; .long other - begin ; .byte 0 ; .byte 0',
    "enumeration": ".uleb128 8 ; .long other - begin",
}


@pytest.mark.parametrize("case", CYCLES)
def test_a_type_that_refers_to_itself(case: str, tmp_path: Path) -> None:
    path = tmp_path / "cycle.o"
    build(CC, "-c", "-x", "assembler", "-", "-o", path, source=ASSEMBLY % CYCLES[case])
    done = pypfm("layout", "--diff", f"{path}:outer", "pfmlib_event_t")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"{path} is damaged: " in done.stderr
    if case != "enumeration":
        assert "refers to itself" in done.stderr


@pytest.mark.slow
def test_a_type_without_end_is_left_by_the_kit(tmp_path: Path) -> None:
    """What cannot be read is said, and the structures are probed instead."""
    source = tmp_path / "cycle.s"
    cycle = ASSEMBLY.replace("outer", "pfm_pmu_info_t") % CYCLES["typedef"]
    source.write_text(cycle + '.section .note.GNU-stack,"",@progbits\n')
    library = build_library(PFM4, tmp_path, str(source))
    outcome = structures.check(library, "pfm4")
    assert outcome.findings == []
    assert "structures were probed: " in outcome.notes[0]
    assert sum(outcome.checks.values()) > 10


def test_the_limits_of_a_reader() -> None:
    with pytest.raises(LayoutError, match=r"^x cannot be read: it takes more than 1 s$"):
        bounded("x", 1, time.sleep, 60)
    with pytest.raises(LayoutError, match=r"^x cannot be read: the process that read it ended with status 1: MemoryError"):
        bounded("x", 60, bytes, 1 << 40)
    with pytest.raises(LayoutError, match=r"ended with status -6"):
        bounded("x", 60, os.abort)
    assert bounded("x", 60, pow, 2, 3) == 8


def changed_files(data: bytes, path: Path, count: int, seed: int) -> Iterator[Path]:
    """A file with a few bits changed in its debug information, again and again."""
    with path.open("wb") as file:
        file.write(data)
    with path.open("rb") as file:
        places = [(s["sh_offset"], s["sh_size"]) for s in ELFFile(file).iter_sections()
                  if s.name in (".debug_info", ".debug_abbrev")]
    rng = random.Random(seed)
    for _ in range(count):
        broken = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            start, size = rng.choice(places)
            broken[start + rng.randrange(size)] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        yield path


def test_changed_bits(tmp_path: Path) -> None:
    """PYPFM_FUZZ_DWARF says how many files; what takes long in this process is ended by the limits of another."""
    source = (Path(__file__).parent / "test_files.py").read_text().split('SMALL = """')[1].split('"""')[0]
    original = tmp_path / "original.o"
    build(CC, "-g", "-gdwarf-4", "-c", "-x", "c", "-", "-o", original, source=source)
    read = slow = 0
    said: list[str] = []
    for path in changed_files(original.read_bytes(), tmp_path / "changed.o", FILES, 1):
        try:
            with cpu_seconds(SECONDS), dwarf.opened(path) as info:
                for name in ("struct point", "shape_t", "mixed_t"):
                    read += info.layout(name) is not None
        except LayoutError as error:
            said.append(str(error))
        except TimeoutError:
            slow += 1
            with pytest.raises(LayoutError, match=r"it takes more than 2 s$"):
                dwarf.layouts(path, ["struct point", "shape_t", "mixed_t"], 2)
    assert read > FILES // 2
    assert all(str(tmp_path) in text and "\n" not in text for text in said)
    assert len(said) + slow > FILES // 20


def opened(pipe: Path, reader: subprocess.Popen[bytes]) -> int:
    """The end of a pipe to write to, when the other process has opened it; that has not ended before."""
    while reader.poll() is None:
        with suppress(OSError):  # ENXIO: nobody reads yet
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.01)
    raise AssertionError(reader.returncode)


def test_the_process_that_reads_ends_with_the_one_that_asked(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    code = "import sys; from pathlib import Path; from pypfm.layout.bounded import bounded; bounded('x', 600, Path.read_bytes, Path(sys.argv[1]))"
    with subprocess.Popen([sys.executable, "-c", code, pipe], cwd=tmp_path) as asked:
        end = opened(pipe, asked)
        asked.kill()
    (poll := select.poll()).register(end, select.POLLERR)
    assert poll.poll(60000)
    os.close(end)
