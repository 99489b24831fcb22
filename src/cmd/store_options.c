#include "cmd/store_options.h"

#include "cmd/options.h"
#include "store/session_choice.h"

static void take_store(struct argp_state *state, void *request, char *value) {
    struct store_options *options = request;
    if (options->store_count == STORE_OPTIONS_MAX)
        options_fail(state, "--store: more than %d", STORE_OPTIONS_MAX);
    options->stores[options->store_count++] = value;
}

static void take_epochs(struct argp_state *state, void *request, char *value) {
    struct store_options *options = request;
    if (options->epoch_count == STORE_OPTIONS_MAX)
        options_fail(state, "--epoch: more than %d", STORE_OPTIONS_MAX);
    options->epochs[options->epoch_count++] = value;
}

static const struct option_row OPTIONS[] = {
    HEADING(1, "Which profiles:"),
    TAKE("store", "FILE", take_store,
         "The store (default: $CULPRIT_STORE, else the machine's, else your own)"),
    TAKE("epoch", "LIST", take_epochs,
         "Epochs by number, as 'culprit epochs' lists them: 3, 2..5, last, all, or several "
         "separated by commas (default: last)"),
    {0}};

const struct option_group store_group = {.options = OPTIONS};

struct store *store_options_open(const char *path, enum store_access access, struct error *error) {
    char chosen[PATH_MAX];
    if (!path && !store_default_path(chosen, access, error))
        return NULL;
    return store_open(path ? path : chosen, access, error);
}

static const char *const LAST[] = {"last"};

bool store_options_choose(struct store *store, const char *list, int64_t **sessions, size_t *count,
                          struct error *error) {
    return store_choose_sessions(store, list ? &list : LAST, 1, sessions, count, error);
}

bool store_options_choose_all(struct store *store, const struct store_options *options,
                              int64_t **sessions, size_t *count, struct error *error) {
    bool given = options->epoch_count > 0;
    return store_choose_sessions(store, given ? options->epochs : LAST,
                                 given ? options->epoch_count : 1, sessions, count, error);
}
