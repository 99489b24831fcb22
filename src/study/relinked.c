#include "study/relinked.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/random.h"
#include "util/spawn.h"
#include "util/text.h"

/* ---- words ---- */

/* A copy of a word with the first `name` in it replaced; NULL: out of memory. */
static char *replaced(const char *word, const char *name, const char *value) {
    const char *at = strstr(word, name);
    char *copy;
    if (!at)
        return strdup(word);
    return asprintf(&copy, "%.*s%s%s", (int)(at - word), word, value, at + strlen(name)) < 0 ? NULL
                                                                                             : copy;
}

static char *filled_in(const char *word, const char *file, const char *number) {
    char *once = replaced(word, "{}", file);
    char *twice = once ? replaced(once, "{n}", number) : NULL;
    free(once);
    return twice;
}

static bool is_object(const char *word) {
    const size_t length = strlen(word);
    return length > 2 && !strcmp(word + length - 2, ".o");
}

/* Fisher and Yates's shuffle, of the places that objects have. */
static void shuffle(char **words, uint32_t layout) {
    uint64_t state = layout;
    uint32_t left = 0;
    for (char **word = words; *word; word++)
        left += is_object(*word);
    for (char **word = words; layout && left && *word; word++) {
        if (!is_object(*word))
            continue;
        uint64_t other = random_next(&state) % left--;
        char **at = word;
        while (at[1] && (other || !is_object(*at)))
            other -= is_object(*at++);
        char *moved = *at;
        *at = *word;
        *word = moved;
    }
}

/* In place of words that are parts of a text. False: out of memory; they end there. */
static bool fill_in(char **words, const char *file, const char *number) {
    bool good = true;
    for (char **word = words; *word; word++)
        good = (*word = good ? filled_in(*word, file, number) : NULL);
    return good;
}

char **relinking_words(const char *command, const char *file, uint32_t layout) {
    char number[16], *copy = strdup(command), **words = copy ? text_words(copy, 0) : NULL;
    snprintf(number, sizeof number, "%u", layout);
    const bool good = words && fill_in(words, file, number);
    free(copy);
    if (good) {
        shuffle(words, layout);
        return words;
    }
    relinking_free_words(words);
    return NULL;
}

void relinking_free_words(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* ---- the command ---- */

enum { LOOK_AGAIN_NANOSECONDS = 5000000, TURNS_TO_END = 200 };

/* 0, or errno. After an interrupt it is asked to end, and a second later it and all that it started
 * are killed. */
static int await(pid_t child, const struct watch *watch, int *status) {
    unsigned turns = 0; /* since the interrupt */
    for (;;) {
        const pid_t ended = waitpid(child, status, WNOHANG);
        if (ended == child)
            return 0;
        if (ended < 0 && errno != EINTR)
            return errno;
        if (watch->signal && turns++ % TURNS_TO_END == 0)
            kill(-child, turns == 1 ? SIGTERM : SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NANOSECONDS}, NULL);
    }
}

static int run(char **words, const struct watch *watch, int *status) {
    pid_t child;
    const int reason = spawn(words, -1, -1, &child);
    return reason ? reason : await(child, watch, status);
}

bool relinked(const char *command, const char *file, uint32_t layout, const struct watch *watch,
              struct error *error) {
    char **words = relinking_words(command, file, layout);
    int status = 0;
    if (!words || !words[0]) {
        relinking_free_words(words);
        return error_set(error, "--relink '%s': no command", command);
    }
    errno = run(words, watch, &status);
    relinking_free_words(words);
    if (errno)
        return error_errno(error, "--relink: cannot run '%s'", command);
    if (watch->signal)
        return error_set(error, "--relink: '%s' was interrupted", command);
    if (status)
        return error_set(error, "--relink: '%s' failed under layout %u: its message is above",
                         command, layout);
    return access(file, X_OK) == 0 ||
           error_set(error, "--relink: '%s' has not written a program to {}", command);
}
