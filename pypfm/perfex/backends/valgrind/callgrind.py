"""The callgrind tool of valgrind: its options for an R10000, and the counts that it writes.

A process that is made by fork() has a copy of all that its parent has counted.  So callgrind writes
its counts, and begins at zero, before the functions of the C library that make a process (`_PROCESS`),
and where the program wants it to (libperfex; csrc/perfex/simulated.c).
What a process has written stands in one file, part after part; the parts add up.  execve() begins the
file anew: of a process, only the program that it executed last counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypfm._c.convert import string
from pypfm._c.libperfex import lib
from pypfm.perfex.backends.valgrind import executed, profile, records
from pypfm.perfex.backends.valgrind.program import NAMESAKES, SILENT, Refusal, escaped, refusals
from pypfm.perfex.backends.valgrind.watch import UNSEEN
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from pypfm.perfex.backends.valgrind.formulas import Simulated
    from pypfm.perfex.backends.valgrind.instructions import Objects
    from pypfm.perfex.backends.valgrind.profile import Part
    from pypfm.perfex.profile import Profile

__all__ = ["COUNTERS", "Code", "Process", "Thread", "doubts", "keep", "lost", "masked", "options", "prefix", "read",
           "replaced", "written"]

# What callgrind counts, by our names.
COUNTERS = tuple(string(lib.perfex_simulated_names[i]) for i in range(lib.PERFEX_NUM_SIMULATED))
# glibc since 2.34 and before; musl; posix_spawn() and system() use clone().
_PROCESS = ("_Fork", "fork", "__libc_fork", "vfork", "clone")
# A process says so that has executed a program, and who has made it.
_EXECUTED, _PARENT = "For interactive control", re.compile(r"== Parent PID: (\d+)$", re.MULTILINE)
_COMMAND = re.compile(r"== Command: (.*)")
# Each thread of glibc calls it first.
_THREAD = "__ctype_init"


@dataclass
class Thread:
    """A thread and its counts.

    :ivar number: valgrind's, used again when the thread has ended; 0: not known
    :ivar tid: the kernel's; where it is not known, valgrind's number
    """

    number: int
    tid: int
    counts: Simulated = field(default_factory=dict)

    def add(self, counts: Simulated) -> None:
        """Add counts."""
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


@dataclass
class Code:
    """What is done with the counts of each instruction.

    :ivar objects: to find out what they do; None: that is not needed
    :ivar whole: has the instructions of all processes; None: that is not needed
    :ivar uneven: how many parts have instructions that do not add up to the totals
    :ivar unread: how many executions of instructions there were of which nothing is known
    :ivar masked: how many executions of masked moves there were
    """

    objects: Objects | None = None
    whole: Profile | None = None
    uneven: int = 0
    unread: int = 0
    masked: int = 0

    def take(self, part: Part, files: Iterable[records.Mapped]) -> None:
        """Take the instructions of a part, which are not kept there.

        :param files: that lie in its process
        """
        self.uneven += not part.adds_up
        if self.objects is not None:
            unread, masked = executed.extend(part, self.objects, records.Layout(files, self.objects))
            self.unread, self.masked = self.unread + unread, self.masked + masked
        if self.whole is not None:
            self.whole.add(part.names, part.code, part.calls)
        part.code, part.calls = {}, {}


@dataclass
class Process:
    """A process and its threads.

    :ivar parent: the process that has made it; 0: it is in another process namespace; -1: not known
    :ivar executed: it has executed a program; else it is a copy of its parent
    :ivar forks: how often it has begun to make a process
    :ivar complete: it has written all its counts
    :ivar silent: valgrind could not write its log
    :ivar refused: what valgrind could not simulate
    :ivar program: what it executed last; of a copy, what its parent had executed; "": not known
    """

    pid: int
    parent: int
    executed: bool
    forks: int
    complete: bool
    silent: bool
    threads: list[Thread]
    refused: list[Refusal]
    program: str = ""


def prefix(directory: Path) -> Path:
    """The name of a file of counts, less the number of its process."""
    return directory / "counts."


def written(directory: Path, pid: int, number: int) -> Simulated:
    """What a process has written, up to a part."""
    whole = Thread(1, pid)
    for part in _parts(directory / f"counts.{pid}", None) if number else ():
        if part.number <= number:
            whole.add(part.totals)
    return whole.counts


def options(directory: Path, l2: int, *, per_thread: bool, gated: bool, code: bool, lines: bool) -> list[str]:
    """How valgrind is called.

    :param directory: for its files
    :param l2: size of the secondary cache in bytes
    :param per_thread: separate counts of each thread
    :param gated: begin without counting, and take commands; only the first process counts
    :param code: the counts of each instruction
    :param lines: with the line of source that it comes from
    """
    words = ["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", "--I1=32768,2,64", "--D1=32768,2,32",
             f"--LL={l2},2,128", f"--dump-instr={_word(code)}", f"--dump-line={_word(lines)}", "--combine-dumps=yes",
             f"--log-file={escaped(directory)}/log.%p", f"--callgrind-out-file={escaped(prefix(directory))}%p"]
    words += ["-v", "-v"] if code else []  # which file lies where
    if gated:
        return [*words, "--instr-atstart=no", "--trace-children=no", "--child-silent-after-fork=yes",
                f"--vgdb-prefix={escaped(directory)}/vgdb"]
    words += ["--vgdb=no", "--trace-children=yes", *(f"--dump-before={name}" for name in _PROCESS)]
    if per_thread:
        words += ["--separate-threads=yes", "--trace-syscalls=yes", f"--dump-before={_THREAD}"]
    return words


def _word(on: bool) -> str:
    return "yes" if on else "no"


def _parts(path: Path, code: Code | None, files: Sequence[records.Mapped] = ()) -> list[Part]:
    """What a process has written: one part for each time and thread."""
    found = []
    for part in profile.parts(path, code=code is not None):
        found.append(part)
        if code is not None:
            code.take(part, files)
    return found


_SYSCALL = re.compile(r"SYSCALL\[\d+,(?P<number>\d+)\]\(\s*\d+\) (?:(?P<exit>exit\()"
                      r"|sys_set_robust_list \( 0x(?P<robust>[0-9a-f]+)"
                      r"|sys_clone3? \( \w+, \w+(?:, 0x(?P<place>[0-9a-f]+))?[^)]*\) --> "
                      r"\[[^\]]*\] Success\(0x(?P<tid>[0-9a-f]+)\))?")


def _threads(log: str, pid: int, pids: Collection[int]) -> list[Thread]:
    """The threads of a process in the order of their creation, by the system calls in the log.

    :param pids: what clone() has made and is among them is no thread
    """
    threads: list[Thread] = []
    waiting: list[tuple[int, Thread]] = []  # those whose number is not known yet, and where the C library keeps them
    alive: set[int] = set()
    for call in _SYSCALL.finditer(log):
        number = int(call["number"])
        if number not in alive:  # its first system call, in glibc set_robust_list()
            alive.add(number)
            if not threads:
                threads.append(Thread(number, pid))
            elif waiting:
                place = int(call["robust"] or "0", 16)
                new = min(waiting, key=lambda w: abs(w[0] - place)) if place else waiting[0]
                waiting.remove(new)
                new[1].number = number
        if call["exit"]:
            alive.discard(number)
        elif call["tid"] and (tid := int(call["tid"], 16)) not in pids:
            threads.append(Thread(0, tid))
            waiting.append((int(call["place"] or "0", 16), threads[-1]))
    return threads


def _distribute(parts: list[Part], threads: list[Thread], *, executed: bool) -> None:
    """Give each part to its thread.

    A number is used by one thread after the other.  Each begins with a part that ends at `_THREAD`
    and has what the number's last thread has counted (and a few instructions of the new one).

    :param executed: the process has executed a program; a copy has only the thread that made it, and
        what the others had counted is its parent's
    """
    begun: dict[int, int] = defaultdict(int)
    for part in parts:
        users = [t for t in threads if t.number == part.thread]
        if not users and executed:  # its creation is not in the log
            users = [Thread(part.thread, part.thread)]
            threads += users
        if users:
            users[min(max(begun[part.thread] - 1, 0), len(users) - 1)].add(part.totals)
            begun[part.thread] += part.trigger == _THREAD and users[0] is not threads[0]


def _whole(parts: list[Part]) -> bool:
    """Whether all parts of a file are there: a file system that is full cuts some off."""
    numbers = [part.number for part in parts]
    return sorted(set(numbers)) == list(range(1, max(numbers) + 1)) and parts[-1].trigger == "Program termination"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape")
    except OSError:  # there is none, or the command's umask has left us no right to read it
        return ""


def _process(directory: Path, pid: int, logs: Mapping[int, str], code: Code | None, *, per_thread: bool) -> Process:
    text = logs[pid]
    executed = _EXECUTED in text
    parts = _parts(directory / f"counts.{pid}", code, _files(pid, logs, set()) if code else ())
    threads = (_threads(text, pid, logs) if per_thread else []) or [Thread(1, pid)]
    if per_thread:
        _distribute(parts, threads, executed=executed)
    else:
        for part in parts:
            threads[0].add(part.totals)
    end = re.search(r"== Events +: (.*)\n==\d+== Collected : ", text)
    if end and not parts:  # -s, and counting was never on
        threads[0].add(dict.fromkeys(end[1].split(), 0))
    return Process(pid, _parent(text), executed, sum(p.trigger in _PROCESS for p in parts),
                   end is not None and (not parts or _whole(parts)), not text, threads, refusals(text.splitlines()),
                   _program(text))


def _parent(log: str) -> int:
    found = _PARENT.search(log)
    return int(found[1]) if found else -1


def _command(log: str) -> str:
    """The command line, which a copy has of the process that has made it."""
    found = _COMMAND.search(log)
    return found[1] if found else ""


def _files(pid: int, logs: Mapping[int, str], seen: set[int]) -> list[records.Mapped]:
    """The files that lie in a process: its own, and those that it has of the one that has made it.

    :param seen: processes that have been asked
    """
    own, parent = records.mapped(logs[pid]), _parent(logs[pid])
    if _EXECUTED in logs[pid] or parent == -1:
        return own
    if parent not in logs:  # it had ended before the copy looked who it is: any process with that program has its files
        parent = next((p for p, log in logs.items() if _EXECUTED in log and _command(log) == _command(logs[pid])), pid)
    return own if parent in {pid, *seen} else [*_files(parent, logs, seen | {pid}), *own]


def _adopted(processes: list[Process], logs: Mapping[int, str]) -> None:
    """Find who has made the copies whose parent had ended before they looked who it is: it has their command line."""
    spare = {p.pid: p.forks for p in processes}
    alike = defaultdict[str, list[int]](list)
    for p in processes:
        alike[_command(logs[p.pid])].append(p.pid)
        if p.parent in spare and not p.executed:
            spare[p.parent] -= 1
    for p in processes:
        if not p.executed and p.parent > 0 and p.parent not in spare:
            others = (pid for pid in alike[_command(logs[p.pid])] if pid != p.pid)
            p.parent = max(others, key=spare.__getitem__, default=p.parent)
            if p.parent in spare:
                spare[p.parent] -= 1


def _program(log: str) -> str:
    """The name of the program, from the command in a log, where a backslash stands before each blank of a word."""
    word = re.match(r"(?:\\.|[^\\ ])+", _command(log))
    return re.sub(r"\\(.)", r"\1", word[0]).rpartition("/")[2] if word else ""


def read(directory: Path, *, per_thread: bool, code: Code | None = None) -> list[Process]:
    """What all processes counted, by pid.

    :param code: takes the instructions, if they were counted
    """
    pids = sorted({int(path.suffix[1:]) for name in ("log.*", "counts.*") for path in directory.glob(name)})
    logs = {pid: _text(directory / f"log.{pid}") for pid in pids}
    processes = [_process(directory, pid, logs, code, per_thread=per_thread) for pid in pids]
    _adopted(processes, logs)
    return processes


# Stands before a part: a line end after the head of the file, an empty line after the part before.
_PART = re.compile(rb"\n+(?=part: \d+\n)")


def keep(directory: Path, target: Path) -> None:
    """Leave callgrind's files in a directory of the user, which is made if need be, under the names that it gives them.

    Each part is a file of its own: callgrind_annotate reads one part of a file only.

    :raises PerfexError: they cannot be written
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path in directory.glob("counts.*"):
            head, *parts = _PART.split(path.read_bytes())
            for number, part in enumerate(parts, 1):
                end = f".{number}" if len(parts) > 1 else ""
                (target / f"callgrind.out{path.suffix}{end}").write_bytes(head + b"\n" + part)
    except OSError as error:
        raise PerfexError(f"--keep: {target}: {error.strerror}") from None


