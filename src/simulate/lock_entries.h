/* Where threads meet by name: the entries of the C library that lock, unlock and wait, by the
 * addresses of their first instructions. C++ and others call them. */
#pragma once

#include <stdint.h>

#include "program/program.h"
#include "trace/dynamic.h"
#include "util/error.h"

enum lock_entry {
    ENTRY_NONE,
    ENTRY_LOCK,      /* waits until nobody has the lock, then has it */
    ENTRY_READ_LOCK, /* waits until nobody has it to write */
    ENTRY_UNLOCK,
    ENTRY_CONDITION, /* unlocks the lock taken last, waits for a signal, locks again */
    ENTRY_BARRIER,
    ENTRY_SIGNAL, /* of a condition, to one or all */
    ENTRY_TRY,    /* has the lock behind it, or does not: as in the captured run */
    ENTRY_TRY_READ,
    ENTRY_TRY_SPIN,     /* the same: its instructions do not tell whether it has it */
    ENTRY_READ_BY_TIME, /* the same, waiting for it no longer than to some time */
    ENTRIES
};

/* What the scheduler asks of every instruction: the low bits are an enum lock_entry that begins
 * with it. */
enum {
    LOCK_ENTRY = 15,
    LOCK_ATOMIC = 1 << 4,
    LOCK_CALL = 1 << 5,
    LOCK_RETURN = 1 << 6,
    LOCK_INTERNAL = 1 << 7,  /* anywhere in a routine by lock_routine_is_internal() */
    LOCK_MONITOR = 1 << 8,   /* by lock_routine_is_monitor() */
    LOCK_FOR_CALLER = 1 << 9 /* by lock_routine_is_for_caller() */
};

struct lock_entries;
struct lock_entries *lock_entries_new(struct error *error);
void lock_entries_free(struct lock_entries *entries);

/* By static instruction, of all that the code has; good until the next call. NULL: no memory. */
const uint16_t *lock_entries_of(struct lock_entries *entries, const struct code *code);
