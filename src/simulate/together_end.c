/* The end of all threads at once: the program is over, or its simulation interrupted. */
#include "core/core.h"
#include "simulate/together_state.h"

/* What the thread waits for under way counts as long as it has lasted. */
static bool note_last_wait(struct chip_run *chip, struct guest *guest, uint64_t cycle,
                           struct error *error) {
    return (guest->state != THREAD_LOCKED && guest->state != THREAD_WAITING &&
            guest->state != THREAD_SPINNING) ||
           guest_note_wait(chip, guest, cycle, 0, false, error);
}

bool chip_end_here(struct chip_run *chip, struct error *error) {
    chip->latest = chip->exit != NOT_YET ? chip->exit : chip->latest;
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        enum core_state state = CORE_PAUSED;
        if (guest->state != THREAD_RUNNING)
            continue;
        while (!chip_is_fast(chip) && state != CORE_EMPTY)
            if ((state = core_run(guest->lane->core, NOT_YET, NOT_YET, true, error)) == CORE_FAILED)
                return false;
        const uint64_t cycle = guest_cycle(chip, guest);
        chip->latest = cycle > chip->latest ? cycle : chip->latest;
    }
    for (uint32_t i = 0; i < chip->alive_count; i++) {
        struct guest *guest = &chip->guests[chip->alive[i]];
        const uint64_t cycle = guest->state == THREAD_RUNNING ? guest_cycle(chip, guest)
                               : chip->latest > guest->since  ? chip->latest
                                                              : guest->since;
        if (!note_last_wait(chip, guest, cycle, error) ||
            !guest_end_life(chip, guest, cycle, error))
            return false;
    }
    return true;
}

void chip_count_cut(struct chip_run *chip) {
    for (uint32_t i = 0; i < chip->thread_count; i++) {
        const struct guest *guest = &chip->guests[i];
        if (chip->process_of[i] != chip->process)
            continue;
        const uint64_t done = guest_place(guest);
        if (guest->life == GUEST_UNBORN)
            chip->result->cut += chip->insns_of[i];
        else if (guest->life == GUEST_ALIVE && done < chip->insns_of[i])
            chip->result->cut += chip->insns_of[i] - done;
    }
}
