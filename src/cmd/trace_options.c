/* The options of culprit trace. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/trace.h"
#include "util/file_name.h"
#include "util/text.h"

static void begin(void *verb) {
    struct trace_job *job = verb;
    job->warm_up = REGION_DEFAULT_WARM_UP;
    job->other_threads = REGION_DEFAULT_OTHERS;
}

static const char *const FORMATS[] = {
    [TRACE_BY_ENDING] = "auto", [TRACE_CTRACE] = "ctrace", [TRACE_CHAMPSIM] = "champsim"};

#define REQUEST struct trace_job
static const struct option_row OPTIONS[] = {
    HEADING(4, "How to capture:"),
    TEXT("output", "FILE", output,
         "The trace (default: PROGRAM.ctrace); with --regions what all names begin with",
         .letter = 'o', .written = true, .beginning = 1 + OPTION_MEMBER(const char *, regions)),
    CHOICE("format", "FORMAT", format,
           "ctrace, or champsim for that simulator, packed as the file's ending says (.xz, .gz); "
           "auto: the ending says which (default)",
           FORMATS),
    FLAG("compress", compress, "Make the file about four times smaller, more slowly"),
    FLAG("no-addresses", no_addresses,
         "Leave out memory addresses: faster, smaller, but not for simulation"),
    FLAG("check", check,
         "Read all of the trace once more, as a simulation would, rather than its checksums and a "
         "part; with --info: all of that file"),
    FLAG("no-check", no_check, "Do not read the trace once more to see that it is whole"),
    FLAG("data", input.objects,
         "Tell of memory that is allocated, freed and mapped, too, for 'culprit explain --data'"),
    TEXT("regions", "LIST.csv", regions,
         "A trace of each region of the list, and the list with where they are"),
    COUNT("warm-up", "N", warm_up,
          "Instructions before each region that its trace begins with (default 100M)",
          GIVEN(warms_up)),
    COUNT("other-threads", "N", other_threads,
          "Of other threads, at most N times the instructions of the region's own (default 100; "
          "0: only its own thread)",
          GIVEN(with_others)),
    HEADING(5, "Other:"),
    TEXT("import", "FILE", import,
         "A trace that another tool recorded, or one made before, in place of a command"),
    TEXT("info", "FILE.ctrace", info, "Tell what a trace holds; no command"),
    FLAG("json", verb.output.json, "JSON in place of text"),
    {0}};

static void check_regions(const struct trace_job *job, const struct argp_state *state) {
    const struct input_options *input = &job->input;
    if (!job->regions && job->warms_up)
        options_fail(state, "--warm-up: needs --regions LIST.csv");
    if (!job->regions && job->with_others)
        options_fail(state, "--other-threads: needs --regions LIST.csv");
    if (!job->regions)
        return;
    if (job->output)
        options_file(state, "--output", job->output);
    if (input->skip || input->limit || input->from || input->thread >= 0 || input->seconds ||
        input->on_signal)
        options_fail(state, "--regions: the list says what part of the run: leave out --skip, "
                            "--limit, --from, --thread, --for and --on-signal");
    if (job->no_addresses)
        options_fail(state, "--regions: traces of regions have addresses: leave out "
                            "--no-addresses");
    if (job->input.objects)
        options_fail(state, "--regions: traces of regions do not tell of memory that was "
                            "allocated: leave out --data");
}

bool trace_makes_champsim(const struct trace_job *job) {
    return job->format == TRACE_CHAMPSIM || (job->format == TRACE_BY_ENDING && job->output &&
                                             strstr(file_base_name(job->output), ".champsim"));
}

/* A file that its ending misnames is of no use to others. */
static void check_packing(const char *path, struct argp_state *state) {
    static const char *const OTHERS[] = {".zip", ".bz2", ".zst", ".lz4"};
    for (size_t i = 0; path && i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (text_ends_with(path, OTHERS[i]))
            options_fail(state,
                         "--output %s: ChampSim's traces are written as they are, as .xz or as .gz",
                         path);
}

static void check_format(const struct trace_job *job, struct argp_state *state) {
    const bool champsim = job->format == TRACE_CHAMPSIM;
    if (trace_makes_champsim(job))
        check_packing(job->output, state);
    if (job->import && job->regions)
        options_fail(state, "--regions: it captures a command, not --import");
    const struct input_options *input = &job->input;
    if (job->import && (input->skip || input->limit || input->from || input->seconds ||
                        input->on_signal || input->objects || job->no_addresses))
        options_fail(state,
                     "--import: it takes all of the file: leave out --skip, --limit, --from, "
                     "--for, --on-signal, --data and --no-addresses");
    if (champsim && (job->regions || job->input.objects || job->no_addresses))
        options_fail(state, "--format champsim: leave out --regions, --data and --no-addresses");
}

static void check_depth(const struct trace_job *job, const struct argp_state *state) {
    if (!job->check)
        return;
    if (job->no_check)
        options_fail(state, "--check and --no-check: give one of them");
    if (job->regions)
        options_fail(state, "--check: traces of regions are checked with --info, one by one");
    const char *path = job->info ? job->info : job->output;
    if (path && !strcmp(path, "-"))
        options_fail(state, "--check: a pipe cannot be read once more");
}

static void check_request(struct argp_state *state, void *given) {
    const struct trace_job *job = given;
    if (job->info && !strncmp(job->info, "--", 2))
        options_fail(state, "--info: which file? (culprit trace --info FILE.ctrace %s)", job->info);
    if ((job->info || job->import) && job->input.command)
        options_fail(state, "%s: it reads a trace and runs no command (leave out '%s')",
                     job->info ? "--info" : "--import", job->input.command[0]);
    if (!job->info + !job->import + !job->input.command != 2)
        options_fail(state, "what to capture? (culprit trace [OPTION...] -- COMMAND..., or "
                            "culprit trace --info FILE.ctrace)");
    check_depth(job, state);
    check_regions(job, state);
    check_format(job, state);
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct trace_job, input)},
                                           {&for_group, offsetof(struct trace_job, input)},
                                           {0}};

const struct command_line trace_line = {
    .own = {.options = OPTIONS, .begin = begin, .end = check_request},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\n--import FILE\n--info FILE.ctrace",
    .help = "Captures what a command executes, instruction by instruction, into a file that sim "
            "and explain read."
            "\vExample:\n  culprit trace -o ls.ctrace -- ls / && culprit sim ls.ctrace\n\n"
            "The command keeps standard output and its exit status; 125 when culprit failed.\n"};
