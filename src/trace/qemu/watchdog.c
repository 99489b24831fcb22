/* Looks, while nothing comes, whether anything still can: whether a process has executed nothing
 * for some seconds while each of its threads waits in a futex, without a time limit, for another of
 * them. Then it says once which thread waits where, and for whom, as far as that is known: a mutex
 * of glibc names its owner, the word that pthread_join() waits for its thread. What a guest may
 * have written over the table is not believed further than that it is printed. */
#include "trace/qemu/capture.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

#include "program/program.h"
#include "util/clock.h"
#include "util/file_name.h"

enum { MOST_TOLD = 4, TEXT_BYTES = 1024 };
#define PATIENCE 5.0 /* seconds */

/* Grows with whatever is executed. */
static uint64_t progress_of(struct ring_control *control) {
    uint64_t progress = atomic_load(&control->published);
    const uint32_t high = atomic_load(&control->chunk_high);
    for (uint32_t i = 0; i < high && i < RING_CHUNKS; i++)
        progress += atomic_load_explicit(&ring_chunk(control, i)->insns, memory_order_relaxed);
    return progress;
}

/* Of the processes that are alive: places of threads that wait forever. 0: a thread does not. */
static uint32_t waiting(const struct capture *capture,
                        const struct ring_wait *waits[RING_WAIT_SLOTS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < RING_WAIT_SLOTS; i++) {
        const struct ring_wait *wait = &capture->control->waits[i];
        const uint32_t state = atomic_load(&wait->state);
        if (state == RING_WAITS_NOT || wait->slot >= RING_PROCESSES ||
            !capture->slots[wait->slot].live)
            continue;
        if (state != RING_WAITS_FOREVER)
            return 0;
        waits[count++] = wait;
    }
    return count;
}

/* " in want (stuck.c:8)": where the program called what waits, through the linkage table and the
 * dynamic loader perhaps. Empty: not known. */
static void name_place(const struct capture *capture, const struct ring_wait *wait,
                       struct program *program, char *text, size_t size) {
    const struct block_table *owner;
    uint32_t kernel_image = UINT32_MAX;
    text[0] = 0;
    for (uint32_t i = 0; i < wait->block_count && i < RING_WAIT_BLOCKS; i++) {
        const struct kept_block *block =
            blocks_find(capture->slots[wait->slot].blocks, wait->blocks[i], &owner);
        struct location location;
        if (!block || block->image >= capture->images.count)
            continue;
        if (kernel_image == UINT32_MAX)
            kernel_image = block->image;
        const struct image *image = &capture->images.items[block->image];
        const uint32_t number =
            program_add_image(program, image->path, image->build_id, image->build_id_size);
        if (block->image == kernel_image || strncmp(file_base_name(image->path), "ld-", 3) == 0 ||
            !program_locate(program, number, block->offset + block->size - 1, &location) ||
            strstr(location.function, "@plt"))
            continue;
        if (location.file)
            snprintf(text, size, " in %s (%s:%" PRIu32 ")", location.function,
                     file_base_name(location.file), location.line);
        else
            snprintf(text, size, " in %s", location.function);
        return;
    }
}

/* The waiting thread that has what this one waits for, or whose end that is. NULL: not known. */
static const struct ring_wait *holder(const struct ring_wait *wait,
                                      const struct ring_wait *waits[RING_WAIT_SLOTS],
                                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (waits[i] != wait && waits[i]->slot == wait->slot && waits[i]->tid &&
            (waits[i]->tid == wait->owner ||
             waits[i]->tid == (wait->expected & (uint32_t)FUTEX_TID_MASK)))
            return waits[i];
    return NULL;
}

static void tell(struct capture *capture, const struct ring_wait *waits[RING_WAIT_SLOTS],
                 uint32_t count) {
    char text[TEXT_BYTES], place[TEXT_BYTES / 4];
    struct program *program = program_new_local();
    size_t used =
        (size_t)snprintf(text, sizeof text, "nothing was executed for %g s, for ", PATIENCE);
    for (uint32_t i = 0; program && i < count && i < MOST_TOLD && used < sizeof text; i++) {
        const struct ring_wait *other = holder(waits[i], waits, count);
        name_place(capture, waits[i], program, place, sizeof place);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%sthread %" PRIu32 " waits%s at address 0x%" PRIx64,
                                 i ? "; " : "", waits[i]->thread, place, waits[i]->address);
        if (other && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " for thread %" PRIu32,
                                     other->thread);
    }
    if (count > MOST_TOLD && used < sizeof text)
        snprintf(text + used, sizeof text - used, "; and %" PRIu32 " more threads wait",
                 count - MOST_TOLD);
    if (program)
        capture_note(capture, "%s", text);
    if (program && capture->stuck)
        capture->stuck(capture->waiting_context, text);
    program_free(program);
}

void watchdog_look(struct capture *capture) {
    struct watchdog *dog = &capture->watchdog;
    const struct ring_wait *waits[RING_WAIT_SLOTS];
    if (atomic_load(&capture->control->most_threads) < 2 || dog->told ||
        atomic_load(&capture->control->waits_missed) || capture->interrupted)
        return;
    const uint64_t progress = progress_of(capture->control);
    const double now = clock_monotonic();
    if (progress != dog->progress || !dog->since) {
        dog->progress = progress;
        dog->since = now;
    }
    if (now - dog->since < PATIENCE)
        return;
    const uint32_t count = waiting(capture, waits);
    dog->told = count > 0;
    if (count)
        tell(capture, waits, count);
}
