//! Calls of libpfm 4 as a Rust program makes them that declares everything by hand.
//!
//! The library is the one that the loader finds.  No address, no description is printed.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};
use std::mem::{size_of, zeroed};
use std::ptr::null_mut;

/// pfm_pmu_info_t
#[repr(C)]
struct Info {
    name: *const c_char,
    desc: *const c_char,
    size: usize,
    pmu: c_int,
    kind: c_int,
    nevents: c_int,
    first_event: c_int,
    max_encoding: c_int,
    num_cntrs: c_int,
    num_fixed_cntrs: c_int,
    flags: c_uint,
}

/// pfm_perf_encode_arg_t
#[repr(C)]
struct EncodeArg {
    attr: *mut c_void,
    fstr: *mut *mut c_char,
    size: usize,
    idx: c_int,
    cpu: c_int,
    flags: c_int,
    pad0: c_int,
}

#[link(name = "pfm")]
extern "C" {
    fn pfm_initialize() -> c_int;
    fn pfm_terminate();
    fn pfm_get_version() -> c_int;
    fn pfm_strerror(code: c_int) -> *const c_char;
    fn pfm_get_pmu_info(pmu: c_int, output: *mut Info) -> c_int;
    fn pfm_get_os_event_encoding(event: *const c_char, plm: c_int, os: c_int, arg: *mut c_void) -> c_int;
    fn free(memory: *mut c_void);
}

const SIZES: [u32; 7] = [0, 64, 72, 96, 112, 128, 136];
const EVENTS: [&str; 5] = [
    "glm::CPU_CLK_UNHALTED:CORE_P:u",
    "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT",
    "glm::BACLEARS:period=5",
    "perf::PERF_COUNT_SW_PAGE_FAULTS:u",
    "glm::NO_SUCH_EVENT",
];

fn text(s: *const c_char) -> String {
    if s.is_null() {
        return "NULL".to_string();
    }
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

/// Asks with size 0 for more PMUs than there are.
fn pmus() {
    for i in 0..600 {
        let mut info: Info = unsafe { zeroed() };
        let ret = unsafe { pfm_get_pmu_info(i, &mut info) };
        let name = text(info.name);
        if ret == 0 && (name == "glm" || name == "perf") {
            println!("pmu {i} {name} {} {} {} {} {} {}", info.size, info.pmu, info.kind, info.max_encoding, info.num_cntrs, info.flags & 3);
        } else if i >= 517 {
            println!("pmu {i} {ret}");
        }
    }
}

/// The attr has room for size bytes, and a pattern after them; what fstr points to before is not the library's.
fn encode(event: &str, size: u32) {
    let mut attr = [0xa5u64; 32];
    let length = if size == 0 { 64 } else { size as usize };
    attr[..length / 8].fill(0);
    attr[0] = u64::from(size) << 32;
    let name = CString::new(event).unwrap();
    let own = CString::new("mine").unwrap();
    let before = own.as_ptr() as *mut c_char;
    let mut fstr = before;
    let mut arg = EncodeArg { attr: attr.as_mut_ptr().cast(), fstr: &mut fstr, size: size_of::<EncodeArg>(), idx: 0, cpu: 0, flags: 7, pad0: 8 };
    let ret = unsafe { pfm_get_os_event_encoding(name.as_ptr(), 9, 2, (&mut arg as *mut EncodeArg).cast()) };
    println!("{event} {size}: {ret} idx {} cpu {} {} {} fstr {} own {} {:x?}", arg.idx, arg.cpu, arg.flags, arg.pad0, text(fstr), text(before), &attr[..24]);
    if fstr != before && fstr != null_mut() {
        unsafe { free(fstr.cast()) };
    }
}

fn main() {
    println!("initialize {} {} {}", unsafe { pfm_initialize() }, unsafe { pfm_get_version() }, size_of::<EncodeArg>());
    pmus();
    for event in EVENTS {
        for size in SIZES {
            encode(event, size);
        }
    }
    println!("{}", text(unsafe { pfm_strerror(-4) }));
    unsafe { pfm_terminate() };
}
