/* Blocks while nothing is captured: each adds its instructions to how far its thread has come
 * (plugin_skip.c).
 *
 * While the guest has one thread, QEMU's inline operation does so in a pause, in the generated
 * code. Only watched blocks (trace/counts.h), those with markers and elements of rep instructions
 * call back. There it shows that the pause is over: it ends at the first of them that is late
 * enough, rather than at the first block. How far the thread has come is exact all the time, and so
 * are the markers.
 *
 * QEMU translates anew when the guest makes its second thread, except where memory could be shared
 * before: many a C library maps a file of its own so. There the new thread ends the pause with its
 * first block, which lies behind a system call, before it comes to translations that count for the
 * first thread.
 *
 * What is to be skipped is skipped to the block: there every block calls back. */
#include "trace/qemu/plugin_thread.h"

#include <stdlib.h>
#include <string.h>

#include "isa/insn.h"

/* The pause that has translations for the first thread alone, which QEMU keeps; 0: none. */
static _Atomic uint32_t alone_in;

/* ---- callbacks ---- */

static void on_block(unsigned vcpu, void *userdata) {
    thread_skip(vcpu, (uint32_t)(uintptr_t)userdata);
}

static void on_rep(unsigned vcpu, void *userdata) {
    thread_skip_rep(vcpu, userdata);
}

static void on_marked_block(unsigned vcpu, void *userdata) {
    struct marked_block *block = userdata;
    if (block->rep.address)
        thread_skip_rep(vcpu, &block->rep);
    else
        thread_skip(vcpu, (uint32_t)(block->word >> 32));
    marker_count(vcpu, block);
}

static inline void executed(unsigned vcpu, uint32_t insn_count) {
    self.insns_before += insn_count;
    if (__builtin_expect(self.insns_before >= self.skip_until, 0))
        skip_look(vcpu);
}

static void on_watched_block(unsigned vcpu, void *userdata) {
    executed(vcpu, (uint32_t)(uintptr_t)userdata);
}

static void on_lone_marked_block(unsigned vcpu, void *userdata) {
    struct marked_block *block = userdata;
    executed(vcpu, (uint32_t)(block->word >> 32));
    marker_count_first(vcpu, block);
}

/* The reset is asked for by the new thread itself: it takes effect before its next block. */
static void on_block_behind_call(unsigned vcpu, void *unused) {
    (void)unused;
    uint32_t phase = atomic_load(&plugin.phase);
    if (!plugin.threaded || thread_ordinal(vcpu) == 0 || atomic_load(&alone_in) != phase)
        return;
    plugin_switch(phase + 1);
    atomic_compare_exchange_strong(&plugin.control->phase, &phase, phase + 1);
}

/* ---- translation ---- */

/* A thread may begin with the block: a system call precedes it. */
static bool is_behind_call(const struct qemu_plugin_tb *tb) {
    static const uint8_t calls[ISA_COUNT][4] = {
        [ISA_X86_64] = {0x0f, 0x05}, [ISA_RISCV64] = {0x73}};
    enum { PAGE = 4096 };
    const uint64_t address = qemu_plugin_tb_vaddr(tb);
    const uint8_t *code = qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
    const uint32_t isa = plugin.control->isa;
    const size_t size = isa == ISA_X86_64 ? 2 : 4;
    uint8_t before[4];
    if (address % PAGE >= size)
        return memcmp(code - size, calls[isa], size) == 0;
    return guest_read(address - size, before, size) && memcmp(before, calls[isa], size) == 0;
}

/* The rep block lives as long as the translation, which nobody tells the end of. */
static bool instrument_rep(struct qemu_plugin_tb *tb, const struct rep_block *rep) {
    struct rep_block *kept = malloc(sizeof *kept);
    if (!kept)
        return false;
    *kept = *rep;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_rep, QEMU_PLUGIN_CB_NO_REGS, kept);
    return true;
}

static void instrument(struct qemu_plugin_tb *tb, bool lone, bool behind_call) {
    const uint32_t insn_count = code_insn_count(tb);
    struct rep_block rep = code_rep(tb);
    const struct block block = {.insn_count = insn_count, .rep = rep.address ? &rep : NULL};
    struct marked_block *marked = marker_find(tb, &block);
    fault_note_block(tb, FAULT_UNNUMBERED, insn_count);
    if (behind_call)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block_behind_call, QEMU_PLUGIN_CB_NO_REGS,
                                             NULL);
    if (marked)
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, lone && !block.rep ? on_lone_marked_block : on_marked_block, QEMU_PLUGIN_CB_NO_REGS,
            marked);
    else if (block.rep && instrument_rep(tb, &rep))
        ;
    else if (lone && !code_is_watched(tb, insn_count))
        interface_add(tb, &self.insns_before, insn_count);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(tb, lone ? on_watched_block : on_block,
                                             QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)insn_count);
}

void skip_instrument(struct qemu_plugin_tb *tb) {
    instrument(tb, false, false);
}

/* The thread that translates is then the one that executes. */
void pause_instrument(struct qemu_plugin_tb *tb) {
    const uint32_t phase = atomic_load(&plugin.phase);
    const bool alone = !plugin.threaded;
    if (alone && plugin.parallel)
        atomic_store(&alone_in, phase);
    const bool behind_call = atomic_load(&alone_in) == phase && is_behind_call(tb);
    instrument(tb, alone && !behind_call, behind_call);
}
