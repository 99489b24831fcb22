/* culprit: finds what every processor cycle of a program was spent on, why, and what would change
 * if the cause went away. One verb per question; each is a file in src/cmd/. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "cmd/verbs.h"
#include "options/exit_status.h"
#include "options/topics.h"
#include "util/array.h"
#include "util/heap.h"
#include "util/nearest.h"
#include "util/output.h"

static void print_help(FILE *file) {
    fputs("usage: culprit VERB [OPTION...] [--] COMMAND...\n\n"
          "Finds what every processor cycle of a program was spent on, and why.\n",
          file);
    for (size_t i = 0; i < verb_count; i++) {
        if (verb_entries[i].question)
            fprintf(file, "\n%s\n", verb_entries[i].question);
        fprintf(file, "  %-10s %s\n", verb_entries[i].name, verb_entries[i].summary);
    }
    fputs("\n'culprit help VERB' tells more, with an example, 'culprit help topics' what else is "
          "told. "
          "To begin with:\n"
          "  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n",
          file);
}

static const struct verb_entry *find_verb(const char *name) {
    const size_t i = index_where(k, verb_count, !strcmp(name, verb_entries[k].name));
    return i < verb_count ? &verb_entries[i] : NULL;
}

static int unknown(const char *name, const char *what, const char *const *names, size_t count) {
    const char *nearest = nearest_word(name, names, count);
    if (nearest)
        fprintf(stderr, "culprit: %s: no such %s (did you mean '%s'?)\n", name, what, nearest);
    else
        fprintf(stderr, "culprit: %s: no such %s (see 'culprit --help')\n", name, what);
    return STATUS_USAGE;
}

static int unknown_verb(const char *name) {
    const char *names[verb_count + 1];
    for (size_t i = 0; i < verb_count; i++)
        names[i] = verb_entries[i].name;
    return unknown(name, "verb", names, verb_count);
}

static int unknown_topic(const char *name) {
    const char *names[verb_count + topic_count + 1];
    for (size_t i = 0; i < verb_count; i++)
        names[i] = verb_entries[i].name;
    for (size_t i = 0; i < topic_count; i++)
        names[verb_count + i] = topics[i].name;
    return unknown(name, "verb or topic", names, verb_count + topic_count);
}

/* argv[0] is the verb. */
static int run_verb(const struct verb_entry *entry, int argc, char **argv) {
    char name[64];
    snprintf(name, sizeof name, "culprit %s", entry->name);
    argv[0] = name;
    return verb_main(entry->verb, argc, argv);
}

static int finish_output(void) {
    struct error error;
    if (output_flush("cannot write", &error))
        return 0;
    fprintf(stderr, "culprit: %s\n", error.message);
    return STATUS_FAILED;
}

/* help, help VERB, help topics, help TOPIC */
static int help(int argc, char **argv) {
    char option[] = "--help";
    if (argc < 3 || !strcmp(argv[2], option) || !strcmp(argv[2], "help")) {
        print_help(stdout);
        return finish_output();
    }
    const struct verb_entry *entry = find_verb(argv[2]);
    const struct topic *topic = topic_find(argv[2]);
    if (entry)
        return run_verb(entry, 2, (char *[]){argv[2], option});
    if (!topic && strcmp(argv[2], "topics") != 0)
        return unknown_topic(argv[2]);
    if (topic)
        topic_print(topic, stdout);
    else
        topics_list(stdout);
    return finish_output();
}

static void go_on(int signal) {
    (void)signal;
}

/* A file that would be larger than allowed (ulimit -f) is an error to tell, as is a full disk. A
 * handler: what is ignored, commands would ignore as well. */
static void outlive_file_limit(void) {
    const struct sigaction action = {.sa_handler = go_on, .sa_flags = SA_RESTART};
    struct sigaction before;
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv) {
    heap_in_large_pages();
    verb_watch.stream = stderr;
    /* Who started us may ignore the ends of children; those of a command would then pass unseen. */
    signal(SIGCHLD, SIG_DFL);
    outlive_file_limit();
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help(argc, argv);
    if (!strcmp(argv[1], "--version")) {
        puts("culprit " CULPRIT_VERSION);
        return finish_output();
    }
    const struct verb_entry *entry = find_verb(argv[1]);
    return entry ? run_verb(entry, argc - 1, argv + 1) : unknown_verb(argv[1]);
}
