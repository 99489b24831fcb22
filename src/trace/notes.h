/* Notes: one-line warnings collected on the way, for the end of a report. The same line is kept
 * once; after NOTES_MAX lines further ones are dropped, so hostile input cannot fill memory. */
#pragma once

#include <stdint.h>

enum { NOTES_MAX = 64, NOTE_MAX_LENGTH = 400 };

struct notes {
    char *text[NOTES_MAX]; /* owned */
    uint32_t count;
};

/* Control characters become '?'. Out of memory drops the note. */
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void notes_free(struct notes *notes);
