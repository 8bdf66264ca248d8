"""The events of perfex, simulated by valgrind."""
