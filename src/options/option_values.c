/* What the value of an option must be, by its row. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/exit_status.h"
#include "options/option_parsing.h"
#include "util/count.h"
#include "util/duration.h"

void options_fail(const struct argp_state *state, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", state->argv[0], message);
    for (int i = 1; i < state->argc; i++)
        if (!strcmp(state->argv[i], "--"))
            exit(STATUS_BROKEN);
    exit(STATUS_USAGE);
}

void options_take_one(const struct argp_state *state, const char **argument, char *value) {
    if (*argument)
        options_fail(state, "%s: one argument too many", value);
    *argument = value;
}

/* ---- values ---- */

uint64_t options_count(const struct argp_state *state, const char *option, const char *text) {
    const char *end;
    uint64_t count;
    enum count_reading read = count_read(text, &count, &end);
    if (read == COUNT_NONE || *end)
        options_fail(state, "%s %s: not a count (a whole number, with K, M, G or T for thousands)",
                     option, text);
    if (read == COUNT_TOO_LARGE)
        options_fail(state, "%s %s: too large", option, text);
    return count;
}

uint64_t options_count_within(const struct argp_state *state, const char *option, const char *text,
                              uint64_t least, uint64_t most) {
    const uint64_t count = options_count(state, option, text);
    if (count < least || count > most)
        options_fail(state, "%s %s: from %" PRIu64 " to %" PRIu64, option, text, least, most);
    return count;
}

const char *options_file(const struct argp_state *state, const char *option, const char *path) {
    if (!strcmp(path, "-"))
        options_fail(state,
                     "%s -: standard output has the report, or what the command writes "
                     "(name a file)",
                     option);
    return path;
}

static uint64_t count_of(const struct argp_state *state, const struct option_row *option,
                         const char *text) {
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    const uint64_t count = options_count(state, name, text);
    const uint64_t limit = option->kind == OPTION_INT       ? INT32_MAX
                           : option->kind == OPTION_COUNT32 ? UINT32_MAX
                                                            : UINT64_MAX;
    const uint64_t most = option->most ? option->most : limit;
    if (count >= option->least && count <= most)
        return count;
    if (option->must)
        options_fail(state, "%s %s: %s", name, text, option->must);
    if (most == limit && count > most)
        options_fail(state, "%s %s: too large", name, text);
    if (most == limit)
        options_fail(state, "%s %s: at least %" PRIu64, name, text, option->least);
    if (option->least == 0)
        options_fail(state, "%s %s: at most %" PRIu64, name, text, most);
    options_fail(state, "%s %s: from %" PRIu64 " to %" PRIu64, name, text, option->least, most);
}

static double duration_of(const struct argp_state *state, const struct option_row *option,
                          const char *text) {
    double seconds;
    if (!duration_read(text, &seconds) || seconds <= 0)
        options_fail(state, "--%s %s: a time above 0, such as 30s, 5min, 1h or 7d", option->name,
                     text);
    return seconds;
}

static double fraction_of(const struct argp_state *state, const struct option_row *option,
                          const char *text) {
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number <= (double)option->most))
        options_fail(state, "--%s %s: a number from 0 to %" PRIu64, option->name, text,
                     option->most);
    return number;
}

static double percent_of(const struct argp_state *state, const struct option_row *option,
                         const char *text) {
    char *end;
    const double percent = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) ||
        !(percent * 100 >= (double)option->least && percent <= 100))
        options_fail(state, "--%s %s: %s", option->name, text,
                     option->must ? option->must : "a percentage from 0 to 100");
    return percent / 100;
}

static uint32_t choice_of(const struct argp_state *state, const struct option_row *option,
                          const char *text) {
    char list[512] = "";
    size_t used = 0, count = 0;
    for (uint32_t i = 0; i < option->most; i++)
        count += option->names[i] != NULL;
    for (uint32_t i = 0; i < option->most; i++) {
        if (!option->names[i])
            continue;
        if (!strcmp(text, option->names[i]))
            return i;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                     !used        ? ""
                                     : count == 2 ? " or "
                                                  : ", ",
                                     option->names[i]);
    }
    options_fail(state, "--%s%s%s: %s%s", option->name, option->optional ? "=" : " ", text,
                 count == 2 ? "" : "one of ", list);
}

static void add_to_list(const struct argp_state *state, const struct option_row *option,
                        char *request, const char *value) {
    uint64_t count = 0;
    memcpy(&count, request + option->counter, option->least);
    if (count == option->most)
        options_fail(state, "--%s: more than %" PRIu64 "%s", option->name, option->most,
                     option->must ? option->must : "");
    ((const char **)(request + option->member))[count++] = value;
    memcpy(request + option->counter, &count, option->least);
}

static void refuse_empty(const struct argp_state *state, const struct option_row *option) {
    const bool file = option->written || (option->kind == OPTION_TEXT && option->least);
    options_fail(state, "--%s: the %s is empty", option->name, file ? "name" : "value");
}

void option_set(struct argp_state *state, const struct option_row *option, void *request,
                char *value) {
    char *const member = (char *)request + option->member;
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    if (value && !*value && !option->may_be_empty)
        refuse_empty(state, option);
    switch (option->kind) {
    case OPTION_END:
    case OPTION_HEADING:
        break;
    case OPTION_TRUE:
    case OPTION_FALSE:
        *(bool *)member = option->kind == OPTION_TRUE;
        break;
    case OPTION_VALUE:
        *(uint32_t *)member = (uint32_t)option->most;
        break;
    case OPTION_TEXT:
        *(const char **)member = value;
        break;
    case OPTION_FILE:
        *(const char **)member = options_file(state, name, value);
        break;
    case OPTION_BIT:
        *(unsigned *)member |= (unsigned)option->most;
        break;
    case OPTION_LIST:
        add_to_list(state, option, request, value);
        break;
    case OPTION_COUNT:
        *(uint64_t *)member = count_of(state, option, value);
        break;
    case OPTION_COUNT32:
        if (value)
            *(uint32_t *)member = (uint32_t)count_of(state, option, value);
        break;
    case OPTION_INT:
        *(int *)member = (int)count_of(state, option, value);
        break;
    case OPTION_DURATION:
        *(double *)member = duration_of(state, option, value);
        break;
    case OPTION_FRACTION:
        *(double *)member = fraction_of(state, option, value);
        break;
    case OPTION_PERCENT:
        *(double *)member = percent_of(state, option, value);
        break;
    case OPTION_CHOICE:
        *(uint32_t *)member = value ? choice_of(state, option, value) : (uint32_t)option->least;
        break;
    case OPTION_TAKE:
        option->take(state, request, value);
        break;
    }
    if (option->given)
        ((char *)request)[option->given - 1] = true;
}
