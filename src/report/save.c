#include "report/save.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/core.h"
#include "exchange/push.h"
#include "util/temporary.h"

static bool open_parts(struct save *save, struct error *error) {
    char path[PATH_MAX];
    if (!(save->folder = temporary_folder(save->temporaries, error)))
        return false;
    snprintf(path, sizeof path, "%s/parts.db", save->folder);
    if (!(save->saving.parts = store_open(path, STORE_WRITE, error)))
        return false;
    snprintf(path, sizeof path, "%s/exported.db", save->folder);
    return save->kept || (save->saving.store = store_open(path, STORE_WRITE, error));
}

/* The option that the profile is made for. */
static const char *used_option(const struct save *save, const char *export) {
    return save->kept ? "--save" : export ? "--export" : "--push";
}

static bool open_export(struct save *save, const struct save_options *options,
                        struct error *error) {
    return !options->export || save->exported.file ||
           output_open(&save->exported, "--export", options->export, NULL, error);
}

bool save_open(struct save *save, const struct save_options *options,
               struct temporaries *temporaries, struct error *error) {
    save->temporaries = temporaries;
    save->wanted = save_is_wanted(options);
    save->kept = options->save;
    save->format = options->format;
    save->run_format = options->run_format;
    save->push = options->push;
    if (!save->wanted)
        return open_export(save, options, error);
    if (save->kept &&
        !(save->saving.store = store_open_default(options->store, STORE_WRITE, error)))
        return error_prefix(error, "--save");
    if (!open_parts(save, error))
        return error_prefix(error, "%s", used_option(save, options->export));
    return open_export(save, options, error);
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

static bool export_profile(struct save *save, struct error *error) {
    int64_t session = save->saving.session;
    /* What profilers say are columns, too, of formats that have columns. */
    const struct store_filter filter = {
        .sessions = &session,
        .session_count = 1,
        .event = exchange_format_has_columns(save->format) ? NULL : "cycles"};
    return exchange_export(save->saving.store, &filter, save->format, save->exported.file, NULL,
                           error);
}

static bool export(struct save *save, struct report *report, struct error *error) {
    FILE *file = save->exported.file;
    const char *path = save->exported.path;
    if (!file)
        return true;
    const struct run_record run = {report, save->pipeline};
    if (!(save->run_format ? save->run_format->write(&run, file, error)
                           : export_profile(save, error)))
        return error_prefix(error, "--export %s", path);
    if (!output_close(&save->exported, error))
        return false;
    return report_note(
               report, "the %s in %s (%s %s)", save->run_format ? "run is" : "profile is", path,
               save->run_format ? save->run_format->viewer : exchange_format_viewer(save->format),
               path) ||
           error_set(error, "out of memory for the report");
}

static bool push(struct save *save, struct report *report, struct error *error) {
    const struct store_filter filter = {.sessions = &save->saving.session, .session_count = 1};
    if (!save->push)
        return true;
    return push_store(save->saving.store, &filter, save->push, error) &&
           (report_note(report, "the profile was sent to %s", save->push) ||
            error_set(error, "out of memory for the report"));
}

/* In the user's store. */
static bool note_epoch(const struct save *save, struct report *report, struct error *error) {
    const int64_t session = save->saving.session;
    const char *path = store_path(save->saving.store);
    return report_note(report,
                       "saved as epoch %" PRId64 " of %s (culprit top --store %s --epoch %" PRId64
                       ")",
                       session, path, path, session) ||
           error_set(error, "out of memory for the report");
}

bool save_note(struct save *save, struct report *report, struct error *error) {
    struct saving *saving = &save->saving;
    if (!save->wanted)
        return export(save, report, error);
    saving_finish(saving, report->simulation);
    if (saving->failed) {
        *error = saving->error;
        return error_prefix(error, "%s", used_option(save, save->exported.path));
    }
    if (!saving->session)
        return true;
    return export(save, report, error) && (!save->kept || note_epoch(save, report, error)) &&
           push(save, report, error);
}

void save_close(struct save *save) {
    store_close(save->saving.parts);
    store_close(save->saving.store);
    temporary_remove(save->temporaries, save->folder);
    save->folder = NULL;
    saving_free(&save->saving);
    save->wanted = false;
}

void save_discard(struct save *save) {
    save_close(save);
    output_discard(&save->exported);
}
