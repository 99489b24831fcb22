#include "cmd/save.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/options.h"
#include "cmd/store_options.h"
#include "core/core.h"

enum key { KEY_SAVE = 1536, KEY_STORE };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Keep the profile:", 8},
    {"save", KEY_SAVE, NULL, 0,
     "Save the cycles of every instruction in the store, for 'culprit top' and 'culprit diff'", 0},
    {"store", KEY_STORE, "FILE", 0, "In this store (default: see 'culprit epochs')", 0},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct save_options *options = state->input;
    switch (key) {
    case KEY_SAVE:
        options->save = true;
        return 0;
    case KEY_STORE:
        options->store = value;
        return 0;
    case ARGP_KEY_END:
        if (options->store && !options->save)
            options_fail(state, "--store: it says where to save, not that (add --save)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp save_argp = {.options = OPTIONS, .parser = parse};

bool save_open(struct save *save, const struct save_options *options, struct error *error) {
    save->wanted = options->save;
    if (!save->wanted)
        return true;
    save->saving.store = store_options_open(options->store, STORE_WRITE, error);
    return save->saving.store || error_prefix(error, "--save");
}

void save_describe(struct save *save, const char *command, const struct machine *machine,
                   uint32_t ideal) {
    size_t used = (size_t)snprintf(save->machine, sizeof save->machine, "%s", machine->name);
    for (unsigned i = 0, count = 0; i < IDEAL_COUNT && used < sizeof save->machine; i++)
        if (ideal & 1u << i)
            used += (size_t)snprintf(save->machine + used, sizeof save->machine - used, "%s%s",
                                     count++ ? "," : ", ideal ", ideal_name(i));
    save->saving.command = command;
    save->saving.machine = save->machine;
}

struct saving *save_to(struct save *save) {
    return save->wanted ? &save->saving : NULL;
}

bool save_note(struct save *save, struct report *report, struct error *error) {
    const struct saving *saving = &save->saving;
    if (!save->wanted)
        return true;
    if (saving->failed) {
        *error = saving->error;
        return error_prefix(error, "--save");
    }
    if (!saving->count)
        return true;
    char epochs[64];
    int64_t first = saving->sessions[0], last = saving->sessions[saving->count - 1];
    if (saving->count == 1)
        snprintf(epochs, sizeof epochs, "%" PRId64, first);
    else
        snprintf(epochs, sizeof epochs, "%" PRId64 "..%" PRId64, first, last);
    return report_note(report, "saved as epoch%s %s of %s (culprit top --store %s --epoch %s)",
                       saving->count == 1 ? "" : "s", epochs, store_path(saving->store),
                       store_path(saving->store), epochs) ||
           error_set(error, "out of memory for the report");
}

void save_close(struct save *save) {
    if (save->saving.store)
        store_close(save->saving.store);
    saving_free(&save->saving);
    save->wanted = false;
}
