/* Quotes are taken off character by character. */
#include "util/quoted_command.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"

enum quoting { PLAIN, QUOTED, ESCAPED };

char *quoted_command(char *const *words) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    if (*words) {
        text_put_word(file, *words);
        text_put_words(file, words + 1);
    }
    return text_printer_end(&printer);
}

/* ---- without quotes ---- */

/* Behind a backslash of $'...'. */
static char unescape(const char **at) {
    const char *from = *at;
    if (*from >= '0' && *from <= '7') {
        unsigned value = 0;
        for (int i = 0; i < 3 && *from >= '0' && *from <= '7'; i++)
            value = value * 8 + (unsigned)(*from++ - '0');
        *at = from;
        return (char)value;
    }
    if (*from)
        (*at)++;
    return *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
}

/* Begins or ends a quotation, if one does here. */
static bool take_quote(const char **at, enum quoting *quoting) {
    const bool escapes = *quoting == PLAIN && !strncmp(*at, "$'", 2);
    if (**at != '\'' && !escapes)
        return false;
    *at += escapes ? 2 : 1;
    *quoting = *quoting != PLAIN ? PLAIN : escapes ? ESCAPED : QUOTED;
    return true;
}

/* The next character of a word, or the space behind it. */
static char take_character(const char **at, enum quoting quoting) {
    const char next = *(*at)++;
    if (next == '\\' && quoting == ESCAPED)
        return unescape(at);
    return next == '\\' && quoting == PLAIN && **at ? *(*at)++ : next;
}

/* The word that begins here, in `word`, where there is room for it. Returns its end. */
static const char *take_word(const char *at, char *word) {
    enum quoting quoting = PLAIN;
    while (*at && (quoting != PLAIN || *at != ' '))
        if (!take_quote(&at, &quoting))
            *word++ = take_character(&at, quoting);
    *word = 0;
    return at;
}

/* ---- what it is ---- */

/* The text between these is the word as text_put_word() writes it. */
static bool is_word(const char *text, const char *end, const char *word) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return false;
    text_put_word(file, word);
    char *written = text_printer_end(&printer);
    const size_t length = (size_t)(end - text);
    const bool same = written && strlen(written) == length && !memcmp(written, text, length);
    free(written);
    return same;
}

bool quoted_command_is(const char *text) {
    char *word = malloc(strlen(text) + 1);
    bool is = word != NULL;
    for (const char *at = text, *end; is; at = end + 1) {
        end = take_word(at, word);
        is = is_word(at, end, word);
        if (!*end)
            break;
    }
    free(word);
    return is;
}

char *quoted_command_program(const char *command) {
    char *word = strdup(command);
    if (word && quoted_command_is(command))
        take_word(command, word);
    else if (word)
        word[strcspn(word, " ")] = 0;
    return word;
}

static bool is_joined(const char *quoted, const char *joined) {
    enum quoting quoting = PLAIN;
    while (*quoted)
        if (!take_quote(&quoted, &quoting) &&
            (!*joined || take_character(&quoted, quoting) != *joined++))
            return false;
    return !*joined;
}

bool quoted_command_same(const char *one, const char *other) {
    return !strcmp(one, other) || is_joined(one, other) || is_joined(other, one);
}
