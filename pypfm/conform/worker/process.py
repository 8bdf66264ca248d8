"""The runner's end of a worker process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, cast

from pypfm.conform.worker.children import end_tree, how
from pypfm.errors import ConformError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.conform.model import Json

__all__ = ["GRACE", "PROGRAM", "Worker", "WorkerLostError"]

_PIECE = 1 << 20  # bytes

# Not "-m": that would look for modules in the current directory first.
PROGRAM = ("import sys; sys.path[:] = sys.argv[2:];"
           " from pypfm.conform.worker.program import main; main(int(sys.argv[1]))")
GRACE = 10.0  # seconds that a worker may take longer than the calls that it has made


class WorkerLostError(Exception):
    """A worker that ended, was stopped or broke the protocol; the argument is the message for the current call."""


class Worker:
    """A process that does jobs for as long as the ``with`` block lasts; see `pypfm.conform.worker`."""

    def __enter__(self) -> Worker:
        self._killed = False
        self._start()
        return self

    def _start(self) -> None:
        # A socket: a pipe could be opened by others, as a file of /proc.
        self._channel, theirs = socket.socketpair()
        env = {name: value for name, value in os.environ.items() if not name.startswith("LIBPFM_")}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(theirs.fileno()), *sys.path], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[theirs.fileno()], env=env,
                start_new_session=True)  # an interrupt from the terminal is for this process alone

    def kill(self) -> None:
        """End the process and all below it, for good."""
        self._killed = True
        end_tree(self._process.pid)

    def _end(self) -> str:
        """End the process and all below it; return how it ended.

        :return: the last line that it wrote to its standard error
        """
        if self._channel.fileno() < 0:
            return ""
        end_tree(self._process.pid)
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)  # what is left of it may hold that, too
        text = self._process.stderr.read() or b""
        self._process.stderr.close()
        self._process.wait()
        self._channel.close()
        return "".join(text.decode(errors="replace").strip().splitlines()[-1:])

    def __exit__(self, *_: object) -> None:
        self._end()

    def do(self, job: dict[str, Json]) -> Iterator[dict[str, Json]]:
        """Yield the messages about a job, as they come.

        :raises WorkerLostError: the process is no more; another one has been started
        """
        try:
            # A call may take its time, and its end as long again.
            self._channel.settimeout(2 * cast(float, job["timeout"]) + GRACE)
            self._channel.sendall(json.dumps(job).encode() + b"\n")
            rest = b""
            while piece := self._channel.recv(_PIECE):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    if "done" in message:
                        return
                    yield cast("dict[str, Json]", message)
        except TimeoutError:
            self._lose({"ended": "stopped the process that watches it", "hang": True})
        except ConnectionError:
            pass
        except ValueError:
            self._lose({"ended": f"had its watching process say what is no JSON: {line[:80]!r}", "hang": False})
        self._lose()

    def _lose(self, message: dict[str, Json] | None = None) -> NoReturn:
        """Give up this process, start another one and raise WorkerLostError."""
        if message is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        last = self._end()
        if message is None:
            status = how(self._process.returncode << 8 if self._process.returncode >= 0 else -self._process.returncode)
            words = f"the process that watches it: {status['ended']}"
            message = {"ended": f"{words}: {last}" if last else words, "hang": False}
        if not self._killed:
            self._start()
        if self._killed:  # perhaps meanwhile
            raise ConformError("the run was ended")
        raise WorkerLostError(message)
