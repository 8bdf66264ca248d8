"""Each event of the R10000 and R12000 in MIPS code: a kernel whose count follows from what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mips_programs import BIG, assembled, compiled, run
from perfex_runs import counted, counts
from pypfm.perfex.backends.simulation import formulas
from pypfm.perfex.model import Cpu

pytestmark = [pytest.mark.slow, pytest.mark.needs("qemu-mips64", BIG)]

#: An R10000 with a secondary cache of 1 MiB: 4096 sets of two lines, whose addresses differ by 512 KiB.
MACHINE = "32768:2:64:32768:2:32:1048576:2:128:16384:2:64:512:0"
FEW, MORE = 20, 60  # pages of these rounds fit into the TLB
CHAIN = ("j 5f; nop; .balign 524288; 5: j 6f; nop; .space {0}; 6: j 7f; nop; .space {1}; .balign 64; 7: addiu $16, $16, -1;"
         " beqz $16, 8f; nop; j 5b; nop; 8: li $16, 1; 1:")
#: Fetches of three lines that the primary cache has no room for; two of them, or all three, in one set of the secondary one.
WAYS, SETS = CHAIN.format(524288 - 8, 16384 - 8), CHAIN.format(524288 - 8, 524288 - 8)
DATA_WAYS = "lw $8, 0($4); lw $8, 0($5); lw $8, 0($6)"
STORE_EACH = "sw $8, 0($4); daddiu $4, $4, 128"
#: Event, and what a round does ($16 counts rounds; $4, $5, $6: buffers 512 KiB apart) how often.
KERNELS: list[tuple[int, str, int | float]] = [
    (1, "nop; addu $8, $8, $8; lw $9, 0($4)", 2 + 2),
    (2, "lw $9, 0($4); pref 0, 0($4); ld $9, 8($4)", 3),
    (3, "sw $9, 0($4); sdc1 $f0, 8($4)", 2),
    (4, "ll $8, 0($4); sc $8, 0($4)", 1),
    (5, "ll $8, 0($4); sc $8, 64($4)", 1),
    (6, "beq $0, $0, 2f; nop; 2: bne $0, $0, 2f; nop; 2:", 2 + 1),
    (7, STORE_EACH, 8),
    (9, WAYS, 3),
    (10, SETS, 3),
    (11, WAYS, 2),
    (14, "lw $8, 0($4); lw $8, 0($5)", 0),
    (15, "nop; mult $8, $9; lw $8, 0($4)", 4 + 3),
    (17, "nop; mult $8, $9; lw $8, 0($4)", 4 + 3),
    (18, "lw $8, 0($4); prefx 0, $0($4); ldc1 $f2, 8($4)", 3),
    (19, "sb $8, 0($4); sc $8, 0($4)", 2),
    (20, "lld $8, 0($4); scd $8, 0($4); scd $8, 0($4)", 2),
    (21, "madd.d $f2, $f4, $f6, $f8; add.d $f2, $f2, $f4; mov.d $f4, $f6", 3),
    (22, STORE_EACH, 2),
    (23, "lw $8, 0($4); daddu $4, $4, $17", 1),
    (24, "andi $8, $16, 1; beqz $8, 2f; nop; nop; 2:", 0.5),
    (25, DATA_WAYS.replace("$6", "$7"), 3),
    (26, DATA_WAYS, 3),
    (27, DATA_WAYS.replace("$6", "$7"), 2),
    (30, "lw $8, 0($4); sw $8, 0($4); daddiu $4, $4, 128", 1),
]
NEWER: list[tuple[int, str, int | float]] = [
    (1, "nop; addu $8, $8, $8", 2 + 3),
    (2, "lw $9, 0($4); pref 0, 0($4)", 1),
    (6, "beq $0, $0, 2f; nop; 2:", 1 + 1),
    (14, "nop", 0),
    (16, "pref 0, 0($4); pref 1, 32($4); prefx 0, $0($4)", 3),
    (18, "lw $8, 0($4); pref 0, 0($4)", 1),
]
BEGIN = "dla $4, buffer; dla $5, buffer + 524288; dla $6, buffer + 1048576; dla $7, buffer + 16384; li $17, 32768; "
END = "li $2, 5058; li $4, 0; syscall\n.bss; .balign 1048576; buffer: .space 8388608\n"


def events(place: Path, body: str, rounds: int, cpu: Cpu) -> dict[int, int | None]:
    (place / str(rounds)).mkdir()
    loop = f"li $16, {rounds}; 1: {body}; addiu $16, $16, -1; bnez $16, 1b; nop"
    path = assembled(place / str(rounds), BEGIN + loop, end=END)
    process, = run(place / str(rounds), path, f"machine={MACHINE}").processes
    known = formulas.added([process.counts, formulas.estimated(cpu, process.counts, 196.0)])
    return {m.event.index: m.count for m in formulas.measure(cpu, range(32), known, table="qemu")}


def more(place: Path, body: str, event: int, cpu: Cpu, few: int, many: int) -> int:
    """What more rounds count."""
    less, most = (events(place, body, rounds, cpu)[event] for rounds in (few, many))
    assert less is not None
    assert most is not None
    return most - less


@pytest.mark.parametrize(("cpu", "event", "body", "each"), [("r10000", *k) for k in KERNELS] + [("r12000", *k) for k in NEWER])
def test_each_event(tmp_path: Path, cpu: Cpu, event: int, body: str, each: float) -> None:
    few, many = (16384, 24576) if body == STORE_EACH else (FEW, MORE)  # more than the caches have room for
    assert more(tmp_path, body, event, cpu, few, many) == each * (many - few)


@pytest.mark.parametrize(("cpu", "event"), [("r10000", 0), ("r10000", 16), ("r12000", 0), ("r12000", 4)])
def test_what_is_modelled_grows_with_misses(tmp_path: Path, cpu: Cpu, event: int) -> None:
    (hits := tmp_path / "hits").mkdir()
    found = more(tmp_path, DATA_WAYS, event, cpu, FEW, MORE)
    assert found > more(hits, "lw $8, 0($4); lw $8, 0($4); lw $8, 0($4)", event, cpu, FEW, MORE)


def test_the_rest_is_not_available(tmp_path: Path) -> None:
    for cpu, wanted in (("r10000", {8, 12, 13, 28, 29, 31}), ("r12000", {8, 12, 13, 17, 28, 29, 31})):
        (place := tmp_path / cpu).mkdir()
        found = events(place, "nop", FEW, "r10000" if cpu == "r10000" else "r12000")
        assert {event for event, n in found.items() if n is None} == wanted


LINES = """
#include <pthread.h>
#include <stddef.h>
enum { N = 2000 };
static volatile struct { _Alignas(128) long n; } line[N];
static void *writes(void *of) { for (int i = 0; i < N; i++) line[i].n = 1; return of; }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, writes, NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < N; i++) line[i].n;
    writes(NULL);
}
"""


def test_events_between_processors(tmp_path: Path) -> None:
    found = counts(counted("-a", "--threads", "fine", compiled(tmp_path, LINES, "-static")))
    for event in (12, 13, 28, 29, 31):  # each line is asked for once to be read, and once to be given up
        assert 2000 <= (found[event] or 0) < 2040, event
