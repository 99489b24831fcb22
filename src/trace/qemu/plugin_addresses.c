/* Whether captured blocks tell of their accesses. They take most of the time of a capture, and who
 * only counts blocks of what is too long to be kept does without (capture_options.counted). While
 * translations are run by one thread, and no limit is to be met exactly, such blocks are counted in
 * generated code (plugin_count.c), and no events are told of. What is behind a system call that
 * cannot be repeated, or that makes a thread or a process, may be decoded: from there on, to the
 * end of the run, events and their accesses are told of again.
 *
 * A change is a phase of its own, so that a chunk has the accesses of all its blocks or of none. It
 * depends on what was executed alone: the same run gives the same chunks. */
#include "trace/qemu/plugin.h"

static bool left_out; /* from the next phase on */

void addresses_begin_phase(void) {
    const struct ring_control *control = plugin.control;
    const bool needed = !left_out || atomic_load(&control->addresses_needed);
    plugin.addresses = control->addresses && needed;
    plugin.counting = control->slice_size || (!needed && !plugin.parallel && !control->limited);
}

static void begin_next_phase(void) {
    uint32_t phase = atomic_load(&plugin.control->phase);
    if (ring_activity(phase) == RING_CAPTURE)
        atomic_compare_exchange_strong(&plugin.control->phase, &phase, ring_next_capture(phase));
    plugin_follow_phase();
}

void addresses_chunk_ended(uint64_t position) {
    const struct ring_control *control = plugin.control;
    if (!control->counted.from || position <= control->counted.from || left_out ||
        plugin.threaded || atomic_load(&control->addresses_needed))
        return;
    left_out = true;
    begin_next_phase();
}

void addresses_needed(void) {
    struct ring_control *control = plugin.control;
    atomic_store(&control->addresses_needed, 1);
    if (plugin.addresses || !control->addresses)
        return;
    plugin.addresses = true; /* also for what a new thread translates before the reset */
    if (plugin.counting)
        count_end();
    else
        thread_publish();
    plugin.counting = false;
    begin_next_phase();
}
