"""Cases for test_perfmon2_mirror.py, each run in a process of its own: the calls of perfmon2 as a C program makes them."""

from __future__ import annotations

import errno
import mmap
import os
from types import ModuleType

import pytest

from perfmon2_cases import case
from pypfm import pfm3, pfm3_manual

TOP = 1 << 64
PLM3 = pfm3.PFM_PLM3


class Program:
    """What programs begin with."""

    def __init__(self, mirror: ModuleType) -> None:
        self.m = mirror
        assert mirror.pfm_force_pmu(mirror.PFMLIB_ITANIUM2_PMU) == 0
        self.cycles, self.retired = mirror.c_uint(), mirror.c_uint()
        assert mirror.pfm_find_event("CPU_CYCLES", self.cycles) == 0
        assert mirror.pfm_find_event("IA64_INST_RETIRED", self.retired) == 0

    def pmc(self, event) -> int:
        code = self.m.c_int()
        assert self.m.pfm_get_event_code(event.value, code) == 0
        return code.value << 8 | PLM3

    def fails(self, ret: int, code: int) -> bool:
        return ret == -1 and self.m.ffi.errno == code

    def message(self, fd: int):
        return self.m.pfarg_msg_t.from_buffer_copy(os.read(fd, 64))


def each_form(check):
    """The case for both forms of the library, one in each process of two."""
    def run() -> None:
        for mirror in (pfm3, pfm3_manual):
            child = os.fork()
            if not child:
                check(Program(mirror))
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, mirror.__name__

    run.__name__ = check.__name__
    return case(run)


@each_form
def version_2(p: Program) -> None:
    m = p.m
    fd = m.pfm_create_context(m.pfarg_ctx_t(), None, None, 0)
    assert fd >= 0
    pmcs = (m.pfarg_pmc_t * 2)()
    for at, event in enumerate((p.cycles, p.retired)):
        pmcs[at].reg_num, pmcs[at].reg_value = 4 + at, p.pmc(event)
    assert m.pfm_write_pmcs(fd, pmcs, 2) == 0
    pmds = (m.pfarg_pmd_t * 2)()
    for at in range(2):
        pmds[at].reg_num = 4 + at
    assert m.pfm_write_pmds(fd, pmds, 2) == 0
    assert m.pfm_load_context(fd, m.pfarg_load_t(load_pid=os.getpid())) == 0
    assert m.pfm_start(fd, None) == 0
    assert m.pfm_model_advance(p.cycles.value, PLM3, 12) == 0
    assert m.pfm_model_advance_code(0x12, 0, PLM3, 5) == 0
    assert m.pfm_model_advance_task(os.getpid(), p.retired.value, PLM3, 7) == 0
    assert m.pfm_stop(fd) == 0
    assert m.pfm_read_pmds(fd, pmds, 2) == 0
    assert [pmd.reg_value for pmd in pmds] == [17, 7]
    assert m.pfm_read_pmds(fd, pmds[1], 1) == 0
    assert m.pfm_read_pmds(fd, m.byref(pmds, m.sizeof(m.pfarg_pmd_t)), 1) == 0
    with pytest.raises(TypeError, match="pmds wants pfarg_pmd_t, not byref\\(\\) of pfarg_pmd_t_Array_2 at offset 1; write "):
        m.pfm_read_pmds(fd, m.byref(pmds, 1), 1)
    assert m.pfm_start(fd, m.pfarg_start_t(start_set=0)) == 0
    assert p.fails(m.pfm_restart(fd), errno.EBUSY)
    assert m.pfm_self_stop(fd) == 0
    assert m.pfm_self_start(fd) == 0
    assert m.pfm_unload_context(fd) == 0
    os.close(fd)
    assert p.fails(m.pfm_stop(fd), errno.EBADF)


