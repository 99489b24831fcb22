/* Inside of this room: fields of the lines of a baseline, written and read
 * (docs/baseline-format.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

#define MAX_CYCLES UINT64_C(1000000000000000)

/* Tabs and ends of lines are not in names, nor what would steer a terminal. */
void field_put_escaped(FILE *file, const char *text);
/* The same undone, in place; false: no such text. */
bool field_unescape(char *text);

/* Cycles of so many units, with three decimals: enough to tell every 840th of one. */
void field_put_cycles(FILE *file, uint64_t units);
bool field_read_cycles(const char *text, uint64_t *units);

/* Digits; *end is what follows them. False: none, or more than `most`. */
bool field_read_digits(const char *text, uint64_t most, uint64_t *number, const char **end);
bool field_read_count(const char *text, uint64_t most, uint64_t *number);

/* So many hexadecimal digits, and nothing else. */
bool field_read_hexadecimal(const char *text, size_t digits, uint64_t *number);

/* The value of "key=value"; NULL: another key. */
const char *field_value(const char *field, const char *key);

/* The text of a file (baseline_file.c). NULL with an error, or, if there is no file, *absent. */
char *baseline_load(const char *path, size_t *size, bool *absent, struct error *error);
