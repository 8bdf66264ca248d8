"""The parts that both simulations share: the run of a command, the machine, the counts and the events made of them."""
