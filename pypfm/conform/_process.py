"""The runner's end of a worker process, and the file that it loaded."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pypfm.conform.model import LibraryFile
from pypfm.errors import ConformError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.conform.model import Json

__all__ = ["Worker", "library_file"]

# Not "-m": that would look for modules in the current directory first.
_PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from pypfm.conform.worker import main; main(int(sys.argv[1]))"


class Worker:
    """A process that does jobs for as long as the ``with`` block lasts; see `pypfm.conform.worker`."""

    def __enter__(self) -> Worker:
        read_end, write_end = os.pipe()
        env = {name: value for name, value in os.environ.items() if not name.startswith("LIBPFM_")}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(write_end), *sys.path], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[write_end], env=env,
                start_new_session=True)  # an interrupt from the terminal is for this process alone
        finally:
            os.close(write_end)
        self._answers = os.fdopen(read_end, "rb")
        return self

    def kill(self) -> None:
        """End the process, and with it its children."""
        self._process.kill()

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.communicate()
        self._answers.close()

    def do(self, job: dict[str, Json]) -> Iterator[dict[str, Json]]:
        """The messages about a job, as they come.

        :raises ConformError: the process has ended
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._gone() from None
        for line in self._answers:
            try:
                message = json.loads(line)
            except ValueError:
                text = f"a worker process said what is no JSON: {line[:80]!r}"
                raise ConformError(text) from None
            if "done" in message:
                return
            yield cast("dict[str, Json]", message)
        raise self._gone()

    def _gone(self) -> ConformError:
        """The error for a process that ended by itself: the last line that it wrote says why."""
        _, text = self._process.communicate()
        last = text.decode(errors="replace").strip().splitlines()[-1:]
        return ConformError(f"a worker process ended with status {self._process.returncode}{': '.join(['', *last])}")


def library_file(asked: str, loaded: str) -> LibraryFile:
    """What identifies a library.

    :param asked: as the user named it
    :param loaded: the file that was mapped
    """
    path = Path(loaded)
    try:
        regular = path.is_file()  # to read a pipe would take for ever
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if regular else ""
        soname, build_id = _elf_names(path) if regular else ("", "")
    except OSError:  # it has gone since
        digest = soname = build_id = ""
    return LibraryFile(asked, os.path.realpath(loaded), soname, build_id, digest)


def _elf_names(path: Path) -> tuple[str, str]:
    """The DT_SONAME and the build id of a shared object, or ""."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile
    from elftools.elf.segments import NoteSegment

    soname = build_id = ""
    with path.open("rb") as file:
        try:
            for segment in ELFFile(file).iter_segments():
                if isinstance(segment, DynamicSegment):
                    soname = next((str(getattr(tag, "soname", "")) for tag in segment.iter_tags("DT_SONAME")), soname)
                elif isinstance(segment, NoteSegment):
                    notes = segment.iter_notes()
                    build_id = next((n["n_desc"] for n in notes if n["n_type"] == "NT_GNU_BUILD_ID"), build_id)
        except (ELFError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # the loader needs less
            pass
    return soname, build_id
