#include "cluster/submission.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cluster/outside.h"
#include "cluster/task_file.h"
#include "util/output.h"
#include "util/text.h"

enum {
    MOST_LOG = 1 << 18,
    LINE = 300,
    START_SECONDS = 600,
    SLOWER = 10,
    MOST_MINUTES = 7 * 24 * 60
};

/* ---- words ---- */

/* A copy, with `instead` in place of each `what`. */
static char *replaced(const char *text, char what, const char *instead, const char *ends) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs(ends, file);
    for (const char *at = text; *at; at++)
        if (*at == what)
            fputs(instead, file);
        else
            fputc(*at, file);
    fputs(ends, file);
    return text_printer_end(&printer);
}

char *submission_quoted(const char *word) {
    return replaced(word, '\'', "'\\''", "'");
}

char *submission_pattern(const char *path) {
    return replaced(path, '%', "%%", "");
}

/* ---- files ---- */

static bool write_tasks(const struct cluster_request *request, const struct task_array *tasks,
                        const char *path, struct error *error) {
    char **lines = calloc(tasks->count + 1, sizeof *lines);
    if (!lines)
        return error_set(error, "out of memory for tasks");
    for (uint32_t i = 0; i < tasks->count; i++)
        lines[i] = request->tasks[tasks->chosen[i]].line;
    const struct task_file file = {.verb = (char *)request->verb,
                                   .version = (char *)request->version,
                                   .folder = (char *)request->folder,
                                   .each = tasks->each,
                                   .count = tasks->count};
    const bool good = task_file_write(path, &file, lines, error);
    free(lines);
    return good;
}

static bool write_script(const struct cluster_request *request, const char *path, const char *tasks,
                         struct error *error) {
    char self[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size < 0)
        return error_errno(error, "/proc/self/exe");
    self[size] = 0;
    struct output output = {.durable = true};
    char *program = submission_quoted(request->options->program ?: self);
    char *file = submission_quoted(tasks);
    bool good = (program && file) || error_set(error, "out of memory for a job");
    good = good && output_open(&output, "--cluster", path, NULL, error);
    if (good) {
        fprintf(output.file, "#!/bin/sh\nexec %s work %s \"$SLURM_ARRAY_TASK_ID\"\n", program,
                file);
        output.durable = true;
        good = output_close(&output, error);
    }
    output_discard(&output);
    free(program);
    free(file);
    return good;
}

/* ---- the submission ---- */

static uint32_t minutes_of(const struct cluster_request *request, uint32_t each) {
    const double seconds = START_SECONDS + SLOWER * each * request->seconds;
    return seconds < 60.0 * MOST_MINUTES ? (uint32_t)(seconds / 60) + 1 : MOST_MINUTES;
}

/* What sbatch is told, but for names. */
static struct slurm_submission submission_of(const struct cluster_request *request,
                                             const struct task_array *tasks) {
    const struct cluster_options *options = request->options;
    const uint32_t elements = (tasks->count + tasks->each - 1) / tasks->each;
    return (struct slurm_submission){.passed = options->passed,
                                     .passed_count = options->passed_count,
                                     .elements = elements,
                                     .at_once = request->at_once < elements ? request->at_once : 0,
                                     .cpus = options->cpus,
                                     .minutes =
                                         options->time ? 0 : minutes_of(request, tasks->each),
                                     .megabytes = options->memory ? 0 : request->megabytes};
}

enum slurm_answer submission_make(const struct cluster_request *request,
                                  const struct jobs_folder *jobs, const struct task_array *tasks,
                                  const uint64_t *known, uint64_t *array, struct error *error) {
    const uint32_t number = tasks->number;
    char *file = jobs_folder_file(jobs, number + 1, ".tasks");
    char *script = jobs_folder_file(jobs, number + 1, ".sh");
    char *base = jobs_folder_file(jobs, number + 1, ""), *log = NULL;
    char *pattern = base ? submission_pattern(base) : NULL;
    enum slurm_answer answer = SLURM_REFUSED;
    if (!file || !script || !pattern || asprintf(&log, "%s-%%a.log", pattern) < 0) {
        log = NULL;
        error_set(error, "out of memory for a job");
    } else if (write_tasks(request, tasks, file, error) &&
               write_script(request, script, file, error)) {
        struct slurm_submission submission = submission_of(request, tasks);
        submission.name = jobs->name;
        submission.script = script;
        submission.log = log;
        answer = slurm_submit(&submission, known, number, array, error);
    }
    free(file);
    free(script);
    free(base);
    free(pattern);
    free(log);
    return answer;
}

/* ---- what became of it ---- */

void submission_said(const char *log, size_t size, uint32_t number, bool *of_task, char *line,
                     size_t room) {
    char beginning[32];
    const size_t length = (size_t)snprintf(beginning, sizeof beginning, "task %u: ", number);
    *of_task = false;
    for (const char *at = log, *end = log + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if ((size_t)(stop - at) > length && !memcmp(at, beginning, length)) {
            *of_task = true;
            last_line(at + length, (size_t)(stop - at) - length, line, room);
            return;
        }
        at = stop + 1;
    }
    last_line(log, size, line, room);
}

static char *read_end(const char *path, size_t *size) {
    char *text = calloc(1, MOST_LOG + 1);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const off_t end = descriptor >= 0 ? lseek(descriptor, 0, SEEK_END) : -1;
    const off_t from = end > MOST_LOG ? end - MOST_LOG : 0;
    const ssize_t got = text && end > 0 ? pread(descriptor, text, MOST_LOG, from) : 0;
    *size = got > 0 ? (size_t)got : 0;
    if (descriptor >= 0)
        close(descriptor);
    return text;
}

static bool is_full(const char *folder) {
    struct statvfs status;
    return statvfs(folder, &status) == 0 &&
           (!status.f_bavail || (status.f_files && !status.f_favail));
}

void submission_why(const struct jobs_folder *jobs, const char *folder,
                    const struct task_record *record, const struct slurm_element *element,
                    uint64_t array, struct error *why) {
    char *path = NULL, said[LINE] = "", job[LEDGER_WHY];
    bool of_task = false;
    size_t size = 0;
    if (asprintf(&path, "%s/%u-%u.log", jobs->path, record->submission + 1, record->element) < 0)
        path = NULL;
    char *log = path ? read_end(path, &size) : NULL;
    if (log)
        submission_said(log, size, record->number, &of_task, said, sizeof said);
    ledger_why(element, array, record->element, job, sizeof job);
    if (of_task)
        error_set(why, "%s (job %" PRIu64 "_%u; log: %s)", said, array, record->element, path);
    else
        error_set(why, "%s%s%s%s (log: %s)", job, *said ? ": " : "", said,
                  is_full(folder) ? "; there is no room left in the folder of --keep" : "",
                  path ? path : "?");
    free(log);
    free(path);
}
