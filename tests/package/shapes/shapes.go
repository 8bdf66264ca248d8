// Calls of libpfm 4 as a Go program makes them: cgo reads the header.  What else the calls answer, shapes.c shows.
//
// The library is the one that the loader finds.  No address, no description is printed.
package main

/*
#cgo LDFLAGS: -lpfm
#include <stdlib.h>
#include <perfmon/pfmlib_perf_event.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

func main() {
	fmt.Println("initialize", C.pfm_initialize(), C.pfm_get_version())
	// All memory is C's.
	info := (*C.pfm_pmu_info_t)(C.calloc(1, C.sizeof_pfm_pmu_info_t))
	fmt.Println("pmu", C.pfm_get_pmu_info(C.PFM_PMU_INTEL_GLM, info), C.GoString(info.name), info.size, info._type, info.num_cntrs)
	attr := (*C.struct_perf_event_attr)(C.calloc(1, C.sizeof_struct_perf_event_attr))
	fstr := (**C.char)(C.calloc(1, 8))
	arg := (*C.pfm_perf_encode_arg_t)(C.calloc(1, C.sizeof_pfm_perf_encode_arg_t))
	attr.size = C.sizeof_struct_perf_event_attr
	arg.attr, arg.fstr, arg.size = attr, fstr, C.sizeof_pfm_perf_encode_arg_t
	for _, event := range []string{"glm::NO_SUCH_EVENT", "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT"} {
		name := C.CString(event)
		ret := C.pfm_get_os_event_encoding(name, C.PFM_PLM0|C.PFM_PLM3, C.PFM_OS_PERF_EVENT_EXT, unsafe.Pointer(arg))
		fmt.Printf("%s: %d %s\n", event, ret, C.GoString(C.pfm_strerror(ret)))
	}
	fmt.Printf("%s idx %d cpu %d %x\n", C.GoString(*fstr), arg.idx, arg.cpu, C.GoBytes(unsafe.Pointer(attr), 64))
	C.pfm_terminate()
}
