/* A table is made of each host's epochs, one host after the other, so that only the rows of all are
 * in memory, not their values. */
#include "query/host_matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/day_sums.h"
#include "store/image_names.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for the hosts");
}

/* ---- rows ---- */

/* Builds of one file are one, wherever it lies. INTERN_NONE: out of memory. */
static uint32_t row_number(struct intern *keys, const struct profile_row *row, bool add) {
    char key[2 * PATH_MAX], name[PATH_MAX];
    profile_row_name(row, name, sizeof name);
    const int size = snprintf(key, sizeof key, "%s\n%s", file_base_name(row->image), name);
    const size_t length = size < (int)sizeof key ? (size_t)size : sizeof key - 1;
    return add ? intern_add(keys, key, length) : intern_find(keys, key, length);
}

static const char *kept_text(struct host_matrix *matrix, const char *text, bool *good) {
    const char *kept = text ? arena_copy(&matrix->arena, text, strlen(text)) : NULL;
    *good &= !text || kept;
    return kept;
}

/* UINT32_MAX: out of memory. */
static uint32_t find_row(struct host_matrix *matrix, const struct profile_row *row) {
    const uint32_t number = row_number(&matrix->keys, row, true);
    bool good = number != INTERN_NONE;
    if (!good || number < matrix->row_count)
        return number;
    struct matrix_row kept = {.shown = *row};
    kept.shown.procedure = kept_text(matrix, row->procedure, &good);
    kept.shown.image = kept_text(matrix, row->image, &good);
    kept.shown.file = kept_text(matrix, row->file, &good);
    kept.shown.values = NULL;
    good = good && array_push(matrix->rows, matrix->row_capacity, matrix->row_count, kept);
    return good ? number : UINT32_MAX;
}

uint32_t host_matrix_row(const struct host_matrix *matrix, const struct profile_row *row) {
    return row_number((struct intern *)&matrix->keys, row, false);
}

/* ---- hosts ---- */

ORDER(by_row, struct host_cell, ascending(a->row, b->row))

/* Rows of one name in one host, such as of builds at several places, become one cell. */
static void join_cells(struct matrix_host *host) {
    size_t kept = 0;
    qsort(host->cells, host->count, sizeof *host->cells, by_row);
    for (size_t i = 0; i < host->count; i++)
        if (kept && host->cells[kept - 1].row == host->cells[i].row)
            host->cells[kept - 1].value += host->cells[i].value;
        else
            host->cells[kept++] = host->cells[i];
    host->count = kept;
}

static bool take_rows(struct host_matrix *matrix, struct matrix_host *host,
                      const struct profile_table *table, struct error *error) {
    const size_t count = profile_table_count(table);
    if (!(host->cells = malloc((count + 1) * sizeof *host->cells)))
        return out_of_memory(error);
    for (size_t i = 0; i < count; i++) {
        const struct profile_row *row = profile_table_row(table, i);
        const uint32_t number = row->values[0] > 0 ? find_row(matrix, row) : 0;
        if (number == UINT32_MAX)
            return out_of_memory(error);
        if (row->values[0] > 0) {
            host->cells[host->count++] = (struct host_cell){number, row->values[0]};
            matrix->rows[number].total += row->values[0];
        }
    }
    join_cells(host);
    host->total = profile_table_sum(table, 0);
    matrix->total += host->total;
    return true;
}

static const struct profile_event *find_event(const struct profile_set *set, const char *name) {
    const size_t i = index_where(k, set->event_count, !strcmp(set->events[k].name, name));
    return i < set->event_count ? &set->events[i] : NULL;
}

/* What is asked of every host. */
struct question {
    const struct profile_set *set;
    const char *event;
    const struct profile_table_options *options;
    struct program *program;
};

