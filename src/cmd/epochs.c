/* culprit epochs: the sessions of a store. Its options, and which of its actions is asked for. */
#include "cmd/epochs.h"
#include "util/output.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "exchange/exchange.h"
#include "exchange/push.h"
#include "options/sample_options.h"
#include "report/epoch_list.h"
#include "report/run_format.h"
#include "store/address.h"

static bool list(struct epochs_request *request, struct error *error) {
    struct epoch_list list = {.name_store = request->store.store_count,
                              .json = request->verb.output.json,
                              .wide = request->verb.output.wide};
    int64_t *epochs = NULL;
    if (!verb_open_report(&request->verb, error))
        return false;
    bool good = (list.store = store_options_open(&request->store, STORE_READ, error)) &&
                (!epoch_choice_any(&request->choice, &request->store) ||
                 epoch_choice_read(&request->choice, &request->store, list.store, &epochs,
                                   &list.epoch_count, error));
    list.epochs = epochs;
    good = good && epoch_list_print(&list, request->verb.files.report.file, error);
    free(epochs);
    store_close(list.store);
    return good;
}

static const struct {
    const char *name, *missing; /* what to say when there is no argument; NULL: it takes none */
    bool (*run)(struct epochs_request *request, struct error *error);
} ACTIONS[EPOCHS_ACTIONS] = {
    [EPOCHS_LIST] = {"list", NULL, list},
    [EPOCHS_NEW] = {"new", NULL, epochs_new},
    [EPOCHS_MERGE] = {"merge", "merge which epochs? (2..5)", epochs_merge},
    [EPOCHS_REMOVE] = {"remove", "remove which epoch? (3, 2..5, last, all)", epochs_remove},
    [EPOCHS_PRUNE] = {"prune", NULL, epochs_prune},
    [EPOCHS_COMPACT] = {"compact", NULL, epochs_compact},
    [EPOCHS_SUM] = {"sum", NULL, epochs_sum},
    [EPOCHS_CHECK] = {"check", NULL, epochs_check},
    [EPOCHS_EXPORT] = {"export", "export to which file?", epochs_export},
    [EPOCHS_IMPORT] = {"import", "import which file?", epochs_import},
    [EPOCHS_INIT] = {"init", NULL, epochs_init},
};

static void take_format(struct argp_state *state, void *request, char *value) {
    enum exchange_format format;
    if (run_format_find(value))
        options_fail(state,
                     "--format %s: of a run, not of an epoch ('culprit sim --export FILE --format "
                     "%s' writes it)",
                     value, value);
    if (strcmp(value, "store") != 0 && !exchange_format_find(value, &format))
        options_fail(state, "--format %s: one of store, " EXCHANGE_FORMAT_NAMES, value);
    ((struct epochs_request *)request)->format = value;
}

static void take_url(struct argp_state *state, void *request, char *value) {
    if (!push_is_url(value) && !store_is_address(value))
        options_fail(state,
                     "--push %s: an address is http://HOST:PORT, https://... or "
                     "postgresql://USER@HOST/NAME",
                     value);
    ((struct epochs_request *)request)->push = value;
}

static void take_since(struct argp_state *state, void *request, char *value) {
    ((struct epochs_request *)request)->choice.since = options_moment(state, "--since", value);
}

static void take_until(struct argp_state *state, void *request, char *value) {
    ((struct epochs_request *)request)->choice.until = options_moment(state, "--until", value);
}

#define REQUEST struct epochs_request
static const struct option_row OPTIONS[] = {
    LIST("host", "NAME", choice.hosts, choice.host_count,
         "Epochs of this machine only, or of those that a pattern fits (web-*); repeatable",
         .group = 1),
    TAKE("since", "TIME", take_since, "Epochs that reach behind it: 14:05, '10min ago'"),
    TAKE("until", "TIME", take_until, "Epochs that began before it"),
    HEADING(2, "What to do:"),
    DURATION("older", "TIME", older_seconds, "Prune what ended longer ago (30d, 12h, 90min)"),
    COUNT("size", "BYTES", size_bytes,
          "Prune the oldest until the store takes at most this (1G, 200M)", .least = 1,
          .must = "at least one byte (remove all removes every epoch)"),
    TAKE("format", "NAME", take_format,
         "Export or import as store (default), " EXCHANGE_FORMAT_NAMES " (import: told from the "
         "file)"),
    TAKE(
        "push", "URL", take_url,
        "Export to this collector of OpenTelemetry (OTLP over HTTP) or database of PostgreSQL, not "
        "to a file"),
    TEXT("event", "NAME", event, "Export only this event, in formats other than store"),
    FLAG("json", verb.output.json, "List as JSON (docs/json.md)"),
    FLAG("wide", verb.output.wide, "List with no name cut"),
    TEXT("output", "FILE", verb.output.output, "Write the list to FILE, not to standard output",
         .letter = 'o', .written = true),
    {0}};

