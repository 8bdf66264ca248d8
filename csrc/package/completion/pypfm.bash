# bash completion of pypfm, perfex and pmc: the first of them that is completed loads that of all.
eval "$(pypfm completion bash)"
