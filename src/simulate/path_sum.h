/* Call paths of several simulations as one tree: nodes that the same chain of calls led to are one.
 *
 *     path_result_renumber() ──► path_sum_add() for each ──► path_sum_finish() */
#pragma once

#include "attribute/call_paths.h"
#include "trace/code_union.h"
#include "util/error.h"

/* Numbers its instructions and functions of Python as in a union of code: numbers[i] is what i of
 * its own `code` is called there, and those of `base`, the code of the run that began it (NULL:
 * none did), are added to the union. Its threads are all `thread`; PATH_NONE: they keep their
 * numbers. */
bool path_result_renumber(struct call_path_result *result, struct code_union *all,
                          const struct code *code, const uint32_t *numbers, const struct code *base,
                          uint32_t thread, struct error *error);

/* Makes it stand for other sums: units and instructions are shared out so that they sum to these. A
 * count of calls is right to the nearest. */
struct path_scale {
    uint64_t units, to_units;
    uint64_t instructions, to_instructions;
};
void path_result_scale(struct call_path_result *result, const struct path_scale *scale);

struct path_sum;
struct path_sum *path_sum_new(void); /* NULL: out of memory */
void path_sum_free(struct path_sum *sum);
/* Of a result numbered as in `code`, a union. `data`: its objects, whose paths and functions are
 * numbered as in the sum then; or NULL. False: out of memory. */
bool path_sum_add(struct path_sum *sum, const struct call_path_result *result,
                  const struct code *code, struct data_result *data);
/* The sum, whose instruction i is called order[i] now. False: out of memory;
 * call_path_result_free() either way. */
bool path_sum_finish(struct path_sum *sum, const uint32_t *order, struct call_path_result *result);
