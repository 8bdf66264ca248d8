"""pytest --perfex: benchmarks of Python that are counted, not timed.

The way of a session: `pypfm.pytest_perfex` is the plugin, whose options `plan` holds; `session` runs pytest again under
the valgrind tool, where `start` begins it and `inside` counts; `results` makes reports of what was counted, `stored`
keeps them, `table` and `gate` print them and what has changed.
"""
