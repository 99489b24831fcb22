#include "cluster/slurm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/outside.h"
#include "util/command_path.h"

static const double PATIENCE = 90; /* seconds; commands of Slurm give up by themselves before */
enum { MOST_WORDS = 64, WORD = 96 };

bool slurm_is_here(struct error *error) {
    static const char *const COMMANDS[] = {"sbatch", "squeue", "scancel", "scontrol"};
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        char path[PATH_MAX];
        if (command_find(COMMANDS[i], path, sizeof path) != 0)
            return error_set(error,
                             "no %s in PATH: run it where jobs are submitted to Slurm (Debian's "
                             "package is slurm-client), or leave out --cluster",
                             COMMANDS[i]);
    }
    return true;
}

/* What commands of Slurm say when the controller is not there, or has much to do. */
static bool is_away(const char *complaint) {
    static const char *const SIGNS[] = {
        "Unable to contact",    "timed out",         "Zero Bytes",       "Connection refused",
        "connect failure",      "Communication",     "temporarily",      "Transport",
        "Resource temporarily", "backup controller", "Unspecified error"};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (strcasestr(complaint, SIGNS[i]))
            return true;
    return false;
}

static enum slurm_answer ask(struct outside *outside, const char *const *words,
                             struct error *error) {
    const char *name = !strcmp(words[0], "env") ? words[2] : words[0];
    if (!outside_run(outside, words, PATIENCE, error))
        return SLURM_AWAY;
    if (!outside->status)
        return SLURM_GOOD;
    error_set(error, "%s: %s", name,
              outside->complaint[0] ? outside->complaint : "it failed and does not say why");
    return is_away(outside->complaint) ? SLURM_AWAY : SLURM_REFUSED;
}

enum slurm_answer slurm_largest_array(uint32_t *largest, struct error *error) {
    static const char *const WORDS[] = {"scontrol", "show", "config", NULL};
    struct outside outside;
    enum slurm_answer answer = ask(&outside, WORDS, error);
    if (answer == SLURM_GOOD && !slurm_read_config(outside.said, largest)) {
        error_set(error, "scontrol show config: it does not tell MaxArraySize");
        answer = SLURM_REFUSED;
    }
    if (answer == SLURM_GOOD && *largest < 2) {
        error_set(error, "Slurm takes no job arrays here: its MaxArraySize is %u", *largest);
        answer = SLURM_REFUSED;
    }
    outside_free(&outside);
    return answer;
}

static bool is_among(uint64_t array, const uint64_t *known, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (known[i] == array)
            return true;
    return false;
}

/* It may have been taken, though the answer was lost. */
static bool was_taken(const char *name, const uint64_t *known, size_t known_count,
                      uint64_t *array) {
    struct slurm_list list = {0};
    struct error error;
    bool found = false;
    if (slurm_look(name, &list, &error) == SLURM_GOOD)
        for (size_t i = 0; i < list.count && !found; i++)
            if ((found = !is_among(list.elements[i].array, known, known_count)))
                *array = list.elements[i].array;
    slurm_list_free(&list);
    return found;
}

enum slurm_answer slurm_submit(const struct slurm_submission *submission, const uint64_t *known,
                               size_t known_count, uint64_t *array, struct error *error) {
    const char *words[MOST_WORDS] = {"sbatch", "--parsable", "--no-requeue", "--chdir=/",
                                     "--input=/dev/null"};
    char name[WORD], range[WORD], cpus[WORD], minutes[WORD], megabytes[WORD];
    char *log = NULL;
    size_t count = 5;
    if (asprintf(&log, "--output=%s", submission->log) < 0) {
        error_set(error, "out of memory for a job");
        return SLURM_REFUSED;
    }
    snprintf(name, sizeof name, "--job-name=%s", submission->name);
    snprintf(range, sizeof range, "--array=0-%u", submission->elements - 1);
    if (submission->at_once)
        snprintf(range + strlen(range), sizeof range - strlen(range), "%%%u", submission->at_once);
    words[count++] = name;
    words[count++] = range;
    words[count++] = log;
    if (submission->cpus) {
        snprintf(cpus, sizeof cpus, "--cpus-per-task=%u", submission->cpus);
        words[count++] = cpus;
    }
    if (submission->minutes) {
        snprintf(minutes, sizeof minutes, "--time=%u", submission->minutes);
        words[count++] = minutes;
    }
    if (submission->megabytes) {
        snprintf(megabytes, sizeof megabytes, "--mem=%uM", submission->megabytes);
        words[count++] = megabytes;
    }
    for (size_t i = 0; i < submission->passed_count && count + 2 < MOST_WORDS; i++)
        words[count++] = submission->passed[i];
    words[count++] = submission->script;
    struct outside outside;
    enum slurm_answer answer = ask(&outside, words, error);
    if (answer == SLURM_GOOD && !slurm_read_number(outside.said, array)) {
        error_set(error, "sbatch --parsable: it does not tell the number of the job");
        answer = SLURM_REFUSED;
    }
    if (answer == SLURM_AWAY && was_taken(submission->name, known, known_count, array))
        answer = SLURM_GOOD;
    outside_free(&outside);
    free(log);
    return answer;
}

enum slurm_answer slurm_look(const char *name, struct slurm_list *list, struct error *error) {
    char wanted[WORD], user[WORD];
    snprintf(wanted, sizeof wanted, "--name=%s", name);
    snprintf(user, sizeof user, "--user=%u", (unsigned)getuid());
    /* That variable: all numbers of elements, however many they are. */
    static const char format[] = "--format=" SLURM_FORMAT;
    const char *const words[] = {"env",     "SLURM_BITSTR_LEN=0",
                                 "squeue",  "--noheader",
                                 "--array", "--states=all",
                                 user,      wanted,
                                 format,    NULL};
    struct outside outside;
    enum slurm_answer answer = ask(&outside, words, error);
    if (answer == SLURM_GOOD && !slurm_read_list(outside.said, list)) {
        error_set(error, "out of memory for jobs");
        answer = SLURM_AWAY;
    }
    outside_free(&outside);
    return answer;
}

enum slurm_answer slurm_cancel(const char *name, struct error *error) {
    char wanted[WORD], user[WORD];
    snprintf(wanted, sizeof wanted, "--name=%s", name);
    snprintf(user, sizeof user, "--user=%u", (unsigned)getuid());
    const char *const words[] = {"scancel", "--quiet", user, wanted, NULL};
    struct outside outside;
    const enum slurm_answer answer = ask(&outside, words, error);
    outside_free(&outside);
    return answer;
}
