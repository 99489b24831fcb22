/* culprit pipeline: a window of a Kanata log, a row for each instruction and a column for each
 * cycle. */
#include <inttypes.h>

#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "report/kanata_log.h"

struct job {
    struct verb_run verb;
    const char *path;
    struct kanata_view view;
    struct kanata_log log;
};

enum { ROWS = 40 };

static void begin(void *given) {
    struct job *job = given;
    job->view = (struct kanata_view){.from = UINT64_MAX, .top = ROWS};
}

static bool take_path(struct argp_state *state, void *given, char *value) {
    options_take_one(state, &((struct job *)given)->path, value);
    return true;
}

static void check(struct argp_state *state, void *request) {
    if (!((struct job *)request)->path)
        options_fail(state, "which Kanata log? (culprit sim --kanata FILE writes one)");
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(1, "What is shown:"),
    COUNT("from", "CYCLE", view.from, "Begin at this cycle (default: the log's first)"),
    COUNT("cycles", "N", view.cycles, "So many cycles (default: as the page has room for)",
          .least = 1),
    COUNT("top", "N", view.top, "At most N instructions (default 40; 0: all)"),
    {0}};

static const struct option_part PARTS[] = {{&report_group, offsetof(struct job, verb.output)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_path, .end = check},
    .parts = PARTS,
    .arguments = "FILE",
    .help = "Shows a window of a Kanata log (version 0004), as 'culprit sim --kanata' and other "
            "simulators write it for the Konata viewer: a row for each instruction, a column for "
            "each cycle, and how long the stages of the pipeline last."
            "\vExample:\n  culprit sim --kanata ls.kanata --kanata-from 100K -- ls\n"
            "  culprit pipeline ls.kanata\n\n"
            "FILE may be - for standard input."};

static bool prepare(void *verb, struct error *error) {
    return verb_open_report(verb, error);
}

static bool read_log(void *verb, struct error *error) {
    struct job *job = verb;
    if (!kanata_log_read(&job->log, job->path, error))
        return false;
    return job->view.from == UINT64_MAX || job->view.from < job->log.end ||
           error_set(error, "--from %" PRIu64 ": %s ends before cycle %" PRIu64, job->view.from,
                     job->path, job->log.end);
}

static bool print(void *verb, struct error *error) {
    struct job *job = verb;
    const struct output *output = &job->verb.files.report;
    const struct page page = output_page(output);
    if (job->verb.output.json)
        return kanata_log_json(&job->log, &job->view, job->path, output->file, error);
    kanata_log_print(&job->log, &job->view, job->path, &page);
    return true;
}

static void release(void *verb) {
    kanata_log_free(&((struct job *)verb)->log);
}

const struct verb verb_pipeline = {.line = &LINE,
                                   .size = sizeof(struct job),
                                   .prepare = prepare,
                                   .run = read_log,
                                   .report = print,
                                   .free = release};
