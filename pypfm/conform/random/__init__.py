"""Random calls of libpfm 3 and 4: the same ones for the same seed, on every machine."""