static bool take_argument(struct argp_state *state, void *given, char *value) {
    struct epochs_request *request = given;
    if (state->arg_num > 1 || (state->arg_num == 1 && !ACTIONS[request->action].missing))
        options_fail(state, "%s: one argument too many", value);
    if (state->arg_num == 1) {
        request->argument = value;
        return true;
    }
    for (int action = 0; action < EPOCHS_ACTIONS; action++)
        if (!strcmp(value, ACTIONS[action].name)) {
            request->action = (enum epochs_action)action;
            return true;
        }
    options_fail(state,
                 "%s: one of list, new, merge, remove, prune, compact, sum, check, export, import, "
                 "init",
                 value);
}

static void check_request(struct argp_state *state, void *given) {
    const struct epochs_request *request = given;
    enum epochs_action action = request->action;
    bool transfers = action == EPOCHS_EXPORT || action == EPOCHS_IMPORT;
    if (request->push && (action != EPOCHS_EXPORT || request->argument || request->format))
        options_fail(state, "--push: only of export, in place of a file and its --format");
    if (ACTIONS[action].missing && !request->argument && !request->push)
        options_fail(state, "%s", ACTIONS[action].missing);
    if (action == EPOCHS_PRUNE && !request->older_seconds && !request->size_bytes)
        options_fail(state, "prune by --older TIME, --size BYTES, or both?");
    if (action != EPOCHS_PRUNE && (request->older_seconds || request->size_bytes))
        options_fail(state, "--%s: only of prune", request->size_bytes ? "size" : "older");
    if (action != EPOCHS_LIST &&
        (request->verb.output.json || request->verb.output.wide || request->verb.output.output))
        options_fail(state, "--%s: only of list",
                     request->verb.output.json   ? "json"
                     : request->verb.output.wide ? "wide"
                                                 : "output");
    if (!transfers && request->format)
        options_fail(state, "--format: only of export and import");
    const bool profile =
        request->push || (request->format && strcmp(request->format, "store") != 0);
    if (request->event &&
        (action != EPOCHS_EXPORT || !profile || (request->push && store_is_address(request->push))))
        options_fail(state, "--event: only of export, with a --format other than store");
    enum exchange_format format;
    if (action == EPOCHS_IMPORT && request->format &&
        exchange_format_find(request->format, &format) && !exchange_format_is_read(format))
        options_fail(state, "--format %s: only of export", request->format);
    if (action != EPOCHS_LIST && action != EPOCHS_EXPORT &&
        epoch_choice_any(&request->choice, &request->store))
        options_fail(state, "--%s: only of list and export",
                     request->store.epoch_count   ? "epoch"
                     : request->choice.host_count ? "host"
                     : request->choice.since      ? "since"
                                                  : "until");
    if (request->store.store_count > 1)
        options_fail(state, "--store: one at a time");
}

static const struct option_part PARTS[] = {{&store_group, offsetof(struct epochs_request, store)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_argument, .end = check_request},
    .parts = PARTS,
    .arguments =
        "[list]\nnew\nmerge LIST\nremove LIST\nprune\ncompact\nsum\ncheck\nexport FILE|--push=URL\n"
        "import FILE\ninit",
    .help = "Lists the epochs of a store of profiles: what 'culprit daemon' collected between two "
            "points in time, a command recorded, a simulation. Begins a new one, merges, removes, "
            "exports and imports them. init makes the tables of a server of PostgreSQL, or brings "
            "them up to date (culprit help fleet)."
            "\vExample:\n  culprit epochs prune --older 30d --size 1G && culprit epochs compact\n\n"
            "list shows all epochs, unless --epoch is given; export takes the last one, and to a "
            "database "
            "all of the daemon's that it lacks."};

static bool act(void *verb, struct error *error) {
    struct epochs_request *request = verb;
    return ACTIONS[request->action].run(request, error) && output_flush("cannot write", error);
}

const struct verb verb_epochs = {
    .line = &LINE, .size = sizeof(struct epochs_request), .report = act};
