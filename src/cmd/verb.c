#include "cmd/verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "options/exit_status.h"
#include "program/debug_server.h"

void print_error(const struct error *error) {
    struct error told = *error;
    temporary_unname(&verb_watch.temporaries, &told);
    fprintf(stderr, "culprit: %s\n", told.message);
}

bool verb_open_report(struct verb_run *run, struct error *error) {
    return report_files_open(&run->files, &run->output, run->command, error);
}

void verb_command_ended(struct verb_run *run, const struct trace *trace) {
    if (run->command && trace)
        run->exit = trace_exit_status(trace);
}

bool verb_report_late(struct verb_run *run, const struct error *error) {
    if (!run->late.message[0])
        run->late = *error;
    return true;
}

/* The report as data, and its picture. */
static bool write_html(struct html *html, const struct report_forms *forms, const void *report,
                       struct error *error) {
    if (!html->data)
        return true;
    if (!forms->json(report, html->data, error))
        return false;
    if (!forms->svg)
        return true;
    if (!html_text(html, "picture", error))
        return false;
    forms->svg(report, html->data);
    return true;
}

bool verb_write_report(struct verb_run *run, const struct report_forms *forms, const void *report,
                       struct error *error) {
    struct report_files *files = &run->files;
    const struct page page = output_page(&files->report);
    if (files->picture.file)
        forms->svg(report, files->picture.file);
    struct error late;
    if (!write_html(&files->html, forms, report, &late))
        verb_report_late(run, &late);
    if (run->output.json)
        return forms->json(report, files->report.file, error);
    forms->text(report, &page);
    return true;
}

struct program *verb_program(void) {
    struct program *program = program_new();
    if (program)
        program_keep(program, &verb_watch.kept);
    return program;
}

static bool take_steps(const struct verb *verb, struct verb_run *run, struct error *error) {
    if (verb->prepare && !verb->prepare(run, error))
        return false;
    if (verb->run) {
        interrupt_catch();
        if (!verb->run(run, error))
            return false;
    }
    const bool written = verb->report(run, error) &&
                         (!run->files.report.file || report_files_close(&run->files, error));
    if (run->late.message[0])
        *error = run->late;
    report_files_name_failure(&run->files, error);
    return written && !run->late.message[0];
}

static int exit_status(const struct verb_run *run, bool good) {
    const int signal = run->ended_by ? run->ended_by : verb_watch.signal;
    if (!good)
        return signal && !run->measured ? 128 + signal : run->failed ? run->failed : STATUS_BROKEN;
    if (run->exit.known && (!signal || run->observes))
        return run->exit.signaled ? 128 + run->exit.status : run->exit.status;
    if (signal)
        return 128 + signal;
    return run->command && !run->exit.stopped ? STATUS_BROKEN : 0;
}

int verb_main(const struct verb *verb, int argc, char **argv) {
    struct error error = {0};
    struct verb_run *run = calloc(1, verb->size);
    if (!run) {
        fputs("culprit: out of memory\n", stderr);
        return STATUS_BROKEN;
    }
    interrupt_begin();
    run->argc = argc;
    run->argv = argv;
    run->words = options_parse(verb->line, argc, argv, run);
    if (verb->command)
        memcpy(&run->command, (char *)run + verb->command, sizeof run->command);
    run->failed = run->command ? STATUS_BROKEN : STATUS_FAILED;
    if (verb->choose)
        verb = verb->choose(run);
    const bool good = take_steps(verb, run, &error);
    if (error.message[0])
        print_error(&error);
    const char *complaint;
    for (unsigned i = 0; (complaint = debug_server_complaint(i)); i++)
        fprintf(stderr, "culprit: %s\n", complaint);
    const int status = exit_status(run, good);
    if (verb->free)
        verb->free(run);
    kept_files_free(&verb_watch.kept);
    report_files_discard(&run->files);
    free(run->words);
    free(run);
    return status;
}
