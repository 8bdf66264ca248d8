"""perfex under qemu-user, which runs MIPS programs: a plugin of it simulates an R10000's caches, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.errors import shown
from pypfm.perfex.backends.qemu import plugin, program, symbols
from pypfm.perfex.backends.simulation import counts
from pypfm.perfex.backends.simulation.command import Prepared, check_executable, check_rights
from pypfm.perfex.backends.simulation.run import Run, check_place, check_request, counted, numbered
from pypfm.perfex.model import Outcome, PerfexError, Request
from pypfm.perfex.profile import Profile

if TYPE_CHECKING:
    from pathlib import Path

    from pypfm.perfex.backends.simulation.counts import Process
    from pypfm.perfex.signals import Signals

__all__ = ["QemuBackend"]


class QemuBackend:
    """Counts of MIPS code; or of this host's, of whose instructions the plugin knows accesses only."""

    name = "qemu"

    def check(self, request: Request) -> None:
        """Check that the command can be run and counted; it is not started.

        :raises PerfexError: says what is missing, or which parts of the request exclude each other
        """
        check_place(request)
        check_rights(check_executable(request.command), request.command[0], self.name)
        _abi(request)
        check_request(request, self.name)
        plugin.path()

    def run(self, request: Request) -> Outcome:
        """Run the command, once.

        :raises PerfexError: it could not be started
        """
        self.check(request)
        return counted(_QemuRun, request)


def _abi(request: Request) -> program.Abi:
    """Find out which qemu runs the command.

    :raises PerfexError: none does, or it is not installed
    """
    found = program.abi(request.command) or program.host(request.command)
    if found is None:
        raise PerfexError(f"{shown(request.command[0])}: neither a MIPS program nor one of this host (x86-64, AArch64),"
                          " which qemu is for")
    program.version(program.find(found))
    return found


class _QemuRun(Run):
    """One run of a program.

    :ivar abi: its kind
    """

    simulator = "qemu"

    def __init__(self, request: Request, signals: Signals) -> None:
        super().__init__(request, signals)
        self.abi = _abi(request)
        self.table = "qemu" if self.abi.mips else "qemu_host"

    def counted_by(self) -> str:
        kind = "R10000 code" if self.abi.mips else "this host's code"
        return f"{kind} under qemu {program.version(program.find(self.abi))}"

    def prepared(self, directory: Path) -> Prepared:
        request = self.request
        path, *arguments = program.words(request.command)
        script = len(arguments) >= len(request.command)
        name = path if script else request.command[0]
        option = [f"file={_doubled(plugin.path())}", f"counts={_doubled(directory)}",
                  f"machine={self.machine.option().replace(',', ':')}",
                  f"lines={_switch(request.annotate)}", f"threads={_switch(request.per_thread)}",
                  f"fine={_switch(request.fine)}", f"off={_switch(request.gated)}",
                  f"program={_doubled(path)}"]
        root = ["-L", self.abi.sysroot] if self.abi.sysroot else []
        return Prepared([program.find(self.abi), *root, "-0", name, "-plugin", ",".join(option), path, *arguments],
                        request, self.signals)

    def outcome(self) -> Outcome:
        if self.request.annotate and not self.abi.mips:
            self.notes.append("functions have the counts of their own code alone, also with calls: qemu does not tell"
                              " which instruction of this host is a call")
        return super().outcome()

    def profiled(self, path: Path, into: Profile) -> None:
        found = Profile()
        counts.profile(path, found)
        symbols.name(found, counts.calls(path), counts.objects(path), into)

    def gone(self, processes: list[Process]) -> None:
        if pids := [p.pid for p in processes]:
            what = "not MIPS code" if self.abi.mips else "not for qemu"
            self.notes.append(f"executed a program that is {what}, which is not counted: {numbered(pids)}")


def _doubled(path: str | Path) -> str:
    """Write a path as part of an option: qemu reads two commas as one, and after one the next part begins."""
    return str(path).replace(",", ",,")


def _switch(on: object) -> str:
    return "yes" if on else "no"
