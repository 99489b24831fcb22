#include "report/trace_notes.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report/children.h"
#include "trace/foreign_image.h"
#include "util/array.h"
#include "util/text.h"

enum { NOTED_PROCESSES = 5 };
static const double NOTED_SHARE = 0.01;

/* The programs that the first process ran one after the other. */
static void note_programs(struct report *report, const struct trace *trace) {
    char list[256] = "";
    uint32_t count = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < trace_process_count(trace) && used < sizeof list; i++) {
        const struct trace_process *process = trace_process(trace, i);
        if (!process->traced || process->pid != trace_process(trace, 0)->pid)
            continue;
        int written = snprintf(list + used, sizeof list - used, "%s%s", count++ ? ", then " : "",
                               process->executable);
        used += written > 0 ? (size_t)written : 0;
    }
    if (count > 1)
        report_note(report, "the process ran %" PRIu32 " programs, which are summed: %s%s", count,
                    list, used < sizeof list ? "" : " ...");
}

/* That of a fault, which an instruction can have raised that the emulator has not. */
static bool is_of_fault(int signal) {
    return signal == SIGILL || signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
           signal == SIGTRAP || signal == SIGSYS || signal == SIGABRT;
}

const char *signal_that_ended(struct trace_exit exit, char *text, size_t size) {
    if (!exit.known || !exit.signaled)
        return NULL;
    const char *what = sigdescr_np(exit.status);
    snprintf(text, size, "signal %d (%s) ended the command", exit.status, what ? what : "unknown");
    return text;
}

/* The emulator raises the signal again that ended the command. */
static void note_killed(struct report *report, struct trace_exit exit) {
    char text[128];
    if (signal_that_ended(exit, text, sizeof text))
        report_note(report, "%s%s", text,
                    is_of_fault(exit.status)
                        ? "; if it ends otherwise by itself, the emulator cannot run it"
                        : "");
}

bool note_trace(struct report *report, const struct trace *trace) {
    for (uint32_t i = 0; i < trace_note_count(trace); i++)
        report_note(report, "%s", trace_note(trace, i));
    note_killed(report, trace_exit_status(trace));
    uint32_t untraced = 0, traced = 0;
    note_programs(report, trace);
    for (uint32_t i = 0; i < trace_process_count(trace); i++) {
        const struct trace_process *process = trace_process(trace, i);
        traced += process->traced && !trace_process_goes_on(trace, i);
        if (process->traced || ++untraced > NOTED_PROCESSES || report->fixed)
            continue;
        report_note(report, "process %" PRIu32 " (%s) is not included: %s", process->pid,
                    process->command,
                    process->untraced_reason ? process->untraced_reason : "not traced");
    }
    if (untraced && report->fixed)
        report_note(report, "%" PRIu32 " process%s not included", untraced,
                    untraced == 1 ? " that it started is" : "es that it started are");
    else if (untraced > NOTED_PROCESSES)
        report_note(report, "%" PRIu32 " more processes are not included",
                    untraced - NOTED_PROCESSES);
    if (traced > 1)
        report_note(report, "%" PRIu32 " processes are included, summed", traced);
    if (!report->fixed)
        children_tell(report, trace);
    return untraced > 0;
}

/* Runtimes by the name of their program, and the option by which they write a map of what they
 * compile; NULL: they have none. */
static const struct runtime {
    const char *name, *option;
} RUNTIMES[] = {
    {"node", "--perf-basic-prof"},
    {"java", "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"},
    {"python3", "-X perf"},
    {"luajit", NULL},
};

static const struct runtime *runtime_of(const char *program) {
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    const size_t count = sizeof RUNTIMES / sizeof *RUNTIMES;
    const size_t i =
        index_where(k, count, !strncmp(name, RUNTIMES[k].name, strlen(RUNTIMES[k].name)));
    return i < count ? &RUNTIMES[i] : NULL;
}

/* The command line with an option behind the program's name; NULL: out of memory. */
static char *with_option(const char *option, char *const *command, int argc, char **argv) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs(argv[0], file);
    for (int i = 1; i < argc; i++) {
        if (!argv[i])
            continue;
        fputc(' ', file);
        text_put_word(file, argv[i]);
        if (argv[i] == command[0])
            fprintf(file, " %s", option);
    }
    return text_printer_end(&printer);
}

/* Of cycles, in code that is of no file and that nobody named. */
static double nameless_share(const struct report *report, const struct code *code) {
    const struct simulation *simulation = report->simulation;
    double units = 0;
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        const struct code_image *image =
            &code->images[code->insns[simulation->cells[i].insn].image];
        if (image->kind == CODE_IMAGE_ANONYMOUS && !image->symbol && !is_foreign_image(image->path))
            units += (double)simulation->cells[i].units;
    }
    return simulation->cycles ? units / ((double)simulation->cycles * CYCLE_UNITS) : 0;
}

void note_made_code(struct report *report, const struct code *code, char *const *command, int argc,
                    char **argv) {
    double share = nameless_share(report, code);
    if (share < NOTED_SHARE)
        return;
    const struct runtime *runtime = command ? runtime_of(command[0]) : NULL;
    report_note(report,
                "code made at run time, without names: %s %% of cycles, in [anon] by connected "
                "pieces of code%s",
                text_percent(share, 1).s,
                runtime && !runtime->option
                    ? "; luajit writes no map of it (/tmp/perf-PID.map) as Debian builds it, and "
                      "-jv and -jdump name no addresses to go by"
                : runtime ? ""
                          : "; names come from /tmp/perf-PID.map, where its runtime writes one");
    if (!runtime || !runtime->option)
        return;
    bool asked = false; /* the option is there, and did not help */
    for (char *const *word = command; *word; word++)
        asked |= strstr(runtime->option, *word) && strlen(*word) > 4;
    char *text = asked ? NULL : with_option(runtime->option, command, argc, argv);
    if (text)
        report_note_command(report, "to have them:", text);
    free(text);
}

void note_lost_regions(struct report *report, const char *list, const struct regions_lost *lost) {
    if (lost->count)
        report_note(report,
                    "%s: %u region%s, %s %% of the run, not captured: the others stand for %s, by "
                    "weight",
                    list, lost->count, text_plural(lost->count), text_percent(lost->share, 1).s,
                    lost->count == 1 ? "it" : "them");
}

void note_cut(struct report *report, const char *path, bool saved) {
    report_note(report, "%.200s %s: its program is taken to end there", path,
                saved ? "is of a run that breaks off" : "breaks off");
}

void note_cut_programs(struct report *report, const struct locality_inputs *inputs) {
    for (uint32_t i = 0; i < inputs->program_count; i++)
        if (inputs->programs[i].locality.partial) {
            note_cut(report, inputs->programs[i].path, inputs->programs[i].saved);
            report->partial = true;
        }
}

void note_raced(struct report *report, const struct layout_result *result) {
    if (result->simulation->thread_count > 1)
        report_note(report,
                    "%s has threads, whose order may be another in each run: what differs "
                    "is not of layout alone",
                    result->command);
}
