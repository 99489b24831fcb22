/* What each host has of each row: a fleet's profile, host by host. Rows are those of a
 * profile_table by procedure, image or line; of builds of one file together. */
#pragma once

#include "query/profile_table.h"
#include "util/intern.h"

struct host_cell {
    uint32_t row;
    double value; /* > 0 */
};

struct matrix_host {
    const char *name;
    struct host_cell *cells; /* by row */
    size_t count;
    bool counted; /* it has the event */
    double total; /* of all of its rows */
    uint64_t epochs;
    double seconds; /* that these lasted */
};

struct matrix_row {
    struct profile_row shown; /* without values; where it was first met */
    double total;             /* of all hosts */
};

struct host_matrix {
    struct matrix_host *hosts; /* by name */
    size_t host_count;
    struct matrix_row *rows;
    size_t row_count, row_capacity;
    double total;
    struct intern keys; /* of rows */
    struct arena arena;
};

/* Of an event of a set in which hosts are told apart (no sums over all of them), and of what
 * `options` admit; `columns` is not looked at. Hosts without the event have no cells. The values of
 * a host are its samples. host_matrix_free() either way. */
bool host_matrix_read(struct host_matrix *matrix, const struct profile_set *set, const char *event,
                      const struct profile_table_options *options, struct program *program,
                      struct error *error);
void host_matrix_free(struct host_matrix *matrix);

/* 0: the host has none of the row. */
double host_matrix_value(const struct matrix_host *host, uint32_t row);
/* UINT32_MAX: no host has such a row. */
uint32_t host_matrix_row(const struct host_matrix *matrix, const struct profile_row *row);
