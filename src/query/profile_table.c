/* The store is read once for the sums of images, and then again for the values of those only that
 * can have one of the rows wanted: images are taken in the order of their sums, a batch at a time,
 * and none of their rows can have more than they. What a daemon merges between the two readings is
 * in the rows and not in the sums. */
#include "query/profile_table_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/image_names.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/key_numbers.h"
#include "util/order.h"

const char *const profile_by_names[PROFILE_BY_COUNT] = {"procedure", "image", "line",   "process",
                                                        "build",     "pid",   "thread", "cpu",
                                                        "cgroup",    "host",  "epoch"};

bool profile_by_has_sums(enum profile_by by) {
    return by != PROFILE_BY_PID && by != PROFILE_BY_THREAD && by != PROFILE_BY_CPU &&
           by != PROFILE_BY_EPOCH;
}

static bool has_values(enum profile_by by) {
    return by == PROFILE_BY_PROCEDURE || by == PROFILE_BY_LINE;
}

struct profile_table *profile_table_new(const struct profile_table_options *options,
                                        struct program *program) {
    struct profile_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->options = *options;
    table->options.at_once &= has_values(options->by);
    table->program = program;
    table->sums = calloc(options->columns, sizeof *table->sums);
    if (table->sums)
        return table;
    free(table);
    return NULL;
}

void profile_table_free(struct profile_table *table) {
    if (!table)
        return;
    for (size_t i = 0; i < table->part_count; i++) {
        key_numbers_free(&table->parts[i].offsets);
        free(table->parts[i].sums);
    }
    for (size_t i = 0; !table->options.names && i < table->store_count; i++)
        image_names_free(table->stores[i].names);
    free(table->stores);
    free(table->additions);
    free(table->parts);
    free(table->groups);
    free(table->rows);
    free(table->sums);
    intern_free(&table->plain);
    key_numbers_free(&table->known_images);
    free(table->known_parts);
    arena_free(&table->arena);
    free(table);
}

double *table_values(struct profile_table *table) {
    size_t bytes = table->options.columns * sizeof(double);
    double *values = arena_alloc(&table->arena, bytes);
    return values ? memset(values, 0, bytes) : NULL;
}

/* ---- all rows ---- */

static bool add_image_row(struct profile_table *table, uint32_t group) {
    if (!array_room(table->rows, table->row_capacity, table->row_count + 1))
        return false;
    const struct image_group *shown = &table->groups[group];
    table->rows[table->row_count++] =
        (struct row){.shown = {.image = shown->path, .values = shown->totals},
                     .values = shown->totals,
                     .group = group};
    return true;
}

struct rank {
    double value;
    uint32_t group;
};

ORDER(by_value, struct rank, descending(a->value, b->value) ?: ascending(a->group, b->group))

/* The `top` largest values so far, largest first. */
struct leaders {
    double *values;
    size_t count, top;
};

static void lead(struct leaders *leaders, double value) {
    size_t at = leaders->count;
    if (at == leaders->top && leaders->values[at - 1] >= value)
        return;
    if (at < leaders->top)
        leaders->count++;
    else
        at--;
    for (; at > 0 && leaders->values[at - 1] < value; at--)
        leaders->values[at] = leaders->values[at - 1];
    leaders->values[at] = value;
}

/* Reads the values of the next images. */
static bool read_batch(struct profile_table *table, const struct rank *ranks, size_t count,
                       struct error *error) {
    for (size_t i = 0; i < count; i++)
        table->groups[ranks[i].group].wanted = true;
    if (table->options.at_once)
        return true;
    return all_where(i, table->addition_count,
                     table_read_addition(table, &table->additions[i], true, error));
}

/* They are no longer needed. */
static void drop_batch(struct profile_table *table) {
    for (size_t i = 0; i < table->part_count; i++) {
        struct part *part = &table->parts[i];
        key_numbers_free(&part->offsets);
        free(part->sums);
        part->sums = NULL;
        part->sum_capacity = 0;
        table->groups[part->group].wanted = false;
    }
}

static bool is_settled(const struct leaders *leaders, double most) {
    return leaders->top && leaders->count == leaders->top &&
           most <= leaders->values[leaders->top - 1];
}

