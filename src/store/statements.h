/* Inside of this room: the statements that it runs, by number. */
#pragma once

enum statement_number {
    ADD_SESSION,
    UPDATE_SESSION,
    WEIGH_SESSION,
    LIST_SESSIONS,
    LIST_SUMS,
    NAME_SESSIONS,    /* of a list of numbers, in any order */
    SESSIONS_BETWEEN, /* that reach behind ?1 and began before ?2, but for sums */
    OTHER_SESSIONS,   /* those that HOST_DAYS leaves out, but for sums */
    HOST_DAYS,
    ADD_EVENT,
    LIST_EVENTS,
    NAME_EVENTS, /* of a list of sessions, those of one together */
    EVENT_TOTAL,
    FIND_IMAGE,
    ADD_IMAGE,
    GET_IMAGE,
    LIST_IMAGES,
    SET_SYMBOLS,
    GET_SYMBOLS,
    FIND_PROCESS,
    ADD_PROCESS,
    FIND_PROFILE,
    ADD_PROFILE,
    SET_PROFILE,
    WALK_PROFILES,
    WALK_IMAGES,
    FIND_CALLS,
    ADD_CALLS,
    SET_CALLS,
    WALK_CALLS,
    ADD_CALLS_IMAGE,
    HAS_CALLS_IMAGE,
    HAS_SLICES,
    /* Of one session, its number the only parameter. */
    ERASE_CALLS_IMAGES,
    ERASE_CALLS,
    ERASE_PROFILES,
    ERASE_PROCESSES,
    ERASE_EVENTS,
    ERASE_SENT,
    ERASE_SESSION,
    ERASE_SLICED_CALLS_IMAGES,
    ERASE_SLICED_CALLS,
    ERASE_SLICED_PROFILES,
    ERASE_SLICED_PROCESSES,
    SWEEP_IMAGES,
    SWEEP_SYMBOLS,
    SWEEP_SENT_SYMBOLS,
    CHECK_SYMBOLS,
    CHECK_PROFILES,
    CHECK_CALLS,
    /* Of a file alone: what was sent of it (push.h). */
    GET_IDENTITY,
    SET_SERVER,
    LIST_WAITING,
    ADD_SENT,
    GIVE_UP,
    WAS_SENT,
    SESSION_IMAGES,
    SESSION_PROCESSES,
    SESSION_PROFILES,
    SESSION_CALLS,
    GET_SENT_SYMBOLS,
    SET_SENT_SYMBOLS,
    STATEMENT_COUNT
};

/* As every back end takes them, parameters as ?1, ?2 ... A back end may have one of its own in the
 * place of any. */
extern const char *const STATEMENTS[STATEMENT_COUNT];

#define SESSION_COLUMNS                                                                            \
    "id, kind, name, host, kernel, processor, weight, start, \"end\", unknown, dropped, saved"
#define EVENT_COLUMNS "event.id, event.name, unit, period, period_unit, precise"

/* A process as a row of a walk has it, from one column on. */
#define PROCESS_COLUMNS "command, executable, pid, thread, processor, cgroup, \"begin\", \"end\""
/* Processes in slices of one session. */
#define SLICED                                                                                     \
    "session = ?1 AND (pid <> 0 OR thread <> 0 OR processor <> 0 OR \"begin\" <> 0 OR "            \
    "\"end\" <> 0)"
