"""IRIX perfex(1) on Linux: event counts of a command, with estimates of what they cost."""
