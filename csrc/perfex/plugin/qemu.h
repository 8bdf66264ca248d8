/*
 * The interface between qemu and a plugin: version 1 of it, which qemu 6.0 and later have, as far as
 * it is used here.
 *
 * No package has a header for it.  Source: the chapter "QEMU TCG Plugins" of qemu's documentation, which names these
 * functions and what they take.  Before a plugin is installed, qemu compares its version with those that it has.
 */
#ifndef PERFEX_QEMU_H
#define PERFEX_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QEMU_VERSION = 1 };

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb; /* a block of instructions that are translated together */
struct qemu_plugin_insn;

typedef struct {
	const char *target_name; /* mips64 */
	struct {
		int min, cur; /* versions of the interface that this qemu has */
	} version;
	bool system_emulation;
	int processors[2]; /* of a whole system */
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void qemu_plugin_udata_cb(qemu_plugin_id_t id, void *of);
typedef void qemu_plugin_vcpu_simple_cb(qemu_plugin_id_t id, unsigned int cpu);
typedef void qemu_plugin_vcpu_udata_cb(unsigned int cpu, void *of);
typedef void qemu_plugin_vcpu_tb_trans_cb(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_plugin_vcpu_mem_cb(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *of);
typedef void qemu_plugin_vcpu_syscall_cb(qemu_plugin_id_t id, unsigned int cpu, int64_t number, uint64_t a1,
					 uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
					 uint64_t a8);
typedef void qemu_plugin_vcpu_syscall_ret_cb(qemu_plugin_id_t id, unsigned int cpu, int64_t number, int64_t result);

/* Symbols that qemu looks for in a plugin. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/* Functions of qemu. */
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb *call);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb *call);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb *call);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb *call);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_ret_cb *call);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb *call, void *of);

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb *call,
					  enum qemu_plugin_cb_flags flags, void *of);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb *call,
					    enum qemu_plugin_cb_flags flags, void *of);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb *call,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw which, void *of);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn); /* where it is in this process */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info); /* log2 of the bytes */

#endif
