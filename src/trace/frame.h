/* Accesses in the stream of a block that the block did not make.
 *
 * QEMU 7.2 leaves the memory callbacks of the last instruction that called a helper in place. What
 * the emulator itself then does through the same functions arrives as accesses of that instruction:
 *
 *   - after a system call, segment descriptors that it loads, and the state that rt_sigreturn()
 *     restores;
 *   - between two blocks, the frame of a signal, which begins with what FXSAVE or XSAVE stores.
 *
 * Both come behind all accesses that the block made itself. */
#pragma once

#include "trace/code.h"

/* Events [begin, end) are the emulator's; equal: none are. */
struct foreign_events {
    size_t begin, end;
    bool signal; /* they hold the frame of a signal */
};

/* `events` are those that follow the event of `block`, up to the next block. */
struct foreign_events foreign_events(const struct code_table *table, const struct code_block *block,
                                     const uint64_t *events, size_t count);
