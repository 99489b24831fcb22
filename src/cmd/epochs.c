/* culprit epochs: the sessions of a store. Its options, and which of its actions is asked for. */
#include "cmd/epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "exchange/exchange.h"

enum { KEY_OLDER = 1024, KEY_SIZE, KEY_FORMAT, KEY_EVENT };

static const struct {
    const char *name, *missing; /* what to say when there is no argument; NULL: it takes none */
    bool (*run)(const struct epochs_request *request, struct error *error);
} ACTIONS[EPOCHS_ACTIONS] = {
    [EPOCHS_LIST] = {"list", NULL, epochs_list},
    [EPOCHS_NEW] = {"new", NULL, epochs_new},
    [EPOCHS_MERGE] = {"merge", "merge which epochs? (2..5)", epochs_merge},
    [EPOCHS_REMOVE] = {"remove", "remove which epoch? (3, 2..5, last, all)", epochs_remove},
    [EPOCHS_PRUNE] = {"prune", NULL, epochs_prune},
    [EPOCHS_COMPACT] = {"compact", NULL, epochs_compact},
    [EPOCHS_CHECK] = {"check", NULL, epochs_check},
    [EPOCHS_EXPORT] = {"export", "export to which file?", epochs_export},
    [EPOCHS_IMPORT] = {"import", "import which file?", epochs_import},
};

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "What to do:", 2},
    {"older", KEY_OLDER, "TIME", 0, "Prune what ended longer ago (30d, 12h, 90min)", 0},
    {"size", KEY_SIZE, "BYTES", 0, "Prune the oldest until the store takes at most this (1G, 200M)",
     0},
    {"format", KEY_FORMAT, "NAME", 0,
     "Export or import as store (default), pprof, perf-script, folded (import: told from the "
     "file)",
     0},
    {"event", KEY_EVENT, "NAME", 0, "Export only this event, in formats other than store", 0},
    {0}};

static const struct argp_option OUTPUT_OPTIONS[] = {
    {"json", OUTPUT_JSON, NULL, 0, "List as JSON (docs/json.md)", 2},
    {"output", OUTPUT_FILE, "FILE", 0, "Write the list to FILE, not to standard output", 2},
    {0}};
static const struct argp OUTPUT_ARGP = {.options = OUTPUT_OPTIONS, .parser = options_parse_output};

static void take_argument(struct epochs_request *request, struct argp_state *state, char *value) {
    if (state->arg_num > 1 || (state->arg_num == 1 && !ACTIONS[request->action].missing))
        options_fail(state, "%s: one argument too many", value);
    if (state->arg_num == 1) {
        request->argument = value;
        return;
    }
    for (int action = 0; action < EPOCHS_ACTIONS; action++)
        if (!strcmp(value, ACTIONS[action].name)) {
            request->action = (enum epochs_action)action;
            return;
        }
    options_fail(
        state, "%s: one of list, new, merge, remove, prune, compact, check, export, import", value);
}

static void check_request(const struct epochs_request *request, struct argp_state *state) {
    enum epochs_action action = request->action;
    bool transfers = action == EPOCHS_EXPORT || action == EPOCHS_IMPORT;
    if (ACTIONS[action].missing && !request->argument)
        options_fail(state, "%s", ACTIONS[action].missing);
    if (action == EPOCHS_PRUNE && !request->older_seconds && !request->size_bytes)
        options_fail(state, "prune by --older TIME, --size BYTES, or both?");
    if (action != EPOCHS_PRUNE && (request->older_seconds || request->size_bytes))
        options_fail(state, "--%s: only of prune", request->size_bytes ? "size" : "older");
    if (action != EPOCHS_LIST && (request->output.json || request->output.output))
        options_fail(state, "--%s: only of list", request->output.json ? "json" : "output");
    if (!transfers && request->format)
        options_fail(state, "--format: only of export and import");
    if (request->event &&
        (action != EPOCHS_EXPORT || !request->format || !strcmp(request->format, "store")))
        options_fail(state, "--event: only of export --format pprof, perf-script or folded");
    if (action == EPOCHS_IMPORT && request->format && !strcmp(request->format, "folded"))
        options_fail(state, "--format folded: only of export");
    if (action != EPOCHS_LIST && action != EPOCHS_EXPORT && request->store.epoch_count)
        options_fail(state, "--epoch: only of list and export");
    if (request->store.store_count > 1)
        options_fail(state, "--store: one at a time");
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct epochs_request *request = state->input;
    enum exchange_format format;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->store;
        state->child_inputs[1] = &request->output;
        return 0;
    case KEY_OLDER:
        request->older_seconds = options_duration(state, "--older", value);
        return 0;
    case KEY_SIZE:
        if (!(request->size_bytes = options_count(state, "--size", value)))
            options_fail(state, "--size 0: at least one byte (remove all removes every epoch)");
        return 0;
    case KEY_FORMAT:
        if (strcmp(value, "store") != 0 && !exchange_format_find(value, &format))
            options_fail(state, "--format %s: one of store, pprof, perf-script, folded", value);
        request->format = value;
        return 0;
    case KEY_EVENT:
        request->event = value;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(request, state, value);
        return 0;
    case ARGP_KEY_END:
        check_request(request, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&store_argp, 0, NULL, 0}, {&OUTPUT_ARGP, 0, NULL, 0}, {0}};
static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .children = CHILDREN,
    .args_doc = "[list]\nnew\nmerge LIST\nremove LIST\nprune\ncompact\ncheck\nexport FILE\n"
                "import FILE",
    .doc = "Lists the epochs of a store of profiles: what 'culprit daemon' collected between two "
           "points in time, a command recorded, a simulation. Begins a new one, merges, removes, "
           "exports and imports them."
           "\vExample:\n  culprit epochs prune --older 30d --size 1G && culprit epochs compact\n\n"
           "list shows all epochs, unless --epoch is given; export takes the last one."};

struct store *epochs_open(const struct epochs_request *request, enum store_access access_wanted,
                          struct error *error) {
    char path[PATH_MAX];
    const char *given = request->store.store_count ? request->store.stores[0] : path;
    if (given == path && !store_default_path(path, STORE_READ, error))
        return NULL;
    return store_open(given, access(given, F_OK) == 0 ? access_wanted : STORE_READ, error);
}

int cmd_epochs(int argc, char **argv) {
    struct epochs_request request = {0};
    struct error error = {0};
    options_parse(&ARGP, argc, argv, &request);
    bool good = ACTIONS[request.action].run(&request, &error);
    if (good && (fflush(stdout) != 0 || ferror(stdout)))
        good = error_errno(&error, "cannot write");
    if (!good)
        print_error(&error);
    return good ? 0 : STATUS_FAILED;
}
