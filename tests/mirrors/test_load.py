"""pfm4.load(): the mirror's names on any libpfm 4."""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from foreign_library import debian, library
from native import CC, PFM3, PFM4, build
from pypfm import pfm4
from pypfm._c import loading
from pypfm._c.elf import unsuitable
from pypfm.errors import InvalidTypeError, InvalidValueError, LibraryError, LibraryFunctionError


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No variable of libpfm, and our library not initialised."""
    for name in [n for n in os.environ if n.startswith("LIBPFM_")]:
        monkeypatch.delenv(name)
    pfm4.pfm_terminate()
    yield
    pfm4.pfm_terminate()


def test_all_names_are_there() -> None:
    theirs = pfm4.load(PFM4.path)
    assert set(theirs.__all__) == set(pfm4.__all__)
    for name in pfm4.__all__:
        ours, other = getattr(pfm4, name), getattr(theirs, name)
        if isinstance(ours, FunctionType) and name.startswith("pfm_"):
            assert other is not ours
            assert (other.__doc__, other.__name__) == (ours.__doc__, name)
        elif name not in ("lib", "load"):
            assert other is ours or other == ours or name.startswith(("PFM_M", "perf_event_open"))
    assert theirs.PFM_MAJ_VERSION(theirs.pfm_get_version()) == 4
    assert theirs.library == str(PFM4.path.resolve())


def test_loading_twice_is_the_same_object() -> None:
    theirs = pfm4.load(PFM4.path)
    assert pfm4.load(str(PFM4.path)) is theirs is pickle.loads(pickle.dumps(theirs))
    assert repr(theirs) == f"<pypfm.pfm4 of {PFM4.path.resolve()}>"


@pytest.mark.usefixtures("plain")
def test_two_copies_and_ours_have_states_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same name and soname; one is initialised with variables, the others are not."""
    copies = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        copies.append(pfm4.load(shutil.copy(debian(), tmp_path / name / "libpfm.so.4")))
    first, second = copies
    assert first is not second
    assert first.library != second.library
    text = "skl::INST_RETIRED:ANY_P"
    monkeypatch.setenv("LIBPFM_ENCODE_INACTIVE", "1")
    assert first.pfm_initialize() == 0
    monkeypatch.delenv("LIBPFM_ENCODE_INACTIVE")
    assert first.pfm_find_event(text) > 0
    assert second.pfm_find_event(text) == pfm4.pfm_find_event(text) == pfm4.PFM_ERR_NOINIT
    assert second.pfm_initialize() == 0
    assert pfm4.pfm_find_event(text) == pfm4.PFM_ERR_NOINIT
    arguments = [module.pfm_pmu_encode_arg_t() for module in copies]
    assert [module.pfm_get_os_event_encoding(text, 8, 0, arg) for module, arg in zip(copies, arguments, strict=True)] == [
        0, pfm4.PFM_ERR_NOTFOUND]
    assert arguments[0].codes[0] == 0x5100C0
    system = pfm4.load("libpfm.so.4")  # not what the process has loaded of that name before
    assert not Path(system.library).is_relative_to(tmp_path)
    for module in (*copies, system):
        module.pfm_terminate()


@pytest.mark.usefixtures("plain")
def test_what_c_allocates_is_python_s() -> None:
    theirs: Any = pfm4.load(debian())
    assert theirs.pfm_initialize() == 0
    text = "perf::CYCLES"
    arg, fstr = theirs.pfm_pmu_encode_arg_t(), theirs.c_char_p()
    arg.fstr = theirs.pointer(fstr)
    assert theirs.pfm_get_os_event_encoding(text, theirs.PFM_PLM3, theirs.PFM_OS_NONE, arg) == 0
    assert fstr.value == b"perf::PERF_COUNT_HW_CPU_CYCLES"
    codes, count, fstr = theirs.POINTER(theirs.c_uint64)(), theirs.c_int(), theirs.c_char_p()
    assert theirs.pfm_get_event_encoding(text, 8, fstr, None, theirs.byref(codes), count) == 0
    assert codes[:count.value] == [0]
    attr, fstr = theirs.perf_event_attr(size=128), theirs.c_char_p()
    assert theirs.pfm_get_perf_event_encoding(text, 8, attr, fstr, None) == 0
    assert (attr.type, attr.config, attr.exclude_kernel) == (0, 0, 1)
    theirs.pfm_terminate()


def test_arguments_are_checked_as_of_ours() -> None:
    theirs: Any = pfm4.load(PFM4.path)
    with pytest.raises(TypeError, match=r"pfm_get_pmu_info\(\): output wants pfm_pmu_info_t, not int"):
        theirs.pfm_get_pmu_info(1, 3)
    with pytest.raises(ValueError, match=r"pfm_find_event\(\): str is a C string, which cannot hold a NUL"):
        theirs.pfm_find_event("a\0b")
    with pytest.raises(AttributeError, match="no 'pfm4_parse'"):
        _ = theirs.lib.pfm4_parse


def test_a_function_that_is_not_there_is_one_error_when_it_is_called(tmp_path: Path) -> None:
    path = library(tmp_path, "LACKS")
    theirs: Any = pfm4.load(path)
    assert theirs.pfm_initialize() == 0
    said = f"{path} has no %s\\(\\), which libpfm 4.13.0 has; a newer libpfm 4 is needed"
    with pytest.raises(LibraryFunctionError, match=said % "pfm_get_perf_event_encoding"):
        theirs.pfm_get_perf_event_encoding("toy::CYCLES", 8, None, None, None)
    for _ in range(2):
        with pytest.raises(LibraryFunctionError, match=said % "pfm_get_event_encoding"):
            theirs.pfm_get_event_encoding("toy::CYCLES", 8, None, None, None, None)
    assert not hasattr(theirs.lib, "pfm_get_event_encoding")
    assert theirs.pfm_find_event("toy::CYCLES") == 7


