/* What an import has read so far: values by process, image, event and offset, summed, and symbols.
 * Memory grows with what is distinct, not with the length of the file. Numbers of processes, images
 * and events are dense, from 0; GATHERED_NONE: out of memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/call_tree.h"
#include "store/store.h"
#include "util/intern.h"

#define GATHERED_NONE INTERN_NONE

struct gathered_event {
    uint32_t name, unit, period_unit; /* strings */
    bool precise;
    uint64_t period_sum, period_count; /* of what was added: their quotient is the mean */
};

/* Of one process and event; the images of its calls are numbers + 1. */
struct gathered_calls {
    uint32_t process, event;
    struct call_tree tree;
};

struct gathered {
    struct intern strings;
    struct intern processes; /* keys: see gathered.c */
    struct intern images;
    struct intern event_keys; /* numbers index `events` */
    struct gathered_event *events;
    size_t event_capacity;
    struct intern entries; /* numbers index `values` */
    uint64_t *values;
    size_t value_capacity;
    struct gathered_calls *calls;
    size_t calls_count, calls_capacity;
    bool has_callers;      /* some stack has more than one frame: else they are not saved */
    struct intern symbols; /* numbers index `symbol_sizes` */
    uint64_t *symbol_sizes;
    size_t symbol_capacity;
};

void gathered_free(struct gathered *gathered);

uint32_t gathered_process(struct gathered *gathered, const char *command, const char *executable);
uint32_t gathered_image(struct gathered *gathered, enum image_kind kind, const char *path,
                        const uint8_t *build_id, size_t build_id_size);
/* Of one name and unit; `precise` as it first came. */
uint32_t gathered_event(struct gathered *gathered, const char *name, const char *unit,
                        const char *period_unit, bool precise);
/* `count` samples were `sum` period units apart in all. */
void gathered_period(struct gathered *gathered, uint32_t event, uint64_t sum, uint64_t count);

struct gathered_key {
    uint64_t offset;
    uint32_t process, image, event, signature;
};
/* Sums saturate at INT64_MAX. False: out of memory. */
bool gathered_add(struct gathered *gathered, const struct gathered_key *key, uint64_t value);

/* Adds a stack as well: its frames in key's order, the innermost, which is the key's place, first.
 */
struct gathered_frame {
    uint32_t image;
    uint64_t offset; /* of a caller: within its call */
};
bool gathered_add_stack(struct gathered *gathered, const struct gathered_key *key,
                        const struct gathered_frame *frames, size_t count, uint64_t value);

/* A name for [start, start + size) of an image; the largest size given counts. */
bool gathered_symbol(struct gathered *gathered, uint32_t image, const char *name, uint64_t start,
                     uint64_t size);

/* Where a procedure of which only the name is known lies in its image: at offsets that no file
 * reaches, the same in every import, so that profiles of several imports compare. */
uint64_t gathered_place_of_name(const char *name);
enum { GATHERED_NAMED_BYTES = 1 << 20 }; /* offsets that each has */

/* Writes everything as a new session, whose number goes to *id, in one transaction. */
bool gathered_save(const struct gathered *gathered, struct store *store,
                   const struct store_session *session, int64_t *id, struct error *error);
