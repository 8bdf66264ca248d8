"""CMakePresets.json: every way to build is whole, and named where a reader looks for it; the target uninstall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT, run
from native import CC, build, csrc, dynamic_entries
from pypfm.config import LIBRARIES
from tools import needs

PRESETS = json.loads((ROOT / "CMakePresets.json").read_text())
WAYS = [preset["name"] for preset in PRESETS["configurePresets"] if not preset.get("hidden")]
TESTED = [preset["configurePreset"] for preset in PRESETS["testPresets"] if not preset.get("hidden")]
UNINSTALL = ROOT / "csrc/package/uninstall.sh"


@pytest.mark.parametrize("name", WAYS)
def test_a_way_to_build_is_whole(name: str) -> None:
    """One name for all steps; a workflow unless nothing follows the build."""
    assert [p["configurePreset"] for p in PRESETS["buildPresets"] if p["name"] == name] == [name]
    steps = next((w["steps"] for w in PRESETS["workflowPresets"] if w["name"] == name), [])
    assert {step["name"] for step in steps} <= {name}
    last = "test" if name in TESTED else "package" if name == "package" else None
    assert [step["type"] for step in steps] == (["configure", "build", last] if last else [])


def test_contributing_names_each_way() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().replace("--preset gcc\n", "`gcc`")
    assert [name for name in WAYS if f"`{name}`" not in text] == []


def test_nothing_that_a_compiler_makes_is_committed() -> None:
    """It would be in the source archive, too."""
    listed = run(needs("git"), "ls-files", cwd=ROOT)
    if listed.returncode:
        pytest.skip(f"the sources are no git repository: {listed.stderr.strip()}")
    assert [name for name in listed.stdout.splitlines() if name.endswith((".o", ".a", ".so", ".pyc", "a.out"))] == []


# ---- uninstall ------------------------------------------------------------------------

def uninstall(listed: Path) -> str:
    done = run(needs("sh"), UNINSTALL, listed)
    return "" if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("name", ["prefix", "a[1] b;c", "a[b", "*", "-f"])
def test_uninstall_takes_what_was_installed_and_leaves_the_rest(name: str, tmp_path: Path) -> None:
    tmp_path = tmp_path / name
    ours = [tmp_path / name for name in ("include/pypfm/a b.h", "include/pypfm/sub/c.h", "lib/pypfm/pfm3/libpfm.so.3",
                                         "lib/pypfm/pfm3/libpfm.so", "man/man3/x.3",
                                         "doc/pypfm-manual/copyright")]
    theirs = [tmp_path / name for name in ("include/pypfm/theirs.h", "lib/libpfm.so")]
    for file in [*ours, *theirs]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    ours[3].unlink()
    ours[3].symlink_to("nowhere")
    listed = tmp_path / "installed.txt"
    listed.write_text("".join(f"{file}\n" for file in [*ours, ours[0]]))
    assert uninstall(listed) == ""
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")}
    assert left == {"include", "include/pypfm", "include/pypfm/theirs.h", "lib", "lib/libpfm.so", "man", "man/man3", "doc"}
    assert "nothing was installed" in uninstall(listed)


def test_uninstall_says_what_stays_and_can_go_on_later(tmp_path: Path) -> None:
    """A directory where the file was stands for what this user may not remove: root may remove everything."""
    first, stays, last = (tmp_path / "lib/pypfm" / name for name in ("a", "b", "c"))
    stays.mkdir(parents=True)
    first.touch()
    last.touch()
    listed = tmp_path / "installed.txt"
    listed.write_text(f"{first}\n{stays}\n{last}\n")
    assert f"{listed} still names all of it" in uninstall(listed)
    assert [path.exists() for path in (first, stays, last, listed)] == [False, True, False, True]
    stays.rmdir()
    assert uninstall(listed) == ""
    assert not (tmp_path / "lib/pypfm").exists()


# ---- linking --------------------------------------------------------------------------

@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_of_a_client_has_nothing_undefined(name: str, tmp_path: Path) -> None:
    """With -Wl,--no-undefined, which distributions have; with our shared library and with the static one."""
    library = LIBRARIES[name]
    [script] = csrc(library).glob("*.map")
    function = next(line.strip(" \t;") for line in script.read_text().splitlines() if line.startswith("\t") and line.endswith(";") and "*" not in line)
    (tmp_path / "client.c").write_text(f"extern int {function}();\nint client(void) {{ return {function}(); }}\n")
    for words, needed in ((library.libs, True), (library.static_libs, False)):
        build(CC, "-shared", "-fPIC", "-w", "-Wl,--no-undefined", "-o", tmp_path / "libclient.so", tmp_path / "client.c", *words)
        assert (library.soname in dynamic_entries(tmp_path / "libclient.so", "DT_NEEDED")) == needed
