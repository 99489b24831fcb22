/* Baselines: what programs took, in a small text file that is kept beside their source, so that a
 * later run can be held against it (docs/baseline-format.md).
 *
 *     a run ──► compared_summary ──► baseline_entry ──► text of an entry ──► file
 *     file ──► struct baseline ──► an entry ──► a run, of which not all is kept (compared_run.h)
 *
 * A file has an entry for each command. An entry is written as a whole; those that stay do so byte
 * by byte. Nothing of a file is believed: it may be hostile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/compared_run.h"
#include "util/error.h"

enum {
    BASELINE_FORMAT = 2,          /* 1 had no last line; it is read, too */
    BASELINE_ENTRY_BYTES = 20000, /* at which an entry keeps fewer functions and lines */
    BASELINE_WORDS = 1024,        /* of a command, at most */
    BASELINE_LAYOUTS = 1000       /* likewise */
};

/* What must be the same, so that two runs can be compared. */
struct baseline_setting {
    const char *culprit;        /* "0.1 3f9a01bc": version, and a number of what simulates */
    const char *machine;        /* "zen4 00c0ffee00c0ffee": name, and a number of its description */
    const char *const *options; /* "--limit 5000000", one in each; and NULL */
};

struct baseline_entry {
    const char *name;
    const char **words; /* of the command, and NULL */
    struct baseline_setting setting;
    uint64_t
        *layouts; /* cycles under each layout of memory; 0: not known. NULL: of layout 0 alone */
    uint32_t layout_count;
    uint64_t second; /* cycles that another run of the same took; 0: there was none, or the same */
    struct compared_run run; /* title is the command */
    const char *text;        /* in the file */
    size_t size;
};

struct baseline {
    struct arena names;
    char *text;      /* of the file */
    const char *end; /* in it: what is behind the last entry */
    struct baseline_entry *entries;
    size_t count, capacity;
};

/* A file that is not there has no entries. baseline_free() either way. */
bool baseline_read(struct baseline *baseline, const char *path, struct error *error);
void baseline_free(struct baseline *baseline);
/* NULL: there is none. */
const struct baseline_entry *baseline_find(const struct baseline *baseline, const char *name);

/* The text of an entry, of at most BASELINE_ENTRY_BYTES where that can be, to be freed; NULL with
 * an error. `run` is all of a run, and is sorted. */
char *baseline_entry_text(const struct baseline_entry *entry, struct compared_run *run,
                          struct error *error);

/* Puts entries, by name, into the file: those that are there already are replaced, others go to
 * its end. The file is written beside and renamed, while nobody else may do the same; one that is
 * no baseline stays as it is. */
bool baseline_put(const char *path, const char *const *names, char *const *texts, size_t count,
                  struct error *error);
/* Whether baseline_put() will be able to: before a long run. */
bool baseline_check_writable(const char *path, struct error *error);

/* "parse rows.csv": what an entry of a command is called that is given no name, to be freed. NULL:
 * out of memory. */
char *baseline_name(char *const *command);
