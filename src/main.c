/* culprit: finds what every processor cycle of a program was spent on, why, and what would change
 * if the cause went away. One verb per question; each is a file in src/cmd/. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "util/array.h"
#include "util/heap.h"
#include "util/nearest.h"

/* In the order of --help. */
struct entry {
    const char *question; /* heading of a new group, or NULL */
    const char *name, *summary;
    const struct verb *verb;
};

static const struct entry VERBS[] = {
    {"Where does the time go, and why?", "explain",
     "explain a command: its costly functions, lines and instructions", &verb_explain},
    {"What does this live machine do?", "daemon",
     "collect samples of the whole machine, continuously, into the profile database", &verb_daemon},
    {NULL, "record", "sample one command while it runs, without privileges", &verb_record},
    {NULL, "stat", "how long a command takes, and with what: time, memory, faults, switches",
     &verb_stat},
    {NULL, "top",
     "samples by procedure, image, line, process or epoch; cycles of saved simulations", &verb_top},
    {NULL, "annotate",
     "one procedure by instructions: how long each stalls, and what can have caused it",
     &verb_annotate},
    {NULL, "variance", "which procedures differ most between several profiles", &verb_variance},
    {NULL, "diff", "two profiles side by side: what changed, and whether by more than chance",
     &verb_diff},
    {NULL, "epochs", "list the profiles kept; begin, merge, prune, export, import", &verb_epochs},
    {"What would change?", "sim",
     "simulate a command or a trace on any machine, with --ideal and "
     "--set",
     &verb_sim},
    {NULL, "compare", "two builds or runs: which function, which line, which event changed",
     &verb_compare},
    {NULL, "gate", "whether a build is slower than its baseline, and why; for automatic tests",
     &verb_gate},
    {NULL, "sharing",
     "lines of memory that move between the cores of threads; what padding would save",
     &verb_sharing},
    {NULL, "icost", "what each cause costs; which causes overlap, which are in series",
     &verb_icost},
    {NULL, "predict",
     "what long data misses cost on other machines, by a model, without simulating", &verb_predict},
    {NULL, "contend",
     "what programs that share a cache cost each other, by a model, without simulating",
     &verb_contend},
    {NULL, "throughput",
     "instructions per cycle of chips whose cores interleave threads, by models", &verb_throughput},
    {NULL, "machines", "list, show and check machine descriptions", &verb_machines},
    {NULL, "calibrate", "measure this processor; write a machine file of it", &verb_calibrate},
    {"How far are profilers from the truth?", "profilers",
     "run every profiler over one simulation, against what every cycle says", &verb_profilers},
    {NULL, "samples", "show the samples of TIP or TEA that sim --tap wrote", &verb_samples},
    {"What did it execute?", "trace", "capture an instruction trace of a command", &verb_trace},
    {NULL, "bbv", "profile a command slice by slice; count what it executes", &verb_bbv},
    {NULL, "fdo", "count what a command executes, as a profile for compilers: AutoFDO, BOLT",
     &verb_fdo},
    {"Which parts of a long run stand for all of it?", "regions",
     "choose regions from basic block vectors; compare and sweep ways to choose", &verb_regions},
    {NULL, "validate",
     "how far an estimate from regions is off, or a simulated machine from this one",
     &verb_validate},
};
enum { VERB_COUNT = sizeof VERBS / sizeof *VERBS };

static void print_help(FILE *file) {
    fputs("usage: culprit VERB [OPTION...] [--] COMMAND...\n\n"
          "Finds what every processor cycle of a program was spent on, and why.\n",
          file);
    for (int i = 0; i < VERB_COUNT; i++) {
        if (VERBS[i].question)
            fprintf(file, "\n%s\n", VERBS[i].question);
        fprintf(file, "  %-10s %s\n", VERBS[i].name, VERBS[i].summary);
    }
    fputs("\n'culprit help VERB' tells more, with an example. To begin with:\n"
          "  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n",
          file);
}

static const struct entry *find_verb(const char *name) {
    const size_t i = index_where(k, VERB_COUNT, !strcmp(name, VERBS[k].name));
    return i < VERB_COUNT ? &VERBS[i] : NULL;
}

static int unknown_verb(const char *name) {
    const char *names[VERB_COUNT];
    for (int i = 0; i < VERB_COUNT; i++)
        names[i] = VERBS[i].name;
    const char *nearest = nearest_word(name, names, VERB_COUNT);
    if (nearest)
        fprintf(stderr, "culprit: %s: no such verb (did you mean '%s'?)\n", name, nearest);
    else
        fprintf(stderr, "culprit: %s: no such verb (see 'culprit --help')\n", name);
    return STATUS_USAGE;
}

/* argv[0] is the verb. */
static int run_verb(const struct entry *entry, int argc, char **argv) {
    char name[64];
    snprintf(name, sizeof name, "culprit %s", entry->name);
    argv[0] = name;
    return verb_main(entry->verb, argc, argv);
}

/* help, help VERB */
static int help(int argc, char **argv) {
    char option[] = "--help";
    if (argc < 3) {
        print_help(stdout);
        return 0;
    }
    const struct entry *entry = find_verb(argv[2]);
    return entry ? run_verb(entry, 2, (char *[]){argv[2], option}) : unknown_verb(argv[2]);
}

int main(int argc, char **argv) {
    heap_in_large_pages();
    verb_watch.stream = stderr;
    /* Who started us may ignore the ends of children; those of a command would then pass unseen. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help(argc, argv);
    if (!strcmp(argv[1], "--version")) {
        puts("culprit " CULPRIT_VERSION);
        return 0;
    }
    const struct entry *entry = find_verb(argv[1]);
    return entry ? run_verb(entry, argc - 1, argv + 1) : unknown_verb(argv[1]);
}
