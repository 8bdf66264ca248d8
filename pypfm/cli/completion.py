"""pypfm completion: what a shell reads so that it completes the command lines of pypfm, perfex and pmc."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


__all__ = ["DESCRIPTION", "EPILOG", "HELP", "add_options", "run"]

_COMMANDS = ("pypfm", "perfex", "pmc")
_SHELLS = ("bash", "zsh", "fish")
# Where a program or a file may stand argcomplete offers nothing, except in bash: zsh and fish need to be told more.
_ZSH_SHOWS = '        _describe "${words[1]}" completions'
_ZSH_FILES = "        (( $#completions )) || { _pypfm_files; return }\n"
_ZSH = """\
_pypfm_files() {
    [[ $PREFIX == -* ]] && return 1
    [[ ${words[1]:t} == pypfm ]] && { _files; return }
    _alternative 'files:file:_files' 'commands:command:_command_names -e'
}
"""
_FISH = """\
function __fish_pypfm_files
    set -l found ($argv[1])
    set -l word (commandline -ct)
    if set -q found[1]
        string join \\n -- $found
    else if not string match -q -- '-*' $word
        __fish_complete_path $word
        test $argv[1] = __fish_pypfm_complete; or complete -C "$word"
    end
end
for name in pypfm perfex pmc
    complete --command $name --erase
    complete --command $name -f -a "(__fish_pypfm_files __fish_$name""_complete)"
end
"""
HELP = "let a shell complete command lines"
DESCRIPTION = (
    "Print what a shell has to read so that it completes the command lines of pypfm, perfex and pmc:"
    " options, PMUs and events.")
EPILOG = """\
The installation has a file for each shell, which calls this: with the packages bash-completion, zsh or fish it is found
if the installation's directory share is among those that they search.  Elsewhere:

  eval "$(pypfm completion bash)"
  pypfm completion fish | source
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))


def run(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode
    code = shellcode(_COMMANDS, shell=args.shell)
    if args.shell == "zsh":
        code = _ZSH + code.replace(_ZSH_SHOWS, _ZSH_FILES + _ZSH_SHOWS)
    print(code + (_FISH if args.shell == "fish" else ""), end="" if args.shell == "fish" else "\n")
    return 0
