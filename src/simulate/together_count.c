/* Who takes which lock in the captured run, and how often threads come to barriers: known when all
 * threads have been read to their ends, one after the other. */
#include "simulate/together_state.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

/* What the thread does before the instruction at this place. A lock that it has tried for it had if
 * it gives it back before it wants it again: what it did not get it has not to give. */
static bool note(struct chip_run *chip, const struct guest *guest,
                 const struct guest_action *action, uint64_t place) {
    struct lock *lock = action->lock;
    if (action->what == DO_GIVE && !array_push(chip->tries, chip->try_capacity, chip->try_count,
                                               (struct lock_try){guest->thread, lock->try}))
        return false;
    if (!action->tries)
        lock_note_taker(lock, guest->thread);
    lock->tried = action->tries;
    lock->try = place;
    return true;
}

static bool count_piece(struct chip_run *chip, struct guest *guest, const struct trace_batch *piece,
                        struct error *error) {
    struct guest_action action = {.what = DO_NOTHING};
    const uint32_t count = guest_look(chip, guest, piece, &action, error);
    if (count == UINT32_MAX)
        return false;
    guest_input_give_back(&guest->input, piece->insn_count - count);
    return action.what == DO_NOTHING ||
           note(chip, guest, &action, guest_input_position(&guest->input)) ||
           error_set(error, "out of memory for locks");
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

ORDER(by_thread_and_place, struct lock_try,
      ascending(a->thread, b->thread) ?: ascending(a->place, b->place))

/* Those of a thread's last tries that it did not give back. */
static void forget_tries(struct chip_run *chip) {
    for (size_t i = 0; i < chip->locks.count; i++)
        chip->locks.locks[i]->tried = false;
}

bool chip_count_locks(struct chip_run *chip, struct error *error) {
    bool good = true;
    chip->counting = true;
    chip->try_count = 0;
    for (uint32_t i = 0; i < chip->thread_count && good; i++)
        if (chip->process_of[i] == chip->process) {
            good = count_thread(chip, i, error);
            forget_tries(chip);
        }
    if (chip->try_count)
        qsort(chip->tries, chip->try_count, sizeof *chip->tries, by_thread_and_place);
    chip->counting = false;
    chip->counted = good;
    return good;
}

void chip_know_locks(struct chip_run *chip) {
    struct error error;
    if (chip->counted || chip_count_locks(chip, &error))
        return;
    for (size_t i = 0; i < chip->locks.count; i++)
        chip->locks.locks[i]->arrivals = 0;
    chip->try_count = 0;
    chip->counted = true;
}

bool chip_had_tried(struct chip_run *chip, uint32_t thread, uint64_t place) {
    const struct lock_try key = {thread, place};
    chip_know_locks(chip);
    return chip->try_count &&
           bsearch(&key, chip->tries, chip->try_count, sizeof key, by_thread_and_place);
}
