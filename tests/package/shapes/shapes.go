// Calls of libpfm 4 as a Go program makes them: the header's types for what is asked, an argument declared by hand.
//
// The library is the one that the loader finds.  No address, no description is printed.
package main

/*
#cgo LDFLAGS: -lpfm
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib_perf_event.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// pfm_perf_encode_arg_t
type encodeArg struct {
	attr  unsafe.Pointer
	fstr  **C.char
	size  uintptr
	idx   int32
	cpu   int32
	flags int32
	pad0  int32
}

var sizes = []uint32{0, 64, 72, 96, 112, 128, 136}

var events = []string{
	"glm::CPU_CLK_UNHALTED:CORE_P:u", "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT", "glm::BACLEARS:period=5",
	"perf::PERF_COUNT_SW_PAGE_FAULTS:u", "glm::NO_SUCH_EVENT",
}

func text(s *C.char) string {
	if s == nil {
		return "NULL"
	}
	return C.GoString(s)
}

// pmus asks with size 0 for more PMUs than there are.
func pmus() {
	info := (*C.pfm_pmu_info_t)(C.malloc(C.sizeof_pfm_pmu_info_t))
	defer C.free(unsafe.Pointer(info))
	for i := 0; i < 600; i++ {
		C.memset(unsafe.Pointer(info), 0, C.sizeof_pfm_pmu_info_t)
		ret := C.pfm_get_pmu_info(C.pfm_pmu_t(i), info)
		if name := text(info.name); ret == C.PFM_SUCCESS && (name == "glm" || name == "perf") {
			fmt.Println("pmu", i, name, info.size, info.pmu, info._type, info.max_encoding, info.num_cntrs)
		} else if i >= int(C.PFM_PMU_MAX) {
			fmt.Println("pmu", i, ret)
		}
	}
}

// encode has all memory of C: its attr has room for size bytes, and a pattern after them.
func encode(event string, size uint32) {
	const room = 256
	attr := C.malloc(room)
	own := C.CString("mine")
	fstr := (**C.char)(C.malloc(C.size_t(unsafe.Sizeof(own))))
	arg := (*encodeArg)(C.malloc(C.size_t(unsafe.Sizeof(encodeArg{}))))
	name := C.CString(event)
	C.memset(attr, 0xa5, room)
	length := size
	if length == 0 {
		length = 64
	}
	bytes := unsafe.Slice((*byte)(attr), room)
	for i := range bytes[:length] {
		bytes[i] = 0
	}
	*(*uint32)(unsafe.Add(attr, 4)) = size
	*fstr = own
	*arg = encodeArg{attr: attr, fstr: fstr, size: unsafe.Sizeof(*arg)}
	ret := C.pfm_get_os_event_encoding(name, C.PFM_PLM0|C.PFM_PLM3, C.PFM_OS_PERF_EVENT_EXT, unsafe.Pointer(arg))
	fmt.Printf("%s %d: %d idx %d cpu %d fstr %s own %s %x\n", event, size, ret, arg.idx, arg.cpu, text(*fstr), text(own), bytes[:200])
	if *fstr != own {
		C.free(unsafe.Pointer(*fstr))
	}
	for _, p := range []unsafe.Pointer{attr, unsafe.Pointer(own), unsafe.Pointer(fstr), unsafe.Pointer(arg), unsafe.Pointer(name)} {
		C.free(p)
	}
}

func main() {
	fmt.Println("initialize", C.pfm_initialize(), C.pfm_get_version(), unsafe.Sizeof(encodeArg{}))
	pmus()
	for _, event := range events {
		for _, size := range sizes {
			encode(event, size)
		}
	}
	fmt.Println(text(C.pfm_strerror(C.PFM_ERR_NOTFOUND)))
	C.pfm_terminate()
}
