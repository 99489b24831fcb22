/* Profiles of the store as rows: by procedure, image, line, process, a slice of its
 * samples, or epoch (DCPI §3.1). Columns
 * are the caller's: events side by side, or sets to compare.
 *
 *     store ──► profile_table_add() for each column ──► profile_table_finish() ──► rows
 *
 * Names are looked up as late as they can be: of a week of 500 images only those are opened that
 * can have one of the rows asked for. Images of one path are one, whatever their build; where only
 * base names count, also those of one base name, so that a rebuilt program compares. */
#pragma once

#include "program/program.h"
#include "query/profile_set.h"
#include "query/timeline.h"

enum profile_by {
    PROFILE_BY_PROCEDURE,
    PROFILE_BY_IMAGE,
    PROFILE_BY_LINE,
    PROFILE_BY_PROCESS, /* this and those below are of no code */
    PROFILE_BY_BUILD,
    PROFILE_BY_PID,
    PROFILE_BY_THREAD,
    PROFILE_BY_CPU,
    PROFILE_BY_CGROUP,
    PROFILE_BY_HOST,
    PROFILE_BY_EPOCH,
    PROFILE_BY_COUNT
};
extern const char *const profile_by_names[PROFILE_BY_COUNT]; /* "procedure" */
/* Whether sums of days tell such rows apart. */
bool profile_by_has_sums(enum profile_by by);

struct profile_table_options {
    enum profile_by by;
    const char *process; /* only of processes of this command or executable; NULL: of all */
    const char *image;   /* only of images of this path or base name; NULL: of all */
    bool base_names;     /* images of one base name are one; so are the programs that have most of
                            each column, if no other column has them: builds with names of their own */
    size_t columns;      /* 1 to 64 */
    bool at_once;        /* all rows will be wanted: a store is read once, all values in memory */
    struct image_names
        *names; /* of the one store that is added, for several tables; NULL: its own */
};

struct profile_row {
    const char *procedure; /* NULL: no name, or not by procedure or line */
    const char *image;     /* path; of processes the executable, or "[several]";
                              "" of epochs */
    const char *file;      /* by line; NULL: not known */
    uint32_t line;
    const char *process;  /* by process, pid, thread: its command; by build: "gzip@4e8c21f0a7b3";
                             by cpu, cgroup, host: what it is called; else NULL */
    const char *build;    /* by build: all of the build id; "" of none; else NULL */
    uint32_t pid, thread; /* by pid, by thread both; 0: not told apart */
    uint32_t processor;   /* by cpu: 1 + its number; 0: not told apart */
    bool told;            /* by a slice: it is one, and not what is not told apart */
    int64_t epoch;        /* by epoch; else 0 */
    bool covered;         /* by procedure: `offset` is where one begins, though it has no name */
    uint64_t offset;      /* in the image: of the procedure, or of the line's first value; else 0 */
    const double *values; /* by column */
};

struct profile_table;
/* `program` looks up names; both it and the stores outlive the table. NULL: out of memory. */
struct profile_table *profile_table_new(const struct profile_table_options *options,
                                        struct program *program);
void profile_table_free(struct profile_table *table);

/* Adds to a column all values of an event, each times `scale` and its session's weight. What the
 * arguments point to is read again until profile_table_finish() is done. */
bool profile_table_add(struct profile_table *table, struct store *store, const int64_t *sessions,
                       size_t session_count, const char *event, double scale, size_t column,
                       struct error *error);

/* The same of an event of a set, whose samples count by their periods where these differ. */
bool profile_table_add_set(struct profile_table *table, const struct profile_set *set,
                           const struct profile_event *event, size_t column, struct error *error);

/* As profile_table_add_set(), each sample by the square of what it counts for: where samples count
 * differently a value of them has as much error as that of value²/squares samples alike. */
bool profile_table_add_squares(struct profile_table *table, const struct profile_set *set,
                               const struct profile_event *event, size_t column,
                               struct error *error);

/* The same in column 0, and in column 1 + i what was taken in step i of the timeline, which lives
 * as long as the table. */
bool profile_table_add_over_time(struct profile_table *table, const struct profile_set *set,
                                 const struct profile_event *event, const struct timeline *timeline,
                                 struct error *error);

/* Finds the rows with the largest values in column 0, `top` of them (0: all), and sorts them so. */
bool profile_table_finish(struct profile_table *table, size_t top, struct error *error);

/* After profile_table_finish(). Whether there are any rows; false, with an error: the set has no
 * samples that the options admit. */
bool profile_table_any(const struct profile_table *table, const struct profile_set *set,
                       struct error *error);
size_t profile_table_count(const struct profile_table *table);
/* How many rows there would be; 0: not known, as not all were looked up. */
size_t profile_table_total(const struct profile_table *table);
const struct profile_row *profile_table_row(const struct profile_table *table, size_t index);
double profile_table_sum(const struct profile_table *table, size_t column); /* of all rows */

/* A program that is taken for a build of the one that has most of column 0, in *other, and that one
 * in *first, by their base names; false: there is none. */
bool profile_table_builds(const struct profile_table *table, const char **first,
                          const char **other);

/* The row's name as it is shown: "longest_match", "gzip+0x4f20", "deflate.c:1148", "[no symbols]",
 * "gzip", "epoch 3"; never NULL. */
void profile_row_name(const struct profile_row *row, char *text, size_t size);

/* Images of one path, whose names were looked up or not. By procedure or line. */
struct profile_image {
    const char *path;
    const char *note; /* why it has no names; NULL: all well, or not looked up */
    uint32_t file;    /* number in the program; UINT32_MAX: none */
    double nameless;  /* share of all values that lies in rows shown that have no name, 0 to 1 */
};
size_t profile_table_image_count(const struct profile_table *table);
struct profile_image profile_table_image(const struct profile_table *table, size_t index);
