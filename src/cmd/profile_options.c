#include "cmd/profile_options.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define REQUEST struct row_options
static const struct option_row OPTIONS[] = {
    HEADING(2, "Which rows:"),
    CHOICE("by", "GRAIN", by,
           "procedure (default), image, line, process, pid, thread, cpu, cgroup, epoch",
           profile_by_names),
    LIST("event", "NAME", events, event_count,
         "Of this event; where several are shown it may be repeated, and rows are sorted by the "
         "first"),
    IMAGE_ROW(image),
    {0}};

const struct option_group rows_group = {.options = OPTIONS};

static bool take_store(struct argp_state *state, void *given, char *value) {
    struct compare *request = given;
    if (request->store.store_count == request->most_stores)
        options_fail(state, "%s: at most %zu stores are compared", value, request->most_stores);
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

/* Adds a set of a store: those of `list` (NULL: the last), or when `each` a set for each of them.
 */
static bool add_sets(struct profile_sets *sets, struct store *store,
                     const struct sample_options *samples, const char *list, bool each,
                     bool name_file, struct error *error) {
    int64_t *sessions;
    size_t count;
    if (!store_options_choose(store, sample_options_epochs(samples, list), &sessions, &count,
                              error))
        return false;
    if (!sample_options_narrow(store, samples, sessions, &count, error)) {
        free(sessions);
        return false;
    }
    size_t wanted = each ? count : 1, size = each ? 1 : count;
    bool good = wanted <= STORE_OPTIONS_MAX - sets->count ||
                error_set(error, "%zu sets are too many to compare (%d at most)",
                          sets->count + wanted, STORE_OPTIONS_MAX);
    for (size_t i = 0; good && i < wanted; i++) {
        struct profile_set *set = &sets->sets[sets->count++];
        good = profile_set_read(set, store, sessions + i, size, name_file, error);
        profile_set_choose(set, &samples->choice);
    }
    free(sessions);
    return good;
}

static bool read_sets(struct profile_sets *sets, const struct store_options *options,
                      const struct sample_options *samples, struct error *error) {
    size_t lists = options->epoch_count, stores = sets->store_count;
    if (stores > 1 && lists > 1 && lists != stores)
        return error_set(error,
                         "%zu stores and %zu lists of epochs: give one list for all, or one "
                         "for each",
                         stores, lists);
    for (size_t i = 0; stores > 1 && i < stores; i++) {
        const char *list = lists > 1 ? options->epochs[i] : lists ? options->epochs[0] : NULL;
        if (!add_sets(sets, sets->stores[i], samples, list, false, true, error))
            return false;
    }
    for (size_t i = 0; stores == 1 && i < lists; i++)
        if (!add_sets(sets, sets->stores[0], samples, options->epochs[i], lists == 1, false, error))
            return false;
    return sets->count > 1 ||
           error_set(error, "two sets are compared, or more: which? (--epoch 3 --epoch 4, or two "
                            "stores; 'culprit epochs' lists what there is)");
}

static bool open_sets(struct profile_sets *sets, const struct store_options *options,
                      const struct sample_options *samples, const char *event,
                      struct error *error) {
    for (size_t i = 0; i < options->store_count || i == 0; i++) {
        const char *path = options->store_count ? options->stores[i] : NULL;
        if (!(sets->stores[i] = store_options_open(path, STORE_READ, error)))
            return false;
        sets->store_count++;
    }
    if (!read_sets(sets, options, samples, error))
        return false;
    for (size_t i = 0; i < sets->count; i++) {
        const char *name = i && !event ? sets->events[0].name : event;
        const struct profile_event *found = profile_set_event(&sets->sets[i], name, error);
        if (!found)
            return false;
        sets->events[i] = *found;
        if (strcmp(found->unit, sets->events[0].unit) != 0)
            return error_set(error,
                             "%s is counted in %s in %s and in %s in %s: these do not "
                             "compare",
                             found->name, sets->events[0].unit, sets->sets[0].label, found->unit,
                             sets->sets[i].label);
    }
    return true;
}

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
    return open_sets(&compare->sets, &compare->store, &compare->samples, event, error) &&
           verb_open_report(&compare->verb, error) && fill_table(compare, error);
}

void compare_free(void *verb) {
    struct compare *compare = verb;
    profile_table_free(compare->table);
    program_free(compare->program);
    for (size_t i = 0; i < compare->sets.count; i++)
        profile_set_free(&compare->sets.sets[i]);
    for (size_t i = 0; i < compare->sets.store_count; i++)
        store_close(compare->sets.stores[i]);
}

/* ---- one set ---- */

/* The union of all lists, or what is meant without one. */
static bool choose_epochs(struct profile_run *run, size_t *count, struct error *error) {
    const struct store_options *options = &run->store_options;
    const bool chosen =
        options->epoch_count
            ? store_options_choose_all(run->store, options, &run->sessions, count, error)
            : store_options_choose(run->store, sample_options_epochs(&run->samples, NULL),
                                   &run->sessions, count, error);
    return chosen && sample_options_narrow(run->store, &run->samples, run->sessions, count, error);
}

static bool read_set(struct profile_run *run, struct error *error) {
    size_t count;
    if (!choose_epochs(run, &count, error) ||
        !profile_set_read(&run->set, run->store, run->sessions, count, false, error))
        return false;
    profile_set_choose(&run->set, &run->samples.choice);
    return true;
}

bool profile_prepare(void *verb, struct error *error) {
    struct profile_run *run = verb;
    const struct store_options *options = &run->store_options;
    run->store =
        store_options_open(options->store_count ? options->stores[0] : NULL, STORE_READ, error);
    return run->store && read_set(run, error) && verb_open_report(&run->verb, error) &&
           ((run->program = program_new()) || error_set(error, "out of memory for the report"));
}

void profile_free(void *verb) {
    struct profile_run *run = verb;
    program_free(run->program);
    profile_set_free(&run->set);
    free(run->sessions);
    if (run->store)
        store_close(run->store);
}
