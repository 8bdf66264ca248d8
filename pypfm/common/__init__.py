"""What the packages of the Pythonic layer share."""