static bool read_table(struct host_matrix *matrix, const struct question *question,
                       struct matrix_host *host, const struct profile_set *own,
                       const struct profile_event *event, struct error *error) {
    struct profile_table *table = profile_table_new(question->options, question->program);
    const bool good =
        (table || out_of_memory(error)) && profile_table_add_set(table, own, event, 0, error) &&
        profile_table_finish(table, 0, error) && take_rows(matrix, host, table, error);
    profile_table_free(table);
    return good;
}

/* What a set has of one host: its epochs. */
static bool read_host(struct host_matrix *matrix, const struct question *question,
                      struct matrix_host *host, const int64_t *sessions, size_t count,
                      struct error *error) {
    struct profile_set own;
    bool good = profile_set_read_part(&own, question->set, sessions, count, error);
    if (good) {
        profile_set_choose(&own, &question->set->choice);
        host->epochs = own.epochs_in_all;
        host->seconds = own.seconds;
    }
    if (own.nothing) { /* which is not what keeps other hosts from being told of */
        error->message[0] = 0;
        good = true;
    }
    const struct profile_event *found = good ? find_event(&own, question->event) : NULL;
    host->counted = found;
    good = good && (!found || read_table(matrix, question, host, &own, found, error));
    profile_set_free(&own);
    return good;
}

struct part {
    const char *host;
    int64_t session;
};

ORDER(by_host, struct part, strcmp(a->host, b->host) ?: ascending(a->session, b->session))

static bool read_hosts(struct host_matrix *matrix, const struct question *question,
                       const struct part *parts, int64_t *sessions, struct error *error) {
    const size_t count = question->set->epoch_count;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && !strcmp(parts[end].host, parts[begin].host);)
            end++;
        for (size_t i = begin; i < end; i++)
            sessions[i] = parts[i].session;
        struct matrix_host *host = &matrix->hosts[matrix->host_count++];
        host->name = arena_copy(&matrix->arena, parts[begin].host, strlen(parts[begin].host));
        if (!host->name)
            return out_of_memory(error);
        if (!read_host(matrix, question, host, sessions + begin, end - begin, error))
            return false;
    }
    return true;
}

bool host_matrix_read(struct host_matrix *matrix, const struct profile_set *set, const char *event,
                      const struct profile_table_options *options, struct program *program,
                      struct error *error) {
    const size_t count = set->epoch_count;
    struct part *parts = calloc(count + 1, sizeof *parts);
    int64_t *sessions = calloc(count + 1, sizeof *sessions);
    struct profile_table_options wanted = *options;
    wanted.columns = 1;
    wanted.base_names = true;
    wanted.at_once = true;
    const struct question question = {set, event, &wanted, program};
    *matrix = (struct host_matrix){.hosts = calloc(count + 1, sizeof *matrix->hosts)};
    bool good = (parts && sessions && matrix->hosts &&
                 (wanted.names = image_names_new(set->store, program, error))) ||
                out_of_memory(error);
    for (size_t i = 0; good && i < count; i++)
        parts[i] = (struct part){set->epochs[i].host, set->epochs[i].id};
    if (good && count)
        qsort(parts, count, sizeof *parts, by_host);
    good = good && store_hold_sessions(set->store, set->sessions, count, error) &&
           read_hosts(matrix, &question, parts, sessions, error);
    store_drop_sessions(set->store);
    if (wanted.names)
        image_names_free(wanted.names);
    free(parts);
    free(sessions);
    return good;
}

void host_matrix_free(struct host_matrix *matrix) {
    for (size_t i = 0; i < matrix->host_count; i++)
        free(matrix->hosts[i].cells);
    free(matrix->hosts);
    free(matrix->rows);
    intern_free(&matrix->keys);
    arena_free(&matrix->arena);
    *matrix = (struct host_matrix){0};
}

double host_matrix_value(const struct matrix_host *host, uint32_t row) {
    const size_t i = first_where(k, host->count, host->cells[k].row >= row);
    return i < host->count && host->cells[i].row == row ? host->cells[i].value : 0;
}
