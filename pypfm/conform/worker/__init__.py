"""The process in whose children a library under test is called, and the runner's end of it.

The runner starts `pypfm.conform.worker.program` with the number of a socket as its argument, and writes jobs into
it, one JSON object in each line.  A job is a library, its API and vectors of one group
(`pypfm.conform.vectors.group_of`).  This process never touches a library: it forks a child that loads the
library, initialises it and makes the calls of the vectors in a row.  If the child dies or takes too long, another
one goes on after that call: a crash costs a fork, not a new interpreter.

Nothing that comes from a child is trusted because of its form, for the library can write whatever it likes
wherever it likes.  A child is told a random word before it loads the library.  Each answer has to come in time,
as one line that begins with that word and the number of the answer, and from the process that was forked.
Which call an answer is about this process knows itself.

The answers to a job are

* ``{"loaded": FILE, "apis": [...]}``, the file mapped and the interfaces that it exports; or
  ``{"refused": TEXT}`` from the loader, and no more;
* for each call of the job's ``start`` ``{"start": INDEX, ...}``, and no more if one does not return what is expected;
* for each vector ``{"at": INDEX, ...}``; a vector without a line was not run, for its function had crashed
  or hung too often;
* for each child that came to its end ``{"end": true, ...}``;
* ``{"done": true}``.

After ``"end"`` comes ``"changed"``, what the calls have changed in the state of the process, with ``"lasting"``, the
strings that had to stay and did not, or ``"ended"``, how it ended if not as a program does, after what a library runs
at the end.

The other dots stand for one of ``"answer"``; ``"missing"``, the function that was not found; ``"failed"``, why a probe
has no answer; ``"invalid"``, the exception that making the call ended in; ``"ended"``, how the child ended, with
``"hang"``, whether it had to be killed.  A child that ends while it loads the library has that last one alone.
What each child does first is reported again after a crash.
"""
