/* Data objects of several simulations as one result: what is the same object there is one.
 *
 *     data_result_renumber() ──► path_sum_add() ──► data_sum_add() for each ──► data_sum_finish()
 */
#pragma once

#include "attribute/data_profile.h"
#include "trace/code_union.h"
#include "util/error.h"

/* Numbers its images as in a union: those of its own code, and those of `base`, the code of the run
 * that began it (NULL: none did). */
bool data_result_renumber(struct data_result *data, struct code_union *all, const struct code *code,
                          const struct code *base, struct error *error);

/* Makes its units sum, for each combination of events, to what the cells of instructions do that it
 * is of, when these are made to stand for more or less: as they were before, so they are then. */
void data_result_match(struct data_result *data, const struct pics_cell *cells, uint64_t count);

struct data_sum;
struct data_sum *data_sum_new(void); /* NULL: out of memory */
void data_sum_free(struct data_sum *sum);
/* Of a result numbered as in a union, with paths and functions as in a sum of these. False: out of
 * memory. */
bool data_sum_add(struct data_sum *sum, const struct data_result *data);
/* `all`: the union, now sorted. False: out of memory; data_result_free() either way. */
bool data_sum_finish(struct data_sum *sum, const struct code_union *all,
                     struct data_result *result);
