/* Who takes which lock in the captured run, and how often threads come to barriers: known when all
 * threads have been read to their ends, one after the other. */
#include "simulate/together_state.h"

static bool count_piece(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
                        struct error *error) {
    struct guest_action action = {.what = DO_NOTHING};
    const uint32_t count = guest_look(chip, guest, piece, &action, error);
    if (count == UINT32_MAX)
        return false;
    if (action.what == DO_TAKE)
        lock_note_taker(action.lock, guest->thread);
    guest_input_give_back(&guest->input, piece->insn_count - count);
    return true;
}

static bool count_thread(struct chip_run *chip, uint32_t thread, struct error *error) {
    struct guest guest = {.thread = thread, .routine_call = UINT32_MAX};
    struct guest_next next;
    enum guest_step step = GUEST_FAILED;
    bool good =
        guest_input_open(&guest.input, chip->options->path, chip->run->trace, thread, error);
    while (good && !watcher_stops(&chip->run->options->watcher) &&
           (step = guest_input_next(&guest.input, TRACE_BATCH_INSNS, &next, error)) != GUEST_END)
        good = step != GUEST_FAILED &&
               (step != GUEST_INSNS || count_piece(chip, &guest, &next.piece, error));
    guest_input_close(&guest.input);
    return good;
}

bool chip_count_locks(struct chip_run *chip, struct error *error) {
    bool good = true;
    chip->counting = true;
    for (uint32_t i = 0; i < chip->thread_count && good; i++)
        if (chip->process_of[i] == chip->process)
            good = count_thread(chip, i, error);
    chip->counting = false;
    chip->counted = good;
    return good;
}