static bool resolve_groups(struct profile_table *table, const struct rank *ranks,
                           struct leaders *leaders, struct error *error) {
    enum { FIRST_BATCH = 16, GROWTH = 8 };
    size_t groups = table->group_count, batch = leaders->top ? FIRST_BATCH : groups;
    for (size_t begin = 0, end; begin < groups; begin = end, batch *= GROWTH) {
        end = groups - begin < batch ? groups : begin + batch;
        if (is_settled(leaders, ranks[begin].value))
            return true;
        if (!read_batch(table, ranks + begin, end - begin, error))
            return false;
        for (size_t i = begin; i < end; i++) {
            size_t first = table->row_count;
            if (is_settled(leaders, ranks[i].value))
                return true;
            if (!table_resolve_group(table, ranks[i].group, error))
                return false;
            for (size_t row = first; leaders->top && row < table->row_count; row++)
                lead(leaders, table->rows[row].values[0]);
        }
        drop_batch(table);
    }
    table->complete = true;
    return true;
}

static bool find_rows(struct profile_table *table, size_t top, struct error *error) {
    enum { MOST_LEADERS = 4096 };
    bool prunes = top && top <= MOST_LEADERS;
    struct rank *ranks = malloc((table->group_count + 1) * sizeof *ranks);
    struct leaders leaders = {.values = malloc((MOST_LEADERS + 1) * sizeof(double)),
                              .top = prunes ? top : 0};
    bool good = ranks && leaders.values;
    for (size_t i = 0; good && i < table->group_count; i++)
        ranks[i] = (struct rank){table->groups[i].totals[0], (uint32_t)i};
    if (good) {
        qsort(ranks, table->group_count, sizeof *ranks, by_value);
        good = resolve_groups(table, ranks, &leaders, error);
    } else {
        error_set(error, "out of memory for the profile");
    }
    free(ranks);
    free(leaders.values);
    return good;
}

static int by_first_value(const void *left, const void *right) {
    const struct profile_row *a = &((const struct row *)left)->shown;
    const struct profile_row *b = &((const struct row *)right)->shown;
    return descending(a->values[0], b->values[0]) ?: strcmp(a->image, b->image) ?:
           (a->process && b->process ? strcmp(a->process, b->process) : 0) ?: ascending(a->epoch, b->epoch) ?: ascending(a->offset, b->offset) ?: ascending(a->line, b->line);
}

bool profile_table_finish(struct profile_table *table, size_t top, struct error *error) {
    enum profile_by by = table->options.by;
    bool good = true;
    if (table->options.base_names)
        table_join_builds(table);
    if (has_values(by))
        good = find_rows(table, top, error);
    else
        table->complete = true;
    for (size_t i = 0; good && by == PROFILE_BY_IMAGE && i < table->group_count; i++)
        good = !table->groups[i].part_count || add_image_row(table, (uint32_t)i) ||
               error_set(error, "out of memory for the profile");
    if (!good)
        return false;
    if (table->row_count)
        qsort(table->rows, table->row_count, sizeof *table->rows, by_first_value);
    table->shown = top && top < table->row_count ? top : table->row_count;
    return true;
}

size_t profile_table_count(const struct profile_table *table) {
    return table->shown;
}

size_t profile_table_total(const struct profile_table *table) {
    return table->complete ? table->row_count : 0;
}

const struct profile_row *profile_table_row(const struct profile_table *table, size_t index) {
    return &table->rows[index].shown;
}

double profile_table_sum(const struct profile_table *table, size_t column) {
    return table->sums[column];
}

void profile_row_name(const struct profile_row *row, char *text, size_t size) {
    if (row->epoch)
        snprintf(text, size, "epoch %" PRId64, row->epoch);
    else if (row->thread || row->pid)
        snprintf(text, size, "%" PRIu32 " %s", row->thread ? row->thread : row->pid, row->process);
    else if (row->process)
        snprintf(text, size, "%s", row->process);
    else if (row->file && row->line)
        snprintf(text, size, "%s:%" PRIu32, file_base_name(row->file), row->line);
    else if (row->procedure)
        snprintf(text, size, "%s", row->procedure);
    else if (row->covered)
        snprintf(text, size, "%s+0x%" PRIx64, file_base_name(row->image), row->offset);
    else
        snprintf(text, size, "[no symbols]");
}

/* The share of all values that lies in rows shown of a group that have no name. */
static double nameless_share(const struct profile_table *table, uint32_t group) {
    double sum = 0;
    for (size_t i = 0; i < table->shown; i++) {
        const struct row *row = &table->rows[i];
        if (row->group == group && !row->shown.procedure && !row->shown.process &&
            !row->shown.epoch)
            sum += row->values[0];
    }
    return table->sums[0] > 0 ? sum / table->sums[0] : 0;
}

size_t profile_table_image_count(const struct profile_table *table) {
    return table->group_count;
}

struct profile_image profile_table_image(const struct profile_table *table, size_t index) {
    const struct image_group *group = &table->groups[index];
    return (struct profile_image){.path = group->path,
                                  .note = group->note,
                                  .file = group->file,
                                  .nameless = nameless_share(table, (uint32_t)index)};
}
