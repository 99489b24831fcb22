/* A window of cycles as a pipeline picture for the Konata viewer (Kanata log, version 0004).
 *
 *     core ──► tap ──► kanata_worker() ──► kanata_write()
 *
 * One row per µop, on one lane; stages, each only when it lasts at least a cycle:
 *   F   from fetch until dispatch        Ds  in the window, waiting for operands
 *   Rd  ready, waiting for a unit        Ex  issued, executing
 *   Cm  complete, waiting to commit
 * An arrow leads from each µop to those that wait for its result. A µop that was squashed ends in a
 * flush. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tap/life.h"
#include "trace/dynamic.h"
#include "util/error.h"

/* A µop takes about 150 bytes while the window is collected. */
enum { KANATA_MAX_CYCLES = 100000 };

struct kanata;

/* Where the first µop is fetched: before it the caches are cold, for hundreds of cycles. */
#define KANATA_FIRST UINT64_MAX

/* µops that are in flight in the cycles [from, from + cycles); cycles ≤ KANATA_MAX_CYCLES. */
struct kanata *kanata_new(uint64_t from, uint64_t cycles);
void kanata_free(struct kanata *kanata);

/* For the tap of one core. */
struct tap_worker kanata_worker(struct kanata *kanata);

/* µops collected so far. */
uint64_t kanata_count(const struct kanata *kanata);

/* False when memory ran out while collecting, or on a write error. */
bool kanata_write(struct kanata *kanata, const struct code *code, FILE *file, struct error *error);

/* A stage of a µop, in which it was in the cycles [begin, end). */
struct kanata_stage {
    const char *name;
    uint64_t begin, end;
};
enum { KANATA_STAGES = 5 };
typedef bool kanata_visitor(void *context, const struct life *life,
                            const struct kanata_stage *stages, size_t count);
/* The µops in the order of their fetch, squashed ones too. The visitor's false ends the walk. */
void kanata_each(struct kanata *kanata, kanata_visitor *visit, void *context);
