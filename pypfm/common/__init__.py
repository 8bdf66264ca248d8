"""Code that the packages of the Pythonic layer share."""
