"""Run a replay program's worker: the calls go in and the answers come out as JSON, and a crash of the library costs one call."""

import json
import os
import subprocess
import sys


def answers(program, arguments, calls, env=None):
    """Yield a pair for each call: the call, and the answer or {"ret": "crash"}.  The environment has no LIBPFM_* but those of env."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LIBPFM_")} | (env or {})
    while calls:
        p = subprocess.run([sys.executable, program, "--worker", *arguments], input=json.dumps(calls), text=True,
                           env=environment, stdout=subprocess.PIPE)
        got = [json.loads(x) for x in p.stdout.splitlines() if x.startswith("{")]
        yield from zip(calls, got)
        crashed, *calls = calls[len(got):] or [None]
        if crashed is None:
            return
        yield crashed, {"ret": "crash", "status": p.returncode}
        if p.returncode > 0:  # the worker has ended itself: the next one would do the same
            yield from ((call, {"ret": "not run"}) for call in calls)
            return
