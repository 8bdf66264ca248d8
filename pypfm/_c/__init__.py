"""The parts that mirrors are made of: their extension modules, their runtime, the functions written by hand."""
