/* Where a fault left its block. The emulator reports blocks as they are entered; an instruction
 * that faults, and those behind it in the block, are not executed. The frame of the signal tells
 * which instruction it was: struct ucontext has its address. So the plugin keeps the address of
 * each block, and the lengths of its instructions.
 *
 * QEMU translates under a lock; blocks are only ever added, in front, and never freed, since QEMU
 * does not report when it forgets one. */
#include "trace/qemu/plugin.h"

#include <signal.h>
#include <stdlib.h>

#include "isa/insn.h"

enum { BUCKETS = 1 << 16, BUCKET_BYTES = 256, SIGNALS = 64 };

struct place {
    struct place *next;
    uint64_t address;
    uint32_t number, insn_count;
    uint8_t lengths[];
};

static struct place *_Atomic places[BUCKETS]; /* by address of the block */

static struct place *_Atomic *bucket_of(uint64_t address) {
    return &places[address / BUCKET_BYTES % BUCKETS];
}

static bool is_known(uint64_t address, uint32_t number, uint32_t insn_count) {
    const struct place *place = atomic_load(bucket_of(address));
    for (; place; place = place->next)
        if (place->address == address && place->number == number && place->insn_count == insn_count)
            return true;
    return false;
}

void fault_note_block(const struct qemu_plugin_tb *tb, uint32_t number, uint32_t insn_count) {
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    if (is_known(address, number, insn_count))
        return;
    struct place *place = malloc(sizeof *place + insn_count);
    if (!place)
        return;
    *place = (struct place){atomic_load(bucket_of(address)), address, number, insn_count};
    for (uint32_t i = 0; i < insn_count; i++)
        place->lengths[i] = (uint8_t)qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
    atomic_store(bucket_of(address), place);
}

/* The index of the instruction at the address, or insn_count. */
static uint32_t index_of(const struct place *place, uint64_t address) {
    uint64_t at = place->address;
    for (uint32_t i = 0; i < place->insn_count && at <= address; at += place->lengths[i++])
        if (at == address)
            return i;
    return place->insn_count;
}

bool fault_next_block(struct fault_search *search, struct fault *fault) {
    enum { MOST = RING_MAX_BLOCK_INSNS * 15 / BUCKET_BYTES }; /* buckets that a block spans */
    for (;;) {
        const struct place *place = search->next;
        if (place) {
            search->next = place->next;
            uint32_t index = index_of(place, search->pc);
            *fault = (struct fault){place->number, index, place->insn_count};
            if (index < place->insn_count)
                return true;
        } else {
            uint64_t back = (uint64_t)search->bucket++ * BUCKET_BYTES;
            if (search->bucket > MOST || back > search->pc)
                return false;
            search->next = atomic_load(bucket_of(search->pc - back));
        }
    }
}

/* Which guest registers hold the arguments of a handler, and where struct ucontext has the address
 * (Linux, arch/x86/include/uapi/asm/sigcontext.h, arch/riscv/include/uapi/asm/ucontext.h). */
static const struct abi {
    unsigned signal, info, context; /* registers, in the emulator's order */
    unsigned pc;                    /* bytes into struct ucontext */
} X86_64 = {7, 6, 2, 40 + 16 * 8}, RISCV64 = {10, 11, 12, 176};

static bool follows_call(uint64_t pc) {
    uint8_t before[2];
    return guest_read(pc - sizeof before, before, sizeof before) && before[0] == 0x0f &&
           before[1] == 0x05; /* syscall */
}

/* A signal that an instruction raised, rather than kill(), has a positive code. x86-64 has struct
 * siginfo only for handlers with SA_SIGINFO; of others, a signal that is known for faults is taken
 * for one, except where the program has just called the kernel, as by raise(). */
bool fault_at(const uint64_t *registers, uint64_t *pc) {
    bool x86 = plugin.control->isa == ISA_X86_64;
    const struct abi *abi = x86 ? &X86_64 : &RISCV64;
    int32_t info[3]; /* signal, errno, code */
    if (!registers || !guest_read(registers[abi->info], info, sizeof info) ||
        !guest_read(registers[abi->context] + abi->pc, pc, sizeof *pc))
        return false;
    uint64_t signal = registers[abi->signal];
    bool told = (uint64_t)info[0] == signal;
    if (told ? info[2] <= 0 : !x86 || !signal_is_fault(signal) || follows_call(*pc))
        return false;
    if (x86 && signal == SIGTRAP)
        --*pc; /* int3, one byte, is done when it traps */
    return true;
}
