#include "cmd/save.h"

#include <inttypes.h>

#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/store_options.h"
#include "core/core.h"
#include "study/temporary.h"

#define REQUEST struct save_options
static const struct option_row OPTIONS[] = {
    HEADING(8, "Keep the profile:"),
    FLAG("save", save,
         "Save the cycles of every instruction in the store, for 'culprit top' and 'culprit diff'"),
    STORE_ROW(store),
    {0}};

static void check(struct argp_state *state, void *request) {
    const struct save_options *options = request;
    if (options->store && !options->save)
        options_fail(state, "--store: it says where to save, not that (add --save)");
}

const struct option_group save_group = {.options = OPTIONS, .end = check};

bool save_open(struct save *save, const struct save_options *options, struct error *error) {
    save->wanted = options->save;
    if (!save->wanted)
        return true;
    save->saving.store = store_open_default(options->store, STORE_WRITE, error);
    if (!save->saving.store)
        return error_prefix(error, "--save");
    char path[PATH_MAX];
    if (!(save->folder = temporary_folder(&verb_watch.temporaries, error)))
        return false;
    snprintf(path, sizeof path, "%s/parts.db", save->folder);
    save->saving.parts = store_open(path, STORE_WRITE, error);
    return save->saving.parts || error_prefix(error, "--save");
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
    struct saving *saving = &save->saving;
    if (!save->wanted)
        return true;
    saving_finish(saving);
    if (saving->failed) {
        *error = saving->error;
        return error_prefix(error, "--save");
    }
    if (!saving->session)
        return true;
    return report_note(report,
                       "saved as epoch %" PRId64 " of %s (culprit top --store %s --epoch %" PRId64
                       ")",
                       saving->session, store_path(saving->store), store_path(saving->store),
                       saving->session) ||
           error_set(error, "out of memory for the report");
}

void save_close(struct save *save) {
    store_close(save->saving.parts);
    store_close(save->saving.store);
    temporary_remove(&verb_watch.temporaries, save->folder);
    save->folder = NULL;
    saving_free(&save->saving);
    save->wanted = false;
}
