/* What all JSON objects of culprit are made of (docs/json.md). A value that could not be made (out
 * of memory) is NULL, which jansson's *_new functions and json_pack pass on as failure of the
 * whole.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attribute/attribute.h"
#include "util/error.h"
#include "util/json_text.h"

struct machine;
struct report;
struct stack;

/* null where there is no number, or no bound. */
json_t *json_number(double value);
json_t *json_count(uint64_t count);
/* 0, which stands for what is not known: null. */
json_t *json_known(uint64_t count);
json_t *json_texts(const char *const *texts, size_t count);
/* How the machine was chosen: `by` and `why`; null when it was named. */
json_t *json_chosen(const struct machine *machine);
/* The names of the causes that are idealised. */
json_t *json_ideal(uint32_t ideal);
/* Cycles by commit state. */
json_t *json_states(const uint64_t cycles[STATE_COUNT]);
json_t *json_notes(const struct report *report);

/* Cycles by signature. */
json_t *cycle_stack_json(const struct stack *stack);
/* Of the reports by field and by loop. */
json_t *fields_json(const struct report *report);
json_t *loops_json(const struct report *report);
json_t *python_rows_json(const struct report *report);
/* Data objects (json/data.c). */
json_t *data_json(const struct report *report);

/* Writes an object, with a newline, and frees it. False: it could not be made. That it could not be
 * written is told when the file is closed. */
bool json_write(json_t *object, FILE *file, struct error *error);
/* The same, with the report's notes and next command as its last members. */
bool json_write_report(json_t *object, const struct report *report, FILE *file,
                       struct error *error);
