/* What verbs have in common that show profiles of the store: which rows of which samples, and sets
 * of epochs that are compared. */
#ifndef CULPRIT_CMD_PROFILE_OPTIONS_H
#define CULPRIT_CMD_PROFILE_OPTIONS_H

#include "cmd/option.h"

#include "cmd/options.h"
#include "cmd/store_options.h"
#include "query/profile_set.h"
#include "query/profile_table.h"

enum { PROFILE_OPTIONS_EVENTS = 16 };

struct row_options {
    enum profile_by by;
    const char *events[PROFILE_OPTIONS_EVENTS];
    size_t event_count; /* 0: all, or the first */
    const char *process, *image;
};
extern const struct option_group rows_group; /* --by, --event, --process, --image */

struct output;

/* Opens the set that the options choose, of one store, and the output, and has `write` write the
 * report. */
typedef bool profile_set_writer(void *request, const struct profile_set *set,
                                struct program *program, struct output *output,
                                struct error *error);
bool profile_set_report(const struct store_options *store, const char *output_path,
                        profile_set_writer *write, void *request, struct error *error);

/* What verbs are asked that compare sets of epochs. */
struct compare_request {
    size_t most_stores; /* set before parsing; at most STORE_OPTIONS_MAX */
    struct store_options store;
    struct row_options rows;
    struct output_options output;
};
extern const struct option_group compare_group; /* stores as arguments */
#define COMPARE_PARTS(at_)                                                                         \
    {&compare_group, (at_)}, {&store_group, (at_) + offsetof(struct compare_request, store)},      \
        {&rows_group, (at_) + offsetof(struct compare_request, rows)}, {                           \
        &output_group, (at_) + offsetof(struct compare_request, output)                            \
    }

/* Sets to compare, each of epochs of one store, and the one event they are compared by. */
struct profile_sets {
    struct store *stores[STORE_OPTIONS_MAX];
    size_t store_count;
    struct profile_set sets[STORE_OPTIONS_MAX];
    size_t count;                                   /* ≥ 2 */
    struct profile_event events[STORE_OPTIONS_MAX]; /* of each set */
};

/* Several stores: a set of each, of its last epoch, or of those of the one list of epochs, or of
 * its own where there are as many lists. One store: a set for each list of epochs, or, of a single
 * list, for each epoch. Fails when that makes less than two sets, and when the sets do not all have
 * the event (NULL: the first set's first) in one unit. profile_sets_close() either way. */
bool profile_sets_open(struct profile_sets *sets, const struct store_options *options,
                       const char *event, struct error *error);
void profile_sets_close(struct profile_sets *sets);

/* A table with a column for each set; images of one base name are one. NULL with an error. */
struct profile_table *profile_sets_table(const struct profile_sets *sets,
                                         const struct row_options *options, struct program *program,
                                         struct error *error);

/* Opens the sets and the output, makes the table, and has `write` write the report to the file.
 * Prints what fails; the exit status. */
typedef bool profile_sets_writer(const void *context, const struct profile_sets *sets,
                                 const struct profile_table *table, FILE *file,
                                 struct error *error);
int profile_sets_report(const struct compare_request *request, profile_sets_writer *write,
                        const void *context);

#endif