@each_form
def sets_of_version_2(p: Program) -> None:
    m = p.m
    fd = m.pfm_create_context(m.pfarg_ctx_t(), None, None, 0)
    sets = (m.pfarg_setdesc_t * 2)()
    for at in range(2):
        sets[at].set_id, sets[at].set_flags, sets[at].set_timeout = at, m.PFM_SETFL_TIME_SWITCH, 1000
    assert m.pfm_create_evtsets(fd, sets, 2) == 0
    assert m.pfm_write_pmcs(fd, m.pfarg_pmc_t(reg_num=4, reg_set=1, reg_value=p.pmc(p.cycles)), 1) == 0
    pmd = m.pfarg_pmd_t(reg_num=4, reg_set=1)
    assert m.pfm_write_pmds(fd, pmd, 1) == 0
    assert m.pfm_load_context(fd, m.pfarg_load_t(load_pid=os.getpid())) == 0
    assert m.pfm_start(fd, None) == 0
    assert m.pfm_model_time(1000) == 0
    assert m.pfm_model_advance(p.cycles.value, PLM3, 3) == 0
    assert m.pfm_model_time_task(os.getpid(), 1000) == 0
    assert m.pfm_read_pmds(fd, pmd, 1) == 0
    assert pmd.reg_value == 3
    info = (m.pfarg_setinfo_t * 2)()
    info[1].set_id = 1
    assert m.pfm_getinfo_evtsets(fd, info, 2) == 0
    assert [one.set_runs for one in info] == [2, 1]
    assert info[0].set_avail_pmds[0] == 0x3FFFF
    old = m.ffi.new("char[192]")  # the layout of version 2.0 has no class here
    assert m.pfm_getinfo_evtsets_v2old(fd, old, 1) == 0
    with pytest.raises(ValueError, match="384 bytes"):
        m.pfm_getinfo_evtsets_v2old(fd, old, 2)
    assert m.pfm_unload_context(fd) == 0
    assert m.pfm_delete_evtsets(fd, sets[1], 1) == 0
    assert p.fails(m.pfm_getinfo_evtsets(fd, info, 2), errno.EINVAL)


@each_form
def version_3(p: Program) -> None:
    m = p.m
    sif = m.pfarg_sinfo_t()
    fd = m.pfm_create(0, sif)
    assert fd >= 0
    assert sif.sif_avail_pmds[0] == 0x3FFFF
    sets = m.pfarg_set_desc_t(set_id=0, set_flags=m.PFM_SETFL_TIME_SWITCH, set_timeout=1000)
    assert m.pfm_create_sets(fd, 0, sets, m.ffi.sizeof("pfarg_set_desc_t")) == 0
    assert m.pfm_write(fd, 0, m.PFM_RW_PMC, m.pfarg_pmr_t(reg_num=4, reg_value=p.pmc(p.cycles)), 16) == 0
    attributes = m.pfarg_pmd_attr_t(reg_num=4, reg_value=TOP - 10, reg_flags=m.PFM_REGFL_OVFL_NOTIFY,
                                    reg_long_reset=TOP - 10)
    assert m.pfm_write(fd, 0, m.PFM_RW_PMD_ATTR, attributes, 208) == 0
    assert m.pfm_attach(fd, 0, os.getpid()) == 0
    assert m.pfm_set_state(fd, 0, m.PFM_ST_START) == 0
    assert m.pfm_model_set_ip(0x4560) == 0
    assert m.pfm_model_advance(p.cycles.value, PLM3, 25) == 0
    message = p.message(fd)
    assert message.type == m.PFM_MSG_OVFL
    overflow = message.pfm_ovfl_msg
    assert (overflow.msg_ovfl_ip, overflow.msg_ovfl_pmds[0], overflow.msg_active_set) == (0x4560, 1 << 4, 0)
    pmd = m.pfarg_pmr_t(reg_num=4)
    assert m.pfm_read(fd, 0, m.PFM_RW_PMD, pmd, 16) == 0
    assert pmd.reg_value == 0
    info = m.pfarg_set_info_t()
    assert m.pfm_getinfo_sets(fd, 0, info, 104) == 0
    assert (info.set_runs, info.set_ovfl_pmds[0]) == (1, 1 << 4)
    assert m.pfm_set_state(fd, 0, m.PFM_ST_RESTART) == 0
    assert m.pfm_read(fd, 0, m.PFM_RW_PMD_ATTR, attributes, 208) == 0
    assert (attributes.reg_value, attributes.reg_last_value) == (TOP - 10, TOP - 10)
    assert m.pfm_attach(fd, 0, m.PFM_NO_TARGET) == 0
    assert p.fails(m.pfm_attach(fd, 0, m.PFM_NO_TARGET), errno.EINVAL)


