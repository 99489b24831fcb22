/* The first run has the command's own standard streams. The second reads the same standard input,
 * when that is a file (or nothing), and writes to nobody. */
#include "cmd/validate_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "live/counters.h"
#include "region/bbv_profile.h"
#include "region/choose.h"
#include "region/region_traces.h"
#include "util/progress.h"

static char *in_folder(const struct validate_run *run, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", run->folder, name) < 0 ? NULL : path;
}

static bool make_folder(struct validate_run *run, struct error *error) {
    const char *directory = getenv("TMPDIR");
    if (asprintf(&run->folder, "%s/culprit-XXXXXX", directory && *directory ? directory : "/tmp") <
        0) {
        run->folder = NULL;
        return error_set(error, "out of memory");
    }
    if (!mkdtemp(run->folder)) {
        error_errno(error, "%s: cannot make a folder for traces (see TMPDIR)", run->folder);
        free(run->folder);
        run->folder = NULL;
        return false;
    }
    return ((run->full = in_folder(run, "full.ctrace")) &&
            (run->list_path = in_folder(run, "regions.csv"))) ||
           error_set(error, "out of memory");
}

/* ---- the first run ---- */

static void show_capture(void *context, const struct capture_result *sofar) {
    progress_update(context, sofar->instructions);
}

static void show_count(void *context, uint64_t instructions) {
    progress_update(context, instructions);
}

static bool capture_full(struct validate_run *run, const struct validate_run_request *request,
                         struct capture_result *result, int *exec_status, struct error *error) {
    const struct capture_options capture = {.command = request->command,
                                            .addresses = true,
                                            .limit = request->limit,
                                            .thread = -1,
                                            .watch_effects = true};
    struct progress progress;
    *exec_status = STATUS_BROKEN;
    progress_start(&progress, stderr, "capturing", "instructions", request->limit);
    bool good = trace_record(&capture, run->full, false, show_capture, &progress, result,
                             exec_status, error);
    progress_finish(&progress);
    if (good && interrupt_signal)
        good = error_set(error, "interrupted before the run was captured");
    if (good && !result->instructions)
        good = error_set(error, "the command executed no instruction that was captured");
    memcpy(run->effect, result->effect, sizeof run->effect);
    const struct trace_exit *exit = &result->exit;
    run->exit_status = !exit->known ? STATUS_BROKEN : exit->status + (exit->signaled ? 128 : 0);
    return good;
}

static bool profile(const struct validate_run *run, const struct validate_run_request *request,
                    const char *vectors, struct error *error) {
    struct bbv_profile_result result = {0};
    struct progress progress;
    int exec_status;
    progress_start(&progress, stderr, "profiling", "instructions", 0);
    const struct bbv_profile_options options = {.trace = run->full,
                                                .size = request->slice,
                                                .path = vectors,
                                                .progress = show_count,
                                                .context = &progress,
                                                .stop = &interrupt_signal};
    bool good = bbv_profile(&options, &result, &exec_status, error);
    progress_finish(&progress);
    bbv_profile_result_free(&result);
    return good;
}

static bool choose(const struct validate_run *run, const struct validate_run_request *request,
                   struct region_list *list, struct error *error) {
    struct choose_settings settings = CHOOSE_DEFAULTS;
    settings.selection.clusters.max_clusters = request->max_regions;
    char *vectors = in_folder(run, "full.bb");
    if (!vectors)
        return error_set(error, "out of memory");
    bool good = profile(run, request, vectors, error) &&
                region_list_choose(list, vectors, &settings, error);
    free(vectors);
    return good;
}

/* ---- the second run ---- */

struct streams {
    int descriptors[3];
    bool opened;
};

/* What the second run reads and writes; false: it cannot read what the first did. */
static bool open_streams(struct streams *streams, off_t input) {
    struct stat file;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        return false;
    streams->descriptors[1] = streams->descriptors[2] = nothing;
    streams->opened = true;
    bool known = fstat(0, &file) == 0;
    if (known && S_ISREG(file.st_mode))
        return lseek(0, input, SEEK_SET) == input;
    streams->descriptors[0] = nothing;
    return !known || S_ISCHR(file.st_mode);
}