def lost(processes: list[Process]) -> list[str]:
    """What is not in the counts."""
    silent = [p.pid for p in processes if p.silent]
    pids = [p.pid for p in processes if not p.complete and not p.silent]
    return [*([f"{len(silent)} processes {SILENT}"] if silent else []),
            *([f"ended without leaving all counts (SIGKILL, still running, or a program that valgrind could not start):"
               f" {_list(pids)}"] if pids else [])]


def doubts(processes: list[Process]) -> list[str]:
    """What may be missing, and what is in the counts twice."""
    notes = [NAMESAKES] if any(p.parent == 0 for p in processes) else []
    pids = {p.pid: p for p in processes}
    copies = [p.pid for p in processes if not p.executed and p.parent in pids
              and pids[p.parent].forks < sum(q.parent == p.parent for q in processes)]
    if copies:
        notes.append(f"made without the C library's fork(), so that what the parent had counted until then is"
                     f" counted twice: {_list(copies)}")
    return notes


def masked(number: int) -> str:
    """What is counted as something else: valgrind makes the accesses of a masked move conditional.

    :param number: of their executions
    """
    return (f"masked moves of AVX (vmaskmov) were executed, {number} times at most: callgrind counts each element that"
            " they load or store, of which there are up to 8, as one more execution of the next instruction, and as no"
            " load or store (-a --trace counts the loads and stores)")


def replaced(pids: list[int], *, unseen: bool) -> list[str]:
    """What is not in the counts, as a process executed another program in its place.

    :param pids: of such processes
    :param unseen: there may be more
    """
    which = ("executed one program after another without fork(), of which the last is counted (with -a --trace all"
             f" are): {_list(pids)}")
    return [*([which] if pids else []), *([UNSEEN] if unseen else [])]


def _list(pids: list[int]) -> str:
    return f"process{'es' if len(pids) > 1 else ''} {', '.join(map(str, pids))}"
