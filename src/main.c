/* culprit: finds what every processor cycle of a program was spent on, why, and what would change
 * if the cause went away. One verb per question; each is a file in src/cmd/. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "cmd/verbs.h"
#include "util/array.h"
#include "util/heap.h"
#include "util/nearest.h"

static void print_help(FILE *file) {
    fputs("usage: culprit VERB [OPTION...] [--] COMMAND...\n\n"
          "Finds what every processor cycle of a program was spent on, and why.\n",
          file);
    for (size_t i = 0; i < verb_count; i++) {
        if (verb_entries[i].question)
            fprintf(file, "\n%s\n", verb_entries[i].question);
        fprintf(file, "  %-10s %s\n", verb_entries[i].name, verb_entries[i].summary);
    }
    fputs("\n'culprit help VERB' tells more, with an example. To begin with:\n"
          "  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n",
          file);
}

static const struct verb_entry *find_verb(const char *name) {
    const size_t i = index_where(k, verb_count, !strcmp(name, verb_entries[k].name));
    return i < verb_count ? &verb_entries[i] : NULL;
}

static int unknown_verb(const char *name) {
    const char *names[verb_count + 1];
    for (size_t i = 0; i < verb_count; i++)
        names[i] = verb_entries[i].name;
    const char *nearest = nearest_word(name, names, verb_count);
    if (nearest)
        fprintf(stderr, "culprit: %s: no such verb (did you mean '%s'?)\n", name, nearest);
    else
        fprintf(stderr, "culprit: %s: no such verb (see 'culprit --help')\n", name);
    return STATUS_USAGE;
}

/* argv[0] is the verb. */
static int run_verb(const struct verb_entry *entry, int argc, char **argv) {
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
    const struct verb_entry *entry = find_verb(argv[2]);
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
    const struct verb_entry *entry = find_verb(argv[1]);
    return entry ? run_verb(entry, argc - 1, argv + 1) : unknown_verb(argv[1]);
}
