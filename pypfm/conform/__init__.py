"""The conformance kit: put any libpfm under the tests that pypfm itself passes."""
