"""Counts of MIPS programs by a plugin of qemu-user."""