@each_form
def pfm_create_with_a_format(p: Program) -> None:
    m = p.m
    argument = m.pfm_dfl_smpl_arg_t(buf_size=4096)
    size = m.ffi.sizeof("pfm_dfl_smpl_arg_t")
    for name in ("default", b"default", m.create_string_buffer(b"default"), m.c_char_p(b"default"), m.ffi.new("char[]", b"default")):
        fd = m.pfm_create(m.PFM_FL_SMPL_FMT, None, name, argument, size)
        assert fd >= 0
        os.close(fd)
    fd = m.pfm_create(m.PFM_FL_SMPL_FMT, sif=None, name="default", arg=m.byref(argument), size=size)
    assert fd >= 0
    assert p.fails(m.pfm_create(m.PFM_FL_SMPL_FMT, None), errno.EFAULT)
    assert p.fails(m.pfm_create(m.PFM_FL_SMPL_FMT, None, "other", argument, size), errno.EINVAL)
    assert p.fails(m.pfm_create(m.PFM_FL_SMPL_FMT, None, "default", argument, 8), errno.EINVAL)
    assert p.fails(m.pfm_create(m.PFM_FL_SMPL_FMT, None, "default", None, size), errno.EFAULT)
    assert p.fails(m.pfm_create(1 << 30, None), errno.EINVAL)
    assert m.pfm_create(0, None, "not looked at", None, 0) >= 0
    for wrong in (("default", [1], size), (5, argument, size), ("default", argument, "64"), ("default", argument, None),
                  ("default", "x", size)):
        with pytest.raises(TypeError, match=r"pfm_create\(\): (name|arg|size)"):
            m.pfm_create(m.PFM_FL_SMPL_FMT, None, *wrong)
    with pytest.raises(TypeError, match=r"pfm_create\(\): sif wants pfarg_sinfo_t"):
        m.pfm_create(0, argument)
    with pytest.raises(ValueError, match="arg is too short: size is 65"):
        m.pfm_create(m.PFM_FL_SMPL_FMT, None, "default", argument, 65)
    with pytest.raises(OverflowError, match="size"):
        m.pfm_create(m.PFM_FL_SMPL_FMT, None, "default", argument, -1)
    with pytest.raises(ValueError, match="NUL"):
        m.pfm_create(m.PFM_FL_SMPL_FMT, None, "def\0ault", argument, size)


