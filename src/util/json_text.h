/* Names that come from files as texts of JSON, which must be UTF-8: whatever is no text is
 * replaced, and so is what could steer a terminal, but for what JSON escapes: a line end is "\n",
 * an escape character "\u001B". */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* NULL: null. A value that could not be made (out of memory) is NULL. */
json_t *json_text(const char *text);
/* Writes that; false: out of memory, or it cannot be written. */
bool json_text_write(const char *text, FILE *file);
