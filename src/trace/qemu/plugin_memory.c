/* Memory that the guest allocates, frees and maps, as marks in its events: calls of malloc() and
 * its kin, told of by a library that is preloaded (guest/allocations.c), or seen where the program
 * brings its own (plugin_allocator.c), and system calls.
 *
 * The library tells by a store that nothing else makes, MOVNTI, of the first word of a report; the
 * callback of that store reads the report from the guest's memory. The library's own blocks are not
 * captured: in the trace, control goes from who calls malloc() to the C library's malloc(), and
 * back, as it would without it. */
#include "trace/qemu/plugin.h"

#include <sys/mman.h>

#include "isa/insn.h"
#include "trace/dynamic.h"
#include "trace/qemu/guest/allocations.h"

/* Numbers differ between the guest's instruction sets. */
static const struct {
    int mmap, munmap, mremap, brk, clone, clone3, fork, vfork, futex; /* −1: it has none */
} CALLS[ISA_COUNT] = {[ISA_X86_64] = {9, 11, 25, 12, 56, 435, 57, 58, 202},
                      [ISA_RISCV64] = {222, 215, 216, 214, 220, 435, -1, -1, 98}};

static uint64_t heap_start; /* as brk() first told; 0: not yet */

static void tell(unsigned vcpu, enum trace_memory_kind kind, uint64_t address, uint64_t extent) {
    thread_mark_pair(vcpu,
                     event_mark(MARK_MEMORY, (uint64_t)kind << 48 | (address & 0xffffffffffff)),
                     event_mark(MARK_EXTENT, extent));
}

/* ---- allocations ---- */

void memory_tell_allocated(unsigned vcpu, uint64_t address, uint64_t size) {
    tell(vcpu, MEMORY_ALLOCATED, address, size);
}

void memory_tell_freed(unsigned vcpu, uint64_t address) {
    tell(vcpu, MEMORY_FREED, address, 0);
}

static void on_report(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata) {
    struct allocation_report report;
    (void)info, (void)userdata;
    if (!guest_read_again(address, &report, sizeof report))
        return;
    if (report.freed)
        memory_tell_freed(vcpu, report.freed);
    if (report.allocated)
        memory_tell_allocated(vcpu, report.allocated, report.size);
}

static bool is_report(const struct qemu_plugin_insn *insn) {
    enum { OPCODE = 0xc3 }; /* REX.W 0f c3: movnti */
    uint8_t bytes[INSN_BYTES];
    return interface_insn_bytes(insn, bytes) >= 4 && (bytes[0] & 0xf8) == 0x48 &&
           bytes[1] == 0x0f && bytes[2] == OPCODE;
}

/* ---- the first stack ---- */

static bool stack_told;

/* The first thing that a program stores is a return address, or else lies on its stack as well. */
static void on_first_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                           void *userdata) {
    uint64_t start, end;
    (void)userdata;
    if (stack_told || !qemu_plugin_mem_is_store(info))
        return;
    stack_told = true;
    if (code_mapping_at(address, &start, &end))
        tell(vcpu, MEMORY_STACK, start, end - start);
    /* The dynamic linker writes to the program's data before any of its code is executed. */
    if (qemu_plugin_start_code)
        (void)code_mapping_at(qemu_plugin_start_code(), &start, &end);
}

static void await_first_store(struct qemu_plugin_tb *tb) {
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_first_store,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

bool memory_instrument(struct qemu_plugin_tb *tb) {
    if (!code_tells_allocations(tb)) {
        if (!stack_told)
            await_first_store(tb);
        allocators_instrument(tb);
        return false;
    }
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        if (is_report(qemu_plugin_tb_get_insn(tb, i)))
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_report,
                                             QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    return true;
}

/* ---- system calls ---- */

static uint64_t pages_of(uint64_t size) {
    return (size + (1u << EXTENT_PAGE_BITS) - 1) >> EXTENT_PAGE_BITS;
}

static void tell_mapped(unsigned vcpu, uint64_t address, uint64_t size, bool of_file) {
    const uint32_t image = of_file ? code_image_at(address) : UINT32_MAX;
    const uint64_t known = image < (1u << EXTENT_IMAGE_BITS) - 1 ? image + 1 : 0;
    tell(vcpu, MEMORY_MAPPED, address, pages_of(size) << EXTENT_IMAGE_BITS | known);
}

/* Who gets memory of this thread, being made or woken, may be read only after what this thread did
 * until now. */
void memory_before_call(int64_t number) {
    const int isa = (int)plugin.control->isa;
    if (number == CALLS[isa].clone || number == CALLS[isa].clone3 || number == CALLS[isa].fork ||
        number == CALLS[isa].vfork || (plugin.threaded && number == CALLS[isa].futex))
        thread_publish();
}

void memory_call(unsigned vcpu, int64_t number, const uint64_t arguments[6], uint64_t result) {
    const int isa = (int)plugin.control->isa;
    if (number == CALLS[isa].mmap && arguments[3] & MAP_STACK) {
        tell(vcpu, MEMORY_STACK, result, arguments[1]);
    } else if (number == CALLS[isa].mmap) {
        tell_mapped(vcpu, result, arguments[1], !(arguments[3] & MAP_ANONYMOUS));
    } else if (number == CALLS[isa].munmap) {
        tell(vcpu, MEMORY_UNMAPPED, arguments[0], arguments[1]);
    } else if (number == CALLS[isa].mremap) {
        tell(vcpu, MEMORY_UNMAPPED, arguments[0], arguments[1]);
        tell_mapped(vcpu, result, arguments[2], true);
    } else if (number == CALLS[isa].brk && !heap_start) {
        heap_start = result;
    } else if (number == CALLS[isa].brk && result >= heap_start) {
        tell(vcpu, MEMORY_BREAK, heap_start, result - heap_start);
    }
}
