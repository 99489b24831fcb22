#include "options/store_options.h"

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
