/* What verbs have in common that show profiles of the store: a set of epochs, or several that are
 * compared. */
#pragma once

#include "cmd/verb.h"
#include "options/row_options.h"
#include "options/sample_options.h"
#include "options/store_options.h"
#include "query/profile_sets.h"
#include "query/profile_table.h"
#include "store/session_choice.h"

/* The first member of a verb that shows one set of epochs of one store. */
struct profile_run {
    struct verb_run verb;
    struct store_options store_options;
    struct sample_options samples;
    bool epochs_alone; /* set before profile_prepare(): sums of days cannot tell what is asked */
    bool by_host;      /* likewise: hosts are told apart */
    bool all_hosts;    /* likewise: all epochs, unless some are chosen */
    struct store *store;
    struct session_reading reading;
    struct profile_set set;
    struct program *program;
};
/* Steps: opens the store, the set that the options choose and the report. */
bool profile_prepare(void *run, struct error *error);
/* The same without the report, for a struct whose first member is another's; then profile_free().
 */
bool profile_read(struct profile_run *run, struct error *error);
void profile_free(void *verb);

/* The first member of a verb that compares sets of epochs. */
struct compare {
    struct verb_run verb;
    size_t most_stores; /* set before parsing; at most STORE_OPTIONS_MAX */
    struct store_options store;
    struct sample_options samples;
    struct row_options rows;
    bool by_host; /* set before compare_prepare(): hosts are told apart */
    struct profile_sets sets;
    struct program *program;
    struct profile_table *table; /* a column for each set; images of one base name are one */
};
extern const struct option_group compare_group; /* stores as arguments */
#define COMPARE_PARTS                                                                              \
    {&compare_group, 0}, {&store_group, offsetof(struct compare, store)},                          \
        {&sample_group, offsetof(struct compare, samples)},                                        \
        {&rows_group, offsetof(struct compare, rows)}, {                                           \
        &output_group, offsetof(struct compare, verb.output)                                       \
    }
/* Steps: the sets, the report and the table. Fails when that makes less than two sets, and when
 * they do not all have the event (that of --event, or the first set's first) in one unit. */
bool compare_prepare(void *compare, struct error *error);
void compare_free(void *verb);