static void close_streams(struct streams *streams) {
    if (streams->opened)
        close(streams->descriptors[1]);
    streams->opened = false;
}

static void show_regions(void *context, const struct region_capture_progress *sofar) {
    progress_update(context, sofar->instructions);
}

/* A region that is not reached is a finding, not a failure of validate. */
static void capture_regions(struct validate_run *run, const struct validate_run_request *request,
                            struct region_list *list, const struct streams *streams) {
    struct progress progress;
    struct region_traces traces = {0};
    struct error error = {0};
    int exec_status;
    char *prefix = in_folder(run, "region");
    if (!prefix)
        return;
    struct region_traces_options options = {
        .capture = {.command = request->command, .thread = -1, .stop_at_limit = true},
        .prefix = prefix,
        .warm_up = request->warm_up,
        .progress = show_regions,
        .context = &progress};
    memcpy(options.capture.descriptors, streams->descriptors, sizeof streams->descriptors);
    progress_start(&progress, stderr, "running again", "instructions", list->instructions);
    bool good = region_traces_start(&traces, list, &options, &exec_status, &error) &&
                region_traces_run(&traces, &error);
    progress_finish(&progress);
    if (!good)
        snprintf(run->failure, sizeof run->failure, "%.390s", error.message);
    region_traces_close(&traces);
    free(prefix);
}

static void read_counters(struct validate_run *run, const struct validate_run_request *request,
                          const struct streams *streams) {
    static const enum counted_event events[] = {COUNTED_CYCLES, COUNTED_INSTRUCTIONS};
    uint64_t counts[2];
    struct error ignored; /* a machine without counters is told as such */
    if (request->limit || !counters_have(COUNTED_CYCLES) || !counters_have(COUNTED_INSTRUCTIONS))
        return;
    if (counters_run(request->command, streams->descriptors, events, counts, 2, &ignored) &&
        counts[1])
        run->hardware = (struct hardware_reference){
            .known = true, .cycles = counts[0], .instructions = counts[1]};
}

static void run_again(struct validate_run *run, const struct validate_run_request *request,
                      struct region_list *list, off_t input) {
    struct streams streams = {0};
    if (run->effect[0] && !request->rerun)
        snprintf(run->kept, sizeof run->kept,
                 "the command changes the world (%s), so it was not run again; --rerun does",
                 run->effect);
    else if (!open_streams(&streams, input))
        snprintf(run->kept, sizeof run->kept,
                 "standard input is no file, so the command could not be run again with it");
    else
        capture_regions(run, request, list, &streams);
    close_streams(&streams);
    if (!run->kept[0] && open_streams(&streams, input))
        read_counters(run, request, &streams);
    close_streams(&streams);
}

/* ---- the door ---- */

bool validate_run_go(struct validate_run *run, const struct validate_run_request *request,
                     struct region_list *list, int *exec_status, struct error *error) {
    struct capture_result captured;
    off_t input = lseek(0, 0, SEEK_CUR);
    if (!make_folder(run, error) || !capture_full(run, request, &captured, exec_status, error))
        return false;
    *exec_status = STATUS_BROKEN;
    if (!choose(run, request, list, error))
        return false;
    if (!interrupt_signal)
        run_again(run, request, list, input);
    return true;
}

/* The folder has files only. */
static void remove_folder(const char *folder) {
    DIR *files = opendir(folder);
    struct dirent *file;
    while (files && (file = readdir(files)))
        unlinkat(dirfd(files), file->d_name, 0);
    if (files)
        closedir(files);
    rmdir(folder);
}

void validate_run_free(struct validate_run *run) {
    if (run->folder)
        remove_folder(run->folder);
    free(run->folder);
    free(run->full);
    free(run->list_path);
    *run = (struct validate_run){0};
}
