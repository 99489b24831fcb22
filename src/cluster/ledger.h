/* Inside of this room: what is known of each task, and what becomes of it.
 *
 *     open ──submitted──► out ──result──► done
 *       ▲                  │ its job has ended, and no result came within the grace
 *       └──── again ───────┴──► failed: submitted three times, or cancelled by somebody
 *
 * Until then a result counts whenever it comes, also of a job that was given up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/slurm.h"

enum { LEDGER_TRIES = 3, LEDGER_WHY = 400 };

enum task_state { TASK_OPEN, TASK_OUT, TASK_DONE, TASK_FAILED };

struct task_record {
    enum task_state state;
    uint32_t tries;      /* submissions that count */
    uint32_t submission; /* the last: its number, */
    uint32_t element;    /* element of the array */
    uint32_t number;     /* and line of the file of tasks */
    double ended;        /* when the job was first seen to have ended; 0: not so */
    bool runs;
};

void ledger_submitted(struct task_record *record, uint32_t submission, uint32_t element,
                      uint32_t number);
/* Of a task that is out and has no result so far, what its job says: the element of the list that
 * was just read, or NULL. `now` in seconds, above 0. Returns the state that it is in now: open when
 * it is to be submitted again. */
enum task_state ledger_judge(struct task_record *record, const struct slurm_element *element,
                             double now, double grace);
/* "job 11_3 on node2 ended over its time limit (TIMEOUT)". */
void ledger_why(const struct slurm_element *element, uint64_t array, uint32_t index, char *why,
                size_t size);

/* Seconds between two looks at the folder of results, at most, with so many tasks out. The end is
 * seen late by as much, and it is far while many are out. */
double ledger_look(size_t out);

/* How many tasks one job does, so that a job is worth its start, and there are no more jobs than
 * `most`. `each` as was wished, 0: this decides; `seconds` that a task takes. */
uint32_t ledger_each(size_t tasks, uint32_t each, double seconds, uint32_t most);
/* Arrays of at most `largest` elements each: how many elements the one has that begins behind
 * `begun`. */
uint32_t ledger_array(size_t elements, size_t begun, uint32_t largest);
