/* Lines of source files, as they are on this machine now. */
#pragma once

#include <stdint.h>

struct source_text;

struct source_text *source_text_new(void); /* NULL: out of memory */
void source_text_free(struct source_text *text);

/* A line of the file of that name, counted from 1, with tabs as spaces and without its indentation;
 * NULL: the file cannot be read, is larger than 16 MiB, or has no such line. Lives until the next
 * call. */
const char *source_text_line(struct source_text *text, const char *name, uint32_t line);
/* The same with its indentation, a tab as spaces up to the next column of eight. */
const char *source_text_whole_line(struct source_text *text, const char *name, uint32_t line);
