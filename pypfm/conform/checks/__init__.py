"""Checks of a library: what its file says and exports, where structures have their members, how answers differ."""
