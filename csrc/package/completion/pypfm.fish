# fish completion of pypfm, perfex and pmc.
pypfm completion fish | source
