/* Loops that wait for another thread without a system call: they load a word again and again and
 * store nothing, and such a word is watched (plugin_order.c). A block that may be all of such a
 * loop branches back to where it begins, or ends in an instruction that says that the thread waits.
 * Now and then, as it is entered, the thread's last events are looked at: two rounds that are alike
 * show which words it waits for. */
#include "trace/qemu/plugin.h"

#include <sched.h>
#include <string.h>

#include "isa/insn.h"

enum {
    ROUND_EVENTS = 32,  /* of two rounds of a loop that spins */
    SPIN_INTERVAL = 16, /* entries of a loop of one block between looks at it, */
    PAUSE_INTERVAL = 2  /* and of a block that pauses: libstdc++ does so 12 times, then sleeps */
};

static THREAD_LOCAL uint32_t spins, pauses;

/* ---- rounds ---- */

/* The last events, the last first, are two rounds that are alike: each `size` long, down to its
 * block, without a store and with a load. */
static uint32_t round_of(const uint64_t *events, uint32_t count, uint32_t block) {
    uint32_t size = 1, loads = 0;
    while (size < count && events[size] != event_block(block)) {
        if (event_kind(events[size]) == EVENT_STORE || event_kind(events[size]) == EVENT_MARK)
            return 0;
        loads += event_kind(events[size]) == EVENT_LOAD;
        size++;
    }
    return loads && 2 * size < count &&
                   memcmp(events + 1, events + 1 + size, size * sizeof *events) == 0
               ? size
               : 0;
}

/* Who spins gives the processor to others: whoever it waits for may be among them, and would else
 * run only once the kernel ends the spinning thread's time, hundreds of thousands of instructions
 * later. */
static void look_at_rounds(uint32_t block) {
    uint64_t events[ROUND_EVENTS];
    const uint32_t count = thread_last_events(events, ROUND_EVENTS);
    const uint32_t size =
        count && events[0] == event_block(block) ? round_of(events, count, block) : 0;
    for (uint32_t i = 1; i < size; i++)
        if (event_kind(events[i]) == EVENT_LOAD)
            order_watch_spun(event_address(events[i]));
    if (size)
        sched_yield();
}

void spin_enters(uint32_t block) {
    if (++spins % SPIN_INTERVAL == 0 && plugin.threaded)
        look_at_rounds(block);
}

void spin_pauses(uint32_t block) {
    if (++pauses % PAUSE_INTERVAL == 0 && plugin.threaded)
        look_at_rounds(block);
}

/* ---- blocks ---- */

/* Where a conditional branch or a jump at the end of a block leads; 0: not known. */
static uint64_t target_x86(const uint8_t *bytes, size_t size, uint64_t address) {
    int32_t far;
    if (size == 2 && ((bytes[0] & 0xf0) == 0x70 || bytes[0] == 0xeb))
        return address + size + (uint64_t)(int64_t)(int8_t)bytes[1];
    const bool conditional = size == 6 && bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80;
    if (!conditional && !(size == 5 && bytes[0] == 0xe9))
        return 0;
    memcpy(&far, bytes + size - 4, sizeof far);
    return address + size + (uint64_t)(int64_t)far;
}

/* c.beqz, c.bnez and the branches of 32 bits, which lead backwards. */
static uint64_t target_riscv(const uint8_t *bytes, size_t size, uint64_t address) {
    uint32_t word = 0;
    memcpy(&word, bytes, size < 4 ? size : 4);
    if (size == 4 && (word & 0x7f) == 0x63)
        return address + (uint64_t)((int64_t)(int32_t)(word & 0x80000000) >> 19 |
                                    (int64_t)((word & 0x80) << 4 | (word >> 20 & 0x7e0) |
                                              (word >> 7 & 0x1e)));
    if (size == 2 && (word & 0xc003) == 0xc001)
        return address + (uint64_t)((word & 0x1000 ? -INT64_C(0x100) : 0) |
                                    (int64_t)((word >> 7 & 0x18) | (word << 1 & 0xc0) |
                                              (word >> 2 & 6) | (word << 3 & 0x20)));
    return 0;
}

static bool is_pause(const uint8_t *bytes, size_t size) {
    static const uint8_t X86[] = {0xf3, 0x90}, RISCV[] = {0x0f, 0x00, 0x00, 0x01};
    return plugin.control->isa == ISA_X86_64 ? size == 2 && memcmp(bytes, X86, 2) == 0
                                             : size == 4 && memcmp(bytes, RISCV, 4) == 0;
}

/* It ends where it begins, or in an instruction that says that the thread waits. */
enum spin_loop spin_loop_of(const struct qemu_plugin_tb *tb, const struct block *block) {
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, block->insn_count - 1);
    uint8_t bytes[INSN_BYTES];
    const size_t size = interface_insn_bytes(last, bytes);
    const uint64_t address = qemu_plugin_insn_vaddr(last);
    const uint64_t target = plugin.control->isa == ISA_X86_64 ? target_x86(bytes, size, address)
                                                              : target_riscv(bytes, size, address);
    return is_pause(bytes, size)                ? SPIN_PAUSES
           : target == qemu_plugin_tb_vaddr(tb) ? SPIN_LOOPS
                                                : SPIN_NO_LOOP;
}
