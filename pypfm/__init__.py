"""Performance-monitoring interfaces of the past, byte for byte."""
