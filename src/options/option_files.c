/* What is written must not be what is read: "culprit fdo -o ./sort ./sort" would write a profile
 * over the program. */
#include <string.h>
#include <sys/stat.h>

#include "options/option_parsing.h"
#include "util/file_name.h"

void option_note_file(struct parsing *parsing, const struct option_row *option, const void *request,
                      const char *path) {
    if (option->written && parsing->written_count < FILES_MOST) {
        parsing->written[parsing->written_count].option = option;
        parsing->written[parsing->written_count].request = request;
        parsing->written[parsing->written_count++].path = path;
    }
}

/* `word` may also be a command with its arguments, for compare. */
static bool names_file(const char *word, const struct stat *file) {
    char program[4096];
    const size_t length = strcspn(word, " ");
    if (file_is_at(file, word))
        return true;
    if (!word[length] || length >= sizeof program)
        return false;
    memcpy(program, word, length);
    program[length] = 0;
    return file_is_at(file, program);
}

static void check_arguments(const struct argp_state *state, const struct parsing *parsing,
                            unsigned number, const struct stat *file) {
    const char *path = parsing->written[number].path;
    for (int i = parsing->first; i && i < state->argc; i++)
        if (state->argv[i] != path && names_file(state->argv[i], file))
            options_fail(state, "--%s %s: would be written over %s, which the command line names",
                         parsing->written[number].option->name, path, state->argv[i]);
}

/* Of -o the last counts, as scripts that put it in front of others' words rely on. */
static void check_options(const struct argp_state *state, const struct parsing *parsing,
                          unsigned number, const struct stat *file) {
    const char *path = parsing->written[number].path;
    const struct option_row *option = parsing->written[number].option;
    for (unsigned i = 0; i < number; i++)
        if (parsing->written[i].option == option) {
            if (!option->letter && strcmp(parsing->written[i].path, path) != 0)
                options_fail(state, "--%s %s: already given, as %s; only one is written",
                             option->name, path, parsing->written[i].path);
        } else if ((file ? file_is_at(file, parsing->written[i].path)
                         : !strcmp(parsing->written[i].path, path))) {
            options_fail(state, "--%s %s: is the file of --%s", option->name, path,
                         parsing->written[i].option->name);
        }
}

static bool is_beginning(const struct parsing *parsing, unsigned number) {
    const struct option_row *option = parsing->written[number].option;
    const char *text = NULL;
    if (option->beginning)
        memcpy(&text, (const char *)parsing->written[number].request + option->beginning - 1,
               sizeof text);
    return text;
}

void option_check_files(const struct argp_state *state, const struct parsing *parsing) {
    for (unsigned i = 0; i < parsing->written_count; i++) {
        const char *path = parsing->written[i].path;
        struct stat file;
        const bool exists = stat(path, &file) == 0;
        if (!strcmp(path, "-") || is_beginning(parsing, i) || (exists && !S_ISREG(file.st_mode)))
            continue;
        if (exists)
            check_arguments(state, parsing, i, &file);
        check_options(state, parsing, i, exists ? &file : NULL);
    }
}