@each_form
def a_sampling_buffer(p: Program) -> None:
    m = p.m
    argument = m.pfm_dfl_smpl_arg_t(buf_size=4096)
    fd = m.pfm_create_context(m.pfarg_ctx_t(), "default", argument, 64)
    assert m.pfm_write_pmcs(fd, m.pfarg_pmc_t(reg_num=4, reg_value=p.pmc(p.cycles)), 1) == 0
    pmd = m.pfarg_pmd_t(reg_num=4, reg_value=TOP - 10, reg_long_reset=TOP - 10, reg_short_reset=TOP - 10,
                        reg_smpl_pmds=(1 << 2 | 1 << 3,))
    assert m.pfm_write_pmds(fd, pmd, 1) == 0
    assert m.pfm_load_context(fd, m.pfarg_load_t(load_pid=os.getpid())) == 0
    buffer = m.pfm_mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    assert m.smpl_entries(buffer, 2, 4096) == []
    assert m.pfm_start(fd, None) == 0
    for n in range(3):
        assert m.pfm_model_set_pmd(2, n) == 0
        assert m.pfm_model_advance(p.cycles.value, PLM3, 10) == 0
    found = m.smpl_entries(buffer, {4: 2}, 4096)
    assert [entry.values for entry in found] == [(0, 0), (1, 0), (2, 0)]
    assert [(one.entry.ovfl_pmd, TOP - one.entry.last_reset_val, one.entry.pid) for one in found] == [
        (4, 10, os.getpid())] * 3
    assert isinstance(found[0].entry, m.pfm_dfl_smpl_entry_t)
    header = m.pfm_dfl_smpl_hdr_t.from_buffer_copy(m.ffi.buffer(buffer, 4096))
    assert (header.hdr_count, header.hdr_cur_offs, header.hdr_buf_size) == (3, 128 + 3 * 56, 4096)
    failed = m.pfm_mmap(None, 1 << 20, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    assert m.ffi.errno == errno.EINVAL
    with pytest.raises(ValueError, match="MAP_FAILED"):
        m.smpl_entries(failed, 2, 4096)
    anonymous = m.pfm_mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    with pytest.raises(ValueError, match="version is 0x0"):
        m.smpl_entries(anonymous, 2, 4096)


def header(m: ModuleType, offset: int, version: int = 0x10000) -> bytes:
    made = m.pfm_dfl_smpl_hdr_t(hdr_count=1000, hdr_cur_offs=offset, hdr_buf_size=1 << 60, hdr_version=version)
    return bytes(made)


@case
def headers_that_lie() -> None:
    m = pfm3
    entry = bytes(m.pfm_dfl_smpl_entry_t(ovfl_pmd=4, set=2, ip=0x77)) + b"\1" + bytes(7)
    memory = header(m, 1 << 62) + entry * 3
    for size in range(len(memory) + 1):
        if size < 128:
            with pytest.raises(ValueError, match="header"):
                m.smpl_entries(memory[:size], 1)
        else:
            assert len(m.smpl_entries(memory[:size], 1)) == (size - 128) // 48
            assert len(m.smpl_entries(memory, 1, size)) == (size - 128) // 48
    for offset, count in ((0, 0), (127, 0), (128, 0), (175, 0), (176, 1), (223, 1), (272, 3), (TOP - 1, 3)):
        assert len(m.smpl_entries(header(m, offset) + entry * 3, {4: 1})) == count
        assert len(m.smpl_entries(bytearray(header(m, offset) + entry * 3), {(2, 4): 1, (0, 4): 9})) == count
    assert len(m.smpl_entries(memory, {(2, 4): 1, 4: 3})) == 3  # what is said of the set counts
    one = m.smpl_entries(memoryview(memory), 1)[1]
    assert (one.entry.ip, one.values) == (0x77, (1,))
    with pytest.raises(ValueError, match=r"offset 0x80 is of PMD4 in set 2"):
        m.smpl_entries(memory, {5: 1})
    with pytest.raises(ValueError, match="version"):
        m.smpl_entries(header(m, 128, 0x30000), 1)
    assert m.smpl_entries(m.create_string_buffer(memory), 1) == m.smpl_entries(memory, 1)
    assert m.smpl_entries(header(m, 200, 0x20000) + bytes(100), 0)[0].entry.ovfl_pmd == 0
    for wrong in (5, None, "text", [1], object(), m.ffi.NULL):
        with pytest.raises(TypeError, match="smpl_entries"):
            m.smpl_entries(wrong, 1, 4096)
    with pytest.raises(TypeError, match="size"):
        m.smpl_entries(m.ffi.new("char[200]") + 0, 1)
    for size in (-1, len(memory) + 1):
        with pytest.raises(ValueError, match="size"):
            m.smpl_entries(memory, 1, size)
    for counts in (-1, 321, {4: -1}):
        with pytest.raises(ValueError, match="0 to 320"):
            m.smpl_entries(memory, counts)
    for counts in ("1", None, {4: "1"}, 1.5):
        with pytest.raises(TypeError, match="number of values"):
            m.smpl_entries(memory, counts)


@each_form
def perfmonctl_and_its_elements(p: Program) -> None:
    m = p.m
    context = m.pfarg_context_t()
    assert m.perfmonctl(0, m.PFM_CREATE_CONTEXT, context, 1) == 0
    fd = context.ctx_fd
    registers = (m.pfarg_reg_t * 2)()
    for at, event in enumerate((p.cycles, p.retired)):
        registers[at].reg_num, registers[at].reg_value = 4 + at, p.pmc(event)
    assert m.perfmonctl(fd, m.PFM_WRITE_PMCS, registers, 2) == 0
    for at in range(2):
        registers[at].reg_value = 0
    assert m.perfmonctl(fd, m.PFM_WRITE_PMDS, registers, 2) == 0
    assert m.perfmonctl(fd, m.PFM_LOAD_CONTEXT, m.pfarg_load_t(load_pid=os.getpid()), 1) == 0
    assert m.perfmonctl(fd, m.PFM_START, None, 0) == 0
    assert m.pfm_model_advance(p.cycles.value, PLM3, 12) == 0
    assert m.perfmonctl(fd, m.PFM_READ_PMDS, registers, 2) == 0
    assert [r.reg_value for r in registers] == [12, 0]
    assert m.perfmonctl(fd, m.PFM_STOP, None, 0) == 0
    debug = m.c_uint(1)
    assert m.perfmonctl(fd, m.PFM_DEBUG, debug, 1) == 0
    features = m.pfarg_features_t()
    assert m.perfmonctl(fd, m.PFM_GET_FEATURES, features, 1) == 0
    assert features.ft_version == 0x20000
    for command, argument, count in ((m.PFM_READ_PMDS, registers, 3), (m.PFM_READ_PMDS, m.pfarg_pmd_t(reg_num=4), 2),
                                     (m.PFM_CREATE_CONTEXT, registers[0].reg_num, 1), (m.PFM_WRITE_PMCS, debug, 1),
                                     (m.PFM_GET_FEATURES, debug, 1), (m.PFM_WRITE_IBRS, debug, 1)):
        with pytest.raises((ValueError, TypeError), match=r"too short|wants"):
            m.perfmonctl(fd, command, argument, count)
    assert p.fails(m.perfmonctl(fd, 999, None, 0), errno.EINVAL)
    assert p.fails(m.perfmonctl(fd, m.PFM_READ_PMDS, None, 1), errno.EFAULT)


@each_form
def numbers_that_are_too_large(p: Program) -> None:
    """C would read, and write, what belongs to Python."""
    m = p.m
    fd = m.pfm_create(0, None)
    for function, element in ((m.pfm_write_pmcs, m.pfarg_pmc_t), (m.pfm_write_pmds, m.pfarg_pmd_t),
                              (m.pfm_read_pmds, m.pfarg_pmd_t), (m.pfm_create_evtsets, m.pfarg_setdesc_t),
                              (m.pfm_delete_evtsets, m.pfarg_setdesc_t), (m.pfm_getinfo_evtsets, m.pfarg_setinfo_t)):
        name = function.__name__
        for elements, count in ((element(), 2), ((element * 3)(), 4), (element(), 1 << 20)):
            with pytest.raises(ValueError, match=rf"{name}\(\): \w+ is too short: count is {count}"):
                function(fd, elements, count)
        for pointer in (m.pointer(element()), m.pointer((element * 3)()[2])):
            with pytest.raises(ValueError, match=rf"{name}\(\): \w+ is too short: count is 2"):
                function(fd, pointer, 2)
        assert p.fails(function(fd, element(), -1), errno.EINVAL)
        assert function(fd, None, 0) == 0
        assert p.fails(function(fd, None, 1), errno.EFAULT)
        assert p.fails(function(fd, (element * 400)(), 400), errno.E2BIG)
        for wrong in ([element()], "x", 5, m.pfarg_load_t()):
            with pytest.raises(TypeError, match=rf"{name}\(\): \w+ wants {element.__name__}"):
                function(fd, wrong, 1)
    for function, kind, element in ((m.pfm_write, m.PFM_RW_PMC, m.pfarg_pmr_t), (m.pfm_read, m.PFM_RW_PMD_ATTR, m.pfarg_pmd_attr_t)):
        with pytest.raises(ValueError, match="too short: sz is 4096"):
            function(fd, 0, kind, element(), 4096)
        with pytest.raises(TypeError, match=r"wants a void \*, not list; write a structure, "):
            function(fd, 0, kind, [element()], 16)
        assert p.fails(function(fd, 0, kind, element(), 0), errno.EINVAL)
    with pytest.raises(ValueError, match="s is too short"):
        m.pfm_create_sets(fd, 0, m.pfarg_set_desc_t(), 128)
    with pytest.raises(ValueError, match="info is too short"):
        m.pfm_getinfo_sets(fd, 0, m.pfarg_set_info_t(), 208)
    with pytest.raises(ValueError, match="smpl_arg is too short"):
        m.pfm_create_context(m.pfarg_ctx_t(), "default", m.pfm_dfl_smpl_arg_t(), 100)


@case
def structures_from_bytes() -> None:
    m = pfm3
    data = bytes(range(64))
    message = m.pfarg_msg_t.from_buffer_copy(data)
    assert bytes(message) == data
    assert message.type == 0x03020100
    for source in (bytearray(data), memoryview(data), mmap.mmap(-1, 64), b"x" + data):
        m.pfarg_msg_t.from_buffer_copy(source)
    assert m.pfarg_msg_t.from_buffer_copy(b"x" + data, 1).type == message.type
    own = bytearray(data)
    copied = m.pfarg_msg_t.from_buffer_copy(own)
    own[0] = 99
    assert copied.type == message.type
    for source, offset in ((data[:63], 0), (data, 1), (data, -1), (b"", 0)):
        with pytest.raises(ValueError, match=r"Buffer size too small|negative"):
            m.pfarg_msg_t.from_buffer_copy(source, offset)
    assert [r.reg_num for r in (m.pfarg_reg_t * 3)()] == [0, 0, 0]


@case(LIBPFM_PERFMON="off")
def everything_is_off() -> None:
    m = pfm3
    m.pfm_force_pmu(m.PFMLIB_ITANIUM2_PMU)
    for ret in (m.pfm_create(0, None), m.pfm_create(m.PFM_FL_SMPL_FMT, None, "default", m.pfm_dfl_smpl_arg_t(), 64),
                m.pfm_create_context(None, None, None, 0), m.pfm_start(-1, None), m.pfm_write_pmcs(0, None, 0)):
        assert ret == -1
        assert m.ffi.errno == errno.ENOSYS
    assert m.pfm_model_time(1) == -1
    assert m.ffi.errno == errno.ENXIO
