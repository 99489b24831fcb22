/* What the versions of the emulator's plugin interface do differently, so that one plugin works
 * with them all: version 1 (QEMU 7.2 to 8.2), and 2 and later (from QEMU 9.0), which refuse a
 * plugin of version 1. Functions that not every version has are weak: NULL where they are not.
 *
 * - Version 2 adds inline to an entry of a scoreboard, of which each vCPU has its own, rather than
 *   to any word. All that is added to here is of a guest with one thread: its vCPU is the first,
 *   and the distance from that vCPU's entry leads to any word.
 * - Version 3 copies the bytes of an instruction rather than showing them. */
#include "trace/qemu/plugin.h"

#include <string.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

enum { COPIES_BYTES = 3 };

static bool copies_bytes;
static struct qemu_plugin_scoreboard *entries; /* NULL: adds to any word */

/* The emulator asks for the version before it calls anything of the plugin. */
__attribute__((constructor)) static void tell_version(void) {
    qemu_plugin_version = qemu_plugin_read_memory_vaddr ? 4 : qemu_plugin_scoreboard_new ? 2 : 1;
}

void interface_start(const qemu_info_t *info) {
    copies_bytes = info->version.cur >= COPIES_BYTES;
    if (!qemu_plugin_register_vcpu_tb_exec_inline)
        entries = qemu_plugin_scoreboard_new(sizeof(uint64_t));
}

size_t interface_insn_bytes(const struct qemu_plugin_insn *insn, uint8_t bytes[INSN_BYTES]) {
    size_t size = qemu_plugin_insn_size(insn);
    if (size > INSN_BYTES)
        size = INSN_BYTES;
    const uintptr_t told = qemu_plugin_insn_data(insn, bytes, size);
    if (copies_bytes)
        return told;
    memcpy(bytes, (const void *)told, size);
    return size;
}

const char *interface_program(void) {
    return qemu_plugin_path_to_binary ? qemu_plugin_path_to_binary() : NULL;
}

static struct qemu_plugin_u64 entry_at(const uint64_t *word) {
    const uintptr_t first = (uintptr_t)qemu_plugin_scoreboard_find(entries, 0);
    return (struct qemu_plugin_u64){entries, (uintptr_t)word - first};
}

void interface_add(struct qemu_plugin_tb *tb, uint64_t *word, uint64_t amount) {
    if (entries)
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
                                                          entry_at(word), amount);
    else
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, word, amount);
}

/* Version 1 sets up the callbacks of an instruction also for accesses that are neither loads nor
 * stores, of which generated code has nothing. */
void interface_hold_accesses(struct qemu_plugin_insn *insn) {
    static const enum qemu_plugin_mem_rw no_access = 0;
    static uint64_t nothing;
    if (entries)
        qemu_plugin_register_vcpu_mem_inline_per_vcpu(insn, QEMU_PLUGIN_MEM_RW,
                                                      QEMU_PLUGIN_INLINE_ADD_U64,
                                                      (struct qemu_plugin_u64){entries, 0}, 0);
    else
        qemu_plugin_register_vcpu_mem_inline(insn, no_access, QEMU_PLUGIN_INLINE_ADD_U64, &nothing,
                                             0);
}
