/* A fixed table of owned strings. Text may come from a hostile trace, so it is shortened and made
 * printable before a terminal sees it. */
#include "trace/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void notes_add(struct notes *notes, const char *format, ...) {
    char text[NOTE_MAX_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    for (uint32_t i = 0; i < notes->count; i++)
        if (strcmp(notes->text[i], text) == 0)
            return;
    if (notes->count == NOTES_MAX)
        return;
    char *copy = strdup(text);
    if (copy)
        notes->text[notes->count++] = copy;
}

void notes_free(struct notes *notes) {
    for (uint32_t i = 0; i < notes->count; i++)
        free(notes->text[i]);
    notes->count = 0;
}
