/* Lines of memory laid out anew, to simulate what that would save: accesses within such a line go
 * to lines of their own, at addresses that no program has.
 *
 *     padding         each byte lies in a line with the others of the thread that owns it, who
 *                     writes it most; a byte that nobody writes stays where it is. Whoever
 *                     accesses the byte does so there
 *     private copies  each thread has a line of its own for all bytes: what one thread wrote no
 *                     other reads, so that this is a bound, and no program
 *
 * Accesses that cross a line stay where they are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dynamic.h"

enum { REMEDY_PARTS = 64 }; /* of a line: bytes, of lines of up to 64 */

struct line_remedy {
    uint64_t address; /* of the line's first byte */
    uint32_t process;
    bool copies;                  /* else padding */
    uint32_t owner[REMEDY_PARTS]; /* padding: thread, by part; UINT32_MAX: none */
};

struct line_remedies {
    struct line_remedy *items; /* the caller's, by process and address: line_remedies_sort() */
    size_t count;
    uint32_t line_bytes;
    uint64_t filter[64]; /* bits of lines that may be among them */
};

/* Once the items are there. */
void line_remedies_sort(struct line_remedies *remedies);

/* Copies accesses of a thread of a process, those of such lines moved. */
void line_remedies_apply(const struct line_remedies *remedies, uint32_t process, uint32_t thread,
                         const struct memory_access *accesses, size_t count,
                         struct memory_access *moved);
