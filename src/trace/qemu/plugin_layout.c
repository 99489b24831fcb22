/* Moves the guest's memory (trace/memory_layout.h); the stack is moved by the emulator's own option
 * (emulator.h).
 *
 * The emulator maps what may lie anywhere, the program first, from `mmap_next_start` on, and gives
 * out brk() from the end of the program. Both are moved before the guest executes anything: the
 * first when the plugin is loaded, which is before the program is, and in its first system call,
 * when program, stack and loader are mapped and its libraries are not; brk() in that call, too. An
 * emulator that does not export these names moves nothing, and culprit says so. */
#include "trace/qemu/plugin.h"

#include <dlfcn.h>

#include "trace/memory_layout.h"

/* Where it looks for room at first. */
static const uint64_t BASE = 0x4000000000;

static uint64_t *next_start;
static bool placed; /* brk() and libraries */

static uint64_t bytes_of(uint32_t pages) {
    return (uint64_t)pages * MEMORY_LAYOUT_PAGE;
}

void layout_place_program(void) {
    struct ring_control *control = plugin.control;
    next_start = dlsym(RTLD_DEFAULT, "mmap_next_start");
    if (!control->fixed || !next_start || *next_start != BASE)
        return;
    *next_start += bytes_of(control->memory.program_pages);
    atomic_fetch_or(&control->moved, RING_MOVED_MAPPINGS);
}

static void move_heap(struct ring_control *control) {
    union {
        void *symbol;
        int64_t (*call)(uint64_t end);
    } do_brk = {.symbol = dlsym(RTLD_DEFAULT, "do_brk")};
    if (!do_brk.symbol)
        return;
    const uint64_t wanted = (uint64_t)do_brk.call(0) + control->memory.heap_bytes;
    if (control->memory.heap_bytes == 0 || (uint64_t)do_brk.call(wanted) == wanted)
        atomic_fetch_or(&control->moved, RING_MOVED_HEAP);
}

void layout_place_rest(void) {
    struct ring_control *control = plugin.control;
    if (placed)
        return;
    placed = true;
    if (!control->fixed)
        return;
    if (next_start && *next_start >= BASE)
        *next_start += bytes_of(control->memory.library_pages);
    move_heap(control);
}
