/* A row for each option that makes it another run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "study/gated_run.h"

/* Adds a text, which is printed into the arena. */
static bool add(struct gate_options *options, size_t *count, const char *format, const char *value,
                struct error *error) {
    char *text = NULL;
    if (asprintf(&text, format, value) >= 0) {
        options->texts[*count] = arena_copy(&options->names, text, strlen(text));
        free(text);
    }
    return (text && options->texts[(*count)++]) ||
           error_set(error, "out of memory for the options");
}

static bool add_count(struct gate_options *options, size_t *count, const char *format,
                      uint64_t value, struct error *error) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return !value || add(options, count, format, digits, error);
}

static bool add_ideal(struct gate_options *options, size_t *count, struct error *error) {
    char list[256] = "";
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        if (options->ideal >> i & 1)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? "," : "",
                     ideal_name(i));
    return !*list || add(options, count, "--ideal %s", list, error);
}

bool gate_options_print(struct gate_options *options, struct error *error) {
    const struct input_options *input = &options->input;
    size_t count = 0;
    bool good = add_count(options, &count, "--skip %s", input->skip, error) &&
                add_count(options, &count, "--limit %s", input->limit, error) &&
                (!input->stop || add(options, &count, "--stop", "", error)) &&
                (!input->from || add(options, &count, "--from %s", input->from, error)) &&
                (!input->follow || add(options, &count, "--follow", "", error)) &&
                add_ideal(options, &count, error);
    for (uint32_t i = 0; good && i < input->variable_count; i++)
        good = add(options, &count, "--env %s", input->variables[i], error);
    options->texts[count] = NULL;
    return good;
}

static bool parse_one(struct gate_options *options, const char *text, struct error *error) {
    struct input_options *input = &options->input;
    const char *value = strchr(text, ' ');
    const size_t length = value ? (size_t)(value++ - text) : strlen(text);
    char *end = NULL;
#define IS(name_) (length == strlen(name_) && !memcmp(text, name_, length))
    if (IS("--skip") && value)
        input->skip = strtoull(value, &end, 10);
    else if (IS("--limit") && value)
        input->limit = strtoull(value, &end, 10);
    else if (IS("--from") && value && *value)
        input->from = value;
    else if (IS("--env") && value && *value && input->variable_count < INPUT_MOST_VARIABLES)
        input->variables[input->variable_count++] = value;
    else if (IS("--ideal") && value)
        return ideal_parse(value, &options->ideal, error);
    else if (IS("--stop") && !value)
        input->stop = true;
    else if (IS("--follow") && !value)
        input->follow = true;
    else
        return error_set(error, "%s: no option of culprit gate", text);
#undef IS
    return !end || (end != value && !*end) || error_set(error, "%s: no number", text);
}

bool gate_options_parse(struct gate_options *options, const char *const *texts,
                        struct error *error) {
    bool good = true;
    for (; good && *texts; texts++)
        good = parse_one(options, *texts, error);
    return good && gate_options_print(options, error);
}

void gate_options_free(struct gate_options *options) {
    arena_free(&options->names);
}
