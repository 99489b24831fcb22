#include "cmd/profile_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"

static bool take_store(struct argp_state *state, void *given, char *value) {
    struct compare *request = given;
    if (request->store.store_count == request->most_stores)
        options_fail(state, "%s: at most %zu stores are compared", value, request->most_stores);
    if (!value[strspn(value, "0123456789")] && access(value, F_OK) != 0)
        options_fail(state, "%s: no such store (an epoch is named by --epoch %s)", value, value);
    request->store.stores[request->store.store_count++] = value;
    return true;
}

static void check_compared(struct argp_state *state, void *given) {
    const struct compare *request = given;
    if (request->rows.by == PROFILE_BY_EPOCH)
        options_fail(state, "--by epoch: epochs are what is compared");
    if (request->rows.event_count > 1)
        options_fail(state, "--event: one at a time");
}

const struct option_group compare_group = {.argument = take_store, .end = check_compared};

/* ---- sets ---- */

static bool fill_table(struct compare *compare, struct error *error) {
    const struct profile_sets *sets = &compare->sets;
    const struct row_options *rows = &compare->rows;
    const struct profile_table_options wanted = {.by = rows->by,
                                                 .process = compare->samples.process,
                                                 .image = rows->image,
                                                 .base_names = true,
                                                 .columns = sets->count};
    compare->program = program_new();
    compare->table = compare->program ? profile_table_new(&wanted, compare->program) : NULL;
    if (!compare->table)
        return error_set(error, "out of memory for the profile");
    return all_where(
               i, sets->count,
               profile_table_add_set(compare->table, &sets->sets[i], &sets->events[i], i, error)) &&
           (profile_table_finish(compare->table, 0, error) &&
            (profile_table_count(compare->table) ||
             error_set(error, "none of the sets has such samples")));
}

bool compare_prepare(void *verb, struct error *error) {
    struct compare *compare = verb;
    const char *event = compare->rows.event_count ? compare->rows.events[0] : NULL;
    const struct profile_sets_query query = {.stores = compare->store.stores,
                                             .store_count = compare->store.store_count,
                                             .epochs = compare->store.epochs,
                                             .epoch_count = compare->store.epoch_count,
                                             .hosts = compare->samples.hosts,
                                             .host_count = compare->samples.host_count,
                                             .builds = compare->samples.builds,
                                             .build_count = compare->samples.build_count,
                                             .choice = &compare->samples.choice,
                                             .sums = profile_by_has_sums(compare->rows.by) &&
                                                     !compare->verb.output.html,
                                             .by_host = compare->by_host,
                                             .event = event};
    return profile_sets_read(&compare->sets, &query, error) &&
           verb_open_report(&compare->verb, error) && fill_table(compare, error);
}

void compare_free(void *verb) {
    struct compare *compare = verb;
    profile_table_free(compare->table);
    program_free(compare->program);
    profile_sets_free(&compare->sets);
}

/* ---- one set ---- */

static bool read_set(struct profile_run *run, struct error *error) {
    const struct store_options *options = &run->store_options;
    static const char *const EVERY[] = {"*"};
    const bool every = run->all_hosts && !run->samples.host_count && !options->epoch_count;
    const struct session_query query = {.lists = options->epochs,
                                        .list_count = options->epoch_count,
                                        .hosts = every ? EVERY : run->samples.hosts,
                                        .host_count = every ? 1 : run->samples.host_count,
                                        .choice = &run->samples.choice,
                                        .sums = !run->epochs_alone,
                                        .by_host = run->by_host};
    struct session_reading *reading = &run->reading;
    if (!session_reading_choose(reading, run->store, &query, error) ||
        !profile_set_read(&run->set, run->store, reading->sessions, reading->count, false, error))
        return false;
    profile_set_choose(&run->set, &reading->choice);
    return true;
}

bool profile_read(struct profile_run *run, struct error *error) {
    const struct store_options *options = &run->store_options;
    run->store =
        store_open_default(options->store_count ? options->stores[0] : NULL, STORE_READ, error);
    if (run->store)
        store_pass_over(run->store);
    return run->store && read_set(run, error) &&
           ((run->program = program_new()) || error_set(error, "out of memory for the report"));
}

bool profile_prepare(void *verb, struct error *error) {
    struct profile_run *run = verb;
    return profile_read(run, error) && verb_open_report(&run->verb, error);
}

void profile_free(void *verb) {
    struct profile_run *run = verb;
    program_free(run->program);
    profile_set_free(&run->set);
    session_reading_free(&run->reading);
    if (run->store)
        store_close(run->store);
}
