/* Which process of a list one of this run is again (struct capture_process): the same executable,
 * command, execs and forker; among several that are alike the one of the same fork, or, where the
 * order of forks has changed, the first that nobody is yet. Where no command is the same, since it
 * holds the name of a temporary file, say, it is the one of the same executable and fork. A process
 * that has not called exec counts as its forker does, and the first process is always the first of
 * the list: its arguments may differ. */
#pragma once

#include "trace/item.h"

enum { PROCESS_UNKNOWN = UINT32_MAX };

struct process_match {
    const struct capture_process *list; /* the caller's */
    size_t count;
    bool *taken;     /* by index in the list */
    uint32_t *known; /* by number in this run: index in the list */
    size_t known_count, known_capacity;
};

/* False: out of memory. */
bool process_match_init(struct process_match *match, const struct capture_process *list,
                        size_t count);
/* Its index; PROCESS_UNKNOWN: none of the list. With an empty list, its own number. Processes come
 * with their numbers ascending, so that the forker came before. */
uint32_t process_match_add(struct process_match *match, const struct item_process *process);
void process_match_free(struct process_match *match);
