/* Triggers (paper C §3): a worker sees only what lies between a start and a stop.
 *
 * Both are events of one core: a cycle, an instruction (by how many have committed before it), or a
 * marker: the n-th time that the instruction at an address commits. The worker sees the records
 * from the first one in or after which the start comes true, up to but not including the first one
 * in or after which the stop does. A commit group is not divided. */
#pragma once

#include "tap/places.h"
#include "tap/tap.h"

enum trigger_kind { TRIGGER_NONE, TRIGGER_CYCLE, TRIGGER_INSTRUCTION, TRIGGER_MARKER };

struct trigger {
    enum trigger_kind kind; /* NONE as start: at once; as stop: never */
    uint64_t value;         /* cycle, instructions, or address */
    uint64_t count;         /* marker: of its executions, from 1 */
};

/* "cycle:N", "insn:N", "0xADDRESS" or "0xADDRESS:N". The error says what would be right. */
bool trigger_parse(const char *text, struct trigger *trigger, struct error *error);

/* A worker behind a gate with a start and a stop, for one tap. `places` is read for markers only;
 * it must have learned the code. The inner worker's context must live as long as the gate. NULL:
 * out of memory. */
struct gate;
struct gate *gate_new(const struct tap_worker *worker, const struct trigger *start,
                      const struct trigger *stop, const struct places *places);
void gate_free(struct gate *gate);
/* Sets *started and *stopped if the start and the stop have come, and leaves them as they are if
 * not. Does nothing if `gate` is NULL. */
void gate_tell(const struct gate *gate, bool *started, bool *stopped);
/* The worker to add to the tap instead of the inner one. */
struct tap_worker gate_worker(struct gate *gate);
