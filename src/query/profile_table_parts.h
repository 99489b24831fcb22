/* Inside of this room: a table of profiles while it is made. profile_table.c adds profiles and
 * decides which images are read, image_rows.c makes the rows of an image. */
#pragma once

#include "query/profile_table.h"

#include "store/image_names.h"
#include "util/arena.h"
#include "util/intern.h"
#include "util/key_numbers.h"

/* An image as it was stored; the same build in several stores is one. */
struct part {
    const struct store_image *image; /* the store's */
    struct image_names *names;       /* of its store */
    uint32_t group;
    struct key_numbers offsets;
    double *sums; /* by number of the offset, by column */
    size_t sum_capacity;
};

/* Images that are shown as one. */
struct image_group {
    bool wanted; /* its values are being read */
    const char *path;
    double *totals; /* by column */
    uint32_t part_count;
    bool is_program;  /* of a process */
    const char *note; /* why it has no names, of the last such part; NULL: all well, or not
                         looked up */
    uint32_t file;    /* number in the program of the last such part; UINT32_MAX: none */
};

/* What was added. */
struct addition {
    struct store *store;
    struct store_filter filter;
    double scale;
    double period; /* each value counts for its event's period in these; 0: as it is */
    bool squared;  /* what a value is multiplied by, is squared */
    size_t column;
    const struct timeline *timeline; /* NULL: none; else it has the columns from 1 on */
};

struct named_store {
    struct store *store;
    struct image_names *names;
};

struct row {
    struct profile_row shown;
    double *values;
    uint32_t group, part;
};

struct profile_table {
    struct profile_table_options options;
    struct program *program;
    struct arena arena;
    struct part *parts;
    size_t part_count, part_capacity;
    struct image_group *groups;
    size_t group_count, group_capacity;
    struct row *rows;
    size_t row_count, row_capacity, shown;
    struct intern plain; /* keys of rows that are of no code: their numbers are those of the rows */
    bool complete;       /* every row there is has been found */
    double *sums;        /* by column */
    const char *builds[2]; /* see profile_table_builds(); NULL: none */

    struct addition *additions;
    size_t addition_count, addition_capacity;

    struct named_store *stores;
    size_t store_count, store_capacity;

    /* Of the store that is being read: which part an image of it is. */
    const struct named_store *known;
    struct key_numbers known_images;
    uint32_t *known_parts;
    size_t known_capacity;
};

/* Whether rows of this grain are of no code. */
bool profile_by_is_plain(enum profile_by by);
/* The row of such a grain that a profile is of; NULL: out of memory. */
struct row *table_plain_row(struct profile_table *table, const struct store_profile *profile);

/* A value for each column, all 0; the table's. NULL: out of memory. */
double *table_values(struct profile_table *table);
/* Adds the rows of an image, whose values were read. */
bool table_resolve_group(struct profile_table *table, uint32_t group, struct error *error);

/* Adds the sums of images, or the values of those that are wanted, that an addition tells of. */
bool table_read_addition(struct profile_table *table, const struct addition *addition, bool values,
                         struct error *error);
/* Programs that only one column each has are one group. */
void table_join_builds(struct profile_table *table);
