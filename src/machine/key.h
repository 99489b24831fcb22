/* Inside of the machine room: the keys of machine.def as a table, and values of keys as text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum key_type {
    KEY_NUMBER,
    KEY_SIZE32,
    KEY_SIZE64,
    KEY_REAL,
    KEY_FLAG,
    KEY_TEXT,
    KEY_QUEUE,
    KEY_POOL,
    KEY_ISA,
    KEY_DIRECTION,
    KEY_DISAMBIGUATION,
    KEY_REPLACEMENT,
    KEY_PREFETCHER
};

struct key {
    const char *section; /* "" before the first section; "queue" for every [queue.NAME] */
    const char *name;
    enum key_type type;
    size_t offset; /* of the field in struct machine, machine_queue, machine_pool, machine_class */
    double standard, min, max; /* standard: its value when no file gives one */
    const char *unit, *meaning;
};

extern const struct key KEYS[];
extern const size_t KEY_COUNT;

enum { NAME_SIZE = 16, VALUE_SIZE = 256 };

/* NULL, with keys of the section and the nearest one named, when there is no such key. `section`
 * is as in struct key, `full_section` as the user wrote it. */
const struct key *key_find(const char *section, const char *full_section, const char *name,
                           struct error *error);

/* Reads `text` into the field at `object + key->offset`. Not for KEY_QUEUE and KEY_POOL. The error
 * says which values are allowed, not which key. */
bool key_parse(const struct key *key, void *object, const char *text, struct error *error);

/* The field, of a key that is a number. */
double key_number(const struct key *key, const void *object);

/* Sets the field to its standard value. */
void key_reset(const struct key *key, void *object);

/* True when the field is within the key's range; else the error says what is allowed. */
bool key_check(const struct key *key, const void *object, struct error *error);

/* Writes the field as text that key_parse reads back to the same bits. */
void key_format(const struct key *key, const void *object, char text[VALUE_SIZE]);
