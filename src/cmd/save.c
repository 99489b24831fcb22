#include "cmd/save.h"

#include <inttypes.h>

#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/store_options.h"
#include "core/core.h"
#include "study/temporary.h"

static void take_format(struct argp_state *state, void *request, char *value) {
    struct save_options *options = request;
    if (!exchange_format_find(value, &options->format))
        options_fail(state, "--format %s: one of " EXCHANGE_FORMAT_NAMES, value);
    options->format_given = true;
}

#define REQUEST struct save_options
static const struct option_row OPTIONS[] = {
    HEADING(8, "Keep the profile:"),
    FLAG("save", save,
         "Save the cycles of every instruction in the store, for 'culprit top' and 'culprit diff'"),
    STORE_ROW(store),
    WRITTEN_FILE("export", "FILE", export,
                 "Write the profile there, with who called whom, in the --format of another tool",
                 .not_again = true),
    TAKE("format", "NAME", take_format,
         "Of --export: " EXCHANGE_FORMAT_NAMES " (default callgrind)", .not_again = true),
    {0}};

static void begin(void *request) {
    ((struct save_options *)request)->format = EXCHANGE_CALLGRIND;
}

static void check(struct argp_state *state, void *request) {
    const struct save_options *options = request;
    if (options->store && !options->save)
        options_fail(state, "--store: it says where to save, not that (add --save)");
    if (options->format_given && !options->export)
        options_fail(state, "--format: of the file of --export, which is missing");
}

const struct option_group save_group = {.options = OPTIONS, .begin = begin, .end = check};

static bool open_parts(struct save *save, struct error *error) {
    char path[PATH_MAX];
    if (!(save->folder = temporary_folder(&verb_watch.temporaries, error)))
        return false;
    snprintf(path, sizeof path, "%s/parts.db", save->folder);
    if (!(save->saving.parts = store_open(path, STORE_WRITE, error)))
        return false;
    snprintf(path, sizeof path, "%s/exported.db", save->folder);
    return save->kept || (save->saving.store = store_open(path, STORE_WRITE, error));
}

bool save_open(struct save *save, const struct save_options *options, struct error *error) {
    save->wanted = save_is_wanted(options);
    save->kept = options->save;
    save->format = options->format;
    if (!save->wanted)
        return true;
    if (save->kept &&
        !(save->saving.store = store_open_default(options->store, STORE_WRITE, error)))
        return error_prefix(error, "--save");
    if (!open_parts(save, error))
        return error_prefix(error, save->kept ? "--save" : "--export");
    return !options->export || save->exported.file ||
           output_open(&save->exported, "--export", options->export, NULL, error);
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

static bool export(struct save *save, struct report *report, struct error *error) {
    int64_t session = save->saving.session;
    /* What profilers say are columns, too, of formats that have columns. */
    const struct store_filter filter = {
        .sessions = &session,
        .session_count = 1,
        .event = exchange_format_has_columns(save->format) ? NULL : "cycles"};
    if (!save->exported.file)
        return true;
    return exchange_export(save->saving.store, &filter, save->format, save->exported.file, error) &&
           output_close(&save->exported, error) &&
           (report_note(report, "the profile is in %s (%s %s)", save->exported.path,
                        exchange_format_viewer(save->format), save->exported.path) ||
            error_set(error, "out of memory for the report"));
}

bool save_note(struct save *save, struct report *report, struct error *error) {
    struct saving *saving = &save->saving;
    if (!save->wanted)
        return true;
    saving_finish(saving);
    if (saving->failed) {
        *error = saving->error;
        return error_prefix(error, save->kept ? "--save" : "--export");
    }
    if (!saving->session)
        return true;
    if (!export(save, report, error))
        return false;
    if (!save->kept)
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

void save_discard(struct save *save) {
    save_close(save);
    output_discard(&save->exported);
}
