"""Stages of decoding: register values -> fields, meanings, events, ranges, a request again (see pypfm.decode)."""
