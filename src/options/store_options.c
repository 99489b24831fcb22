#include "options/store_options.h"

#include <unistd.h>

#include "store/address.h"
#include "store/session_choice.h"
#include "util/text.h"

#define REQUEST struct store_options
static const struct option_row OPTIONS[] = {
    HEADING(1, "Which profiles:"),
    LIST("store", "FILE", stores, store_count,
         "The store: a file, or postgresql://USER@HOST/NAME (default: $CULPRIT_STORE, else the "
         "machine's, else yours)"),
    LIST("epoch", "LIST", epochs, epoch_count,
         "Epochs by number, as 'culprit epochs' lists them: 3, 2..5, last, all, or several "
         "separated by commas (default: last)"),
    {0}};

const struct option_group store_group = {.options = OPTIONS};

static const char *const LAST[] = {"last"};

bool store_options_choose(struct store *store, const char *list, int64_t **sessions, size_t *count,
                          struct error *error) {
    return store_choose_sessions(store, list ? &list : LAST, 1, sessions, count, error);
}

void store_options_put(const struct store_options *options, bool epochs, FILE *file) {
    char shown[PATH_MAX];
    for (size_t i = 0; i < options->store_count; i++)
        text_put_option(file, "store", store_shown_address(options->stores[i], shown));
    for (size_t i = 0; epochs && i < options->epoch_count; i++)
        text_put_option(file, "epoch", options->epochs[i]);
}

bool epoch_choice_any(const struct epoch_choice *choice, const struct store_options *options) {
    return options->epoch_count || choice->host_count || choice->since || choice->until;
}

bool epoch_choice_read(const struct epoch_choice *choice, const struct store_options *options,
                       struct store *store, int64_t **epochs, size_t *count, struct error *error) {
    const struct sample_choice times = {.since = choice->since, .until = choice->until};
    const struct session_query query = {.lists = options->epochs,
                                        .list_count = options->epoch_count,
                                        .hosts = choice->hosts,
                                        .host_count = choice->host_count,
                                        .choice = &times};
    struct session_reading reading;
    const bool good = session_reading_choose(&reading, store, &query, error);
    *epochs = good ? reading.sessions : NULL;
    *count = good ? reading.count : 0;
    if (good)
        reading.sessions = NULL; /* the caller's now */
    session_reading_free(&reading);
    return good;
}

struct store *store_options_open(const struct store_options *options,
                                 enum store_access access_wanted, struct error *error) {
    char path[PATH_MAX];
    const char *given = options->store_count ? options->stores[0] : path;
    if (given == path && !store_default_path(path, STORE_READ, error))
        return NULL;
    const bool there = store_is_address(given) || access(given, F_OK) == 0;
    return store_open(given, there ? access_wanted : STORE_READ, error);
}