@pytest.mark.parametrize(("path", "error", "said"), [
    ("/no/such/libpfm.so.4", LibraryError, r"cannot be loaded: .*No such file"),
    ("/etc/passwd", LibraryError, "/etc/passwd cannot be loaded: it is no ELF file"),
    ("/", LibraryError, "cannot be loaded: it is a directory"),
    ("libc.so.6", LibraryError, r"libc.so.6 is no libpfm 4: it has no pfm_get_pmu_info\(\)"),
    (PFM3.path, LibraryError, "is a libpfm 3, not a libpfm 4"),
    ("libpfm-of-nobody.so.9", LibraryError, r"cannot be loaded: .*No such file"),
    ("", InvalidValueError, "expected a file or its name"),
    ("a\0b", InvalidValueError, "expected a file or its name"),
    (4, InvalidTypeError, r"library: expected str or PathLike, not int \(4\)"),
    (b"libpfm.so.4", InvalidTypeError, "library: expected str or PathLike, not bytes"),
    (None, InvalidTypeError, "library: expected str or PathLike, not NoneType"),
])
def test_what_is_no_libpfm_4(path: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        pfm4.load(path)


def test_a_relative_path_is_of_the_directory_of_the_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader itself takes equal names for the same library."""
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(PFM4.path, tmp_path / name / "libpfm.so.4")
        monkeypatch.chdir(tmp_path / name)
        found.append(pfm4.load("./libpfm.so.4").library)
    assert found == [str(tmp_path / name / "libpfm.so.4") for name in ("a", "b")]
    with pytest.raises(LibraryError, match=r"^\./none\.so cannot be loaded: cannot open shared object file: No such file"):
        pfm4.load("./none.so")


def test_a_file_in_the_place_of_another_is_loaded(tmp_path: Path) -> None:
    """As of a library that was built anew while the program runs."""
    path, found = tmp_path / "libpfm.so.4", []
    for _ in range(3):
        path.unlink(missing_ok=True)
        shutil.copy(PFM4.path, path)
        found.append(pfm4.load(path))
        assert pfm4.load(path) is found[-1]
    assert len({id(theirs) for theirs in found}) == 3
    assert {theirs.library for theirs in found} == {str(path)}


def test_a_library_of_another_machine(tmp_path: Path) -> None:
    data = bytearray(PFM4.path.read_bytes())
    data[18:20] = (50).to_bytes(2, "little")
    (tmp_path / "libpfm.so.4").write_bytes(data)
    with pytest.raises(LibraryError, match="it is for another machine: IA-64"):
        pfm4.load(tmp_path / "libpfm.so.4")


@pytest.mark.parametrize("kept", [100, 5000, -10_000, 64])
def test_a_library_that_is_cut_short(tmp_path: Path, kept: int) -> None:
    """The loader maps it and is killed by a signal where it reads beyond the end."""
    path = tmp_path / "libpfm.so.4"
    path.write_bytes(debian().read_bytes()[:kept])
    with pytest.raises(LibraryError, match=r"cannot be loaded: it is cut short: \d+ bytes of \d+ or more"):
        pfm4.load(path)


def test_a_private_copy_is_another_library(tmp_path: Path) -> None:
    """Its variables are its own."""
    build(CC, "-shared", "-fPIC", "-x", "c", "-", "-o", path := tmp_path / "one.so", source="int number = 1; void *mark(void) { return &number; }")
    one = ctypes.CDLL(str(path))
    copy = loading.private_copy(one, "mark")
    assert copy._name.startswith("/proc/self/fd/")
    ctypes.c_int.in_dll(copy, "number").value = 7
    assert ctypes.c_int.in_dll(one, "number").value == 1


@pytest.mark.parametrize(("byte_order", "words"), [(1, "little-endian"), (2, "big-endian"), (3, "of byte order 3")])
def test_a_library_for_another_machine(byte_order: int, words: str, tmp_path: Path) -> None:
    half = "big" if byte_order == 2 else "little"
    header = b"\x7fELF\x02" + bytes([byte_order]) + bytes(10) + (3).to_bytes(2, half) + (50).to_bytes(2, half) + bytes(44)
    (tmp_path / "libother.so").write_bytes(header)
    assert f"it is for another machine: IA-64, 64-bit, {words}, not " in unsuitable(str(tmp_path / "libother.so"))


@pytest.mark.parametrize(("start", "words"), [(b"!<arch>\n", "it is a static library"), (b"!<thin>\n", "it is a static library"),
                                              (b"!<path>\n", "it is no ELF file")])
def test_an_archive_is_no_library_to_load(start: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "libpfm.a").write_bytes(start + b"/               0           0     0     0       0         `\n")
    assert unsuitable(str(tmp_path / "libpfm.a")) == words


def test_not_even_the_header_of_a_library(tmp_path: Path) -> None:
    own = PFM3.path.read_bytes()
    for size, words in ((4, "it is cut short: not even its ELF header is whole"), (63, "it is cut short: not even its ELF header"),
                        (4096, "it is cut short: 4096 bytes of ")):
        (tmp_path / "libshort.so").write_bytes(own[:size])
        assert unsuitable(str(tmp_path / "libshort.so")).startswith(words)
