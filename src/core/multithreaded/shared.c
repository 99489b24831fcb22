/* The L2 that all cores share, behind a crossbar: a bank that is busy makes a request wait, and
 * nothing else does. */
#include "core/multithreaded/multithreaded.h"

/* Cycles that the request waits for its bank. */
static uint64_t bank_wait(struct chip *chip, uint64_t address, uint64_t cycle) {
    uint64_t *bank_free =
        &chip->bank_free[(address >> chip->l2.line_shift) & (chip->machine.chip.l2_banks - 1)];
    uint64_t from = *bank_free > cycle ? *bank_free : cycle;
    *bank_free = from + chip->machine.chip.bank_interval;
    return from - cycle;
}

void shared_serve(struct chip *chip, struct chip_core *core) {
    uint64_t address = core->request.address, victim;
    assert(core->clock >= chip->asked);
    chip->asked = core->clock;
    uint64_t there = core->clock + bank_wait(chip, address, core->clock) + chip->machine.l2.latency;
    size_t index = cache_find(&chip->l2, address);
    if (index != CACHE_NONE) {
        cache_touch(&chip->l2, index);
    } else {
        cache_insert(&chip->l2, address, 0, UINT64_MAX, 0, &victim);
        there += chip->machine.dram.latency;
    }
    chip_core_answer(chip, core, there, index == CACHE_NONE);
}
