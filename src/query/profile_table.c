/* The store is read once for the sums of images, and then again for the values of those only that
 * can have one of the rows wanted: images are taken in the order of their sums, a batch at a time,
 * and none of their rows can have more than they. What a daemon merges between the two readings is
 * in the rows and not in the sums. */
#include "query/profile_table_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/missing_slices.h"
#include "query/near_names.h"
#include "store/image_names.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/key_numbers.h"
#include "util/order.h"

const char *const profile_by_names[PROFILE_BY_COUNT] = {
    "procedure", "image", "line", "process", "pid", "thread", "cpu", "cgroup", "epoch"};

struct profile_table *profile_table_new(const struct profile_table_options *options,
                                        struct program *program) {
    struct profile_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->options = *options;
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
    for (size_t i = 0; i < table->store_count; i++)
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

/* ---- adding ---- */

static bool same_image(const struct store_image *a, const struct store_image *b) {
    return a->kind == b->kind && a->build_id_size == b->build_id_size &&
           !memcmp(a->build_id, b->build_id, a->build_id_size) && !strcmp(a->path, b->path) &&
           !strcmp(a->root, b->root);
}

static const char *group_name(const struct profile_table *table, const char *path) {
    return table->options.base_names ? file_base_name(path) : path;
}

/* UINT32_MAX: out of memory. */
static uint32_t find_group(struct profile_table *table, const char *path) {
    const char *name = group_name(table, path);
    for (size_t i = 0; i < table->group_count; i++)
        if (!strcmp(group_name(table, table->groups[i].path), name))
            return (uint32_t)i;
    double *totals = table_values(table);
    if (!totals || !array_room(table->groups, table->group_capacity, table->group_count + 1))
        return UINT32_MAX;
    table->groups[table->group_count] =
        (struct image_group){.path = path, .totals = totals, .file = UINT32_MAX};
    return (uint32_t)table->group_count++;
}

static uint32_t find_part(struct profile_table *table, const struct store_image *image) {
    for (size_t i = 0; i < table->part_count; i++)
        if (same_image(table->parts[i].image, image))
            return (uint32_t)i;
    uint32_t group = find_group(table, image->path);
    if (group == UINT32_MAX ||
        !array_room(table->parts, table->part_capacity, table->part_count + 1))
        return UINT32_MAX;
    table->groups[group].part_count++;
    table->parts[table->part_count] =
        (struct part){.image = image, .names = table->known->names, .group = group};
    return (uint32_t)table->part_count++;
}

static struct part *part_of(struct profile_table *table, const struct store_image *image) {
    size_t before = table->known_images.count;
    uint32_t number = key_numbers_add(&table->known_images, (uint64_t)image->id);
    if (number == UINT32_MAX)
        return NULL;
    if (number == before) {
        uint32_t part = find_part(table, image);
        if (part == UINT32_MAX ||
            !array_room(table->known_parts, table->known_capacity, before + 1))
            return NULL;
        table->known_parts[number] = part;
    }
    return &table->parts[table->known_parts[number]];
}

struct adding {
    struct profile_table *table;
    double scale, period;
    bool squared;
    size_t column;
    const struct timeline *timeline;
    bool values; /* of the images wanted; else the sums of all */
    bool out_of_memory;
};

/* False: out of memory. */
static bool add_values(struct profile_table *table, struct part *part,
                       const struct store_profile *profile, double scale, size_t column) {
    size_t columns = table->options.columns;
    for (size_t i = 0; i < profile->count; i++) {
        size_t before = part->offsets.count;
        uint32_t number = key_numbers_add(&part->offsets, profile->values[i].offset);
        if (number == UINT32_MAX ||
            !array_room(part->sums, part->sum_capacity, columns * (number + 1u)))
            return false;
        double *sums = part->sums + columns * number;
        if (number == before)
            memset(sums, 0, columns * sizeof *sums);
        sums[column] += scale * (double)profile->values[i].value;
    }
    return true;
}

/* False: out of memory. */
static bool add_sum(struct profile_table *table, const struct store_profile *profile, double scale,
                    size_t column) {
    enum profile_by by = table->options.by;
    double sum = scale * (double)profile->total;
    table->sums[column] += sum;
    if (profile_by_is_plain(by)) {
        struct row *row = table_plain_row(table, profile);
        if (row)
            row->values[column] += sum;
        return row;
    }
    const struct part *part = part_of(table, profile->image);
    if (!part)
        return false;
    struct image_group *group = &table->groups[part->group];
    group->totals[column] += sum;
    group->is_program |= !strcmp(profile->image->path, profile->process->executable);
    return true;
}

/* To one column. False: out of memory. */
static bool add_profile(struct adding *adding, const struct store_profile *profile, double scale,
                        size_t column) {
    struct profile_table *table = adding->table;
    if (!adding->values)
        return add_sum(table, profile, scale, column);
    struct part *part = profile->count ? part_of(table, profile->image) : NULL;
    return !profile->count || (part && add_values(table, part, profile, scale, column));
}

static bool visit_profile(void *context, const struct store_profile *profile) {
    struct adding *adding = context;
    const struct profile_table_options *options = &adding->table->options;
    if (!profile_process_is(profile->process, options->process) ||
        (options->image && !profile_path_is(profile->image->path, options->image)))
        return true;
    double scale = adding->scale * profile->session->weight;
    if (adding->period)
        scale *= (double)profile->event->period / adding->period;
    if (adding->squared)
        scale *= scale;
    const size_t step =
        adding->timeline ? timeline_step(adding->timeline, &profile->process->slice) : SIZE_MAX;
    adding->out_of_memory = !add_profile(adding, profile, scale, adding->column) ||
                            (step != SIZE_MAX && !add_profile(adding, profile, scale, 1 + step));
    return !adding->out_of_memory;
}

/* Images have numbers of their own in every store. */
static bool begin_store(struct profile_table *table, struct store *store, struct error *error) {
    if (table->known && table->known->store == store)
        return true;
    const size_t at = index_where(i, table->store_count, table->stores[i].store == store);
    if (at == table->store_count) {
        if (!array_room(table->stores, table->store_capacity, at + 1))
            return error_set(error, "out of memory for the profile");
        struct image_names *names = image_names_new(store, table->program, error);
        if (!names)
            return false;
        table->stores[table->store_count++] = (struct named_store){store, names};
    }
    table->known = &table->stores[at];
    key_numbers_free(&table->known_images);
    return true;
}

static bool wants_values(void *context, const struct store_image *image) {
    const struct adding *adding = context;
    struct profile_table *table = adding->table;
    if (!adding->values)
        return false;
    const struct part *part = part_of(table, image);
    return part && table->groups[part->group].wanted;
}

static bool read_addition(struct profile_table *table, const struct addition *addition, bool values,
                          struct error *error) {
    struct adding adding = {.table = table,
                            .scale = addition->scale,
                            .period = addition->period,
                            .squared = addition->squared,
                            .column = addition->column,
                            .timeline = addition->timeline,
                            .values = values};
    struct store_filter filter = addition->filter;
    filter.wants_values = wants_values;
    filter.context = &adding;
    if (!begin_store(table, addition->store, error) ||
        !store_each_profile(addition->store, &filter, visit_profile, &adding, error))
        return false;
    return !adding.out_of_memory || error_set(error, "out of memory for the profile");
}

static bool add(struct profile_table *table, const struct addition *addition, struct error *error) {
    if (!array_push(table->additions, table->addition_capacity, table->addition_count, *addition))
        return error_set(error, "out of memory for the profile");
    return read_addition(table, addition, false, error);
}

bool profile_table_add(struct profile_table *table, struct store *store, const int64_t *sessions,
                       size_t session_count, const char *event, double scale, size_t column,
                       struct error *error) {
    const struct addition addition = {
        .store = store,
        .filter = {.sessions = sessions, .session_count = session_count, .event = event},
        .scale = scale,
        .column = column};
    return add(table, &addition, error);
}

bool profile_table_add_set(struct profile_table *table, const struct profile_set *set,
                           const struct profile_event *event, size_t column, struct error *error) {
    const struct addition addition = {.store = set->store,
                                      .filter = profile_set_filter(set, event->name),
                                      .scale = event->scale,
                                      .period = event->mean,
                                      .column = column};
    return add(table, &addition, error);
}

bool profile_table_add_squares(struct profile_table *table, const struct profile_set *set,
                               const struct profile_event *event, size_t column,
                               struct error *error) {
    const struct addition addition = {.store = set->store,
                                      .filter = profile_set_filter(set, event->name),
                                      .scale = event->scale,
                                      .period = event->mean,
                                      .squared = true,
                                      .column = column};
    return add(table, &addition, error);
}

bool profile_table_add_over_time(struct profile_table *table, const struct profile_set *set,
                                 const struct profile_event *event, const struct timeline *timeline,
                                 struct error *error) {
    const struct addition addition = {.store = set->store,
                                      .filter = profile_set_filter(set, event->name),
                                      .scale = event->scale,
                                      .period = event->mean,
                                      .timeline = timeline};
    return add(table, &addition, error);
}

/* ---- builds under several names ---- */

/* The program with most of a column, which no other column has; UINT32_MAX: there is none. */
static uint32_t program_of(const struct profile_table *table, size_t column) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < table->group_count; i++)
        if (table->groups[i].is_program &&
            (best == UINT32_MAX ||
             table->groups[i].totals[column] > table->groups[best].totals[column]))
            best = i;
    for (size_t other = 0; best != UINT32_MAX && other < table->options.columns; other++)
        if (other != column && table->groups[best].totals[other] > 0)
            return UINT32_MAX;
    return best;
}

static void join_groups(struct profile_table *table, uint32_t group, uint32_t other) {
    struct image_group *into = &table->groups[group], *from = &table->groups[other];
    table->builds[0] = file_base_name(into->path);
    table->builds[1] = file_base_name(from->path);
    for (size_t i = 0; i < table->part_count; i++)
        if (table->parts[i].group == other)
            table->parts[i].group = group;
    for (size_t column = 0; column < table->options.columns; column++) {
        into->totals[column] += from->totals[column];
        from->totals[column] = 0;
    }
    into->part_count += from->part_count;
    from->part_count = 0;
    into->path = from->path;
}

static void join_builds(struct profile_table *table) {
    const uint32_t columns = (uint32_t)table->options.columns;
    const uint32_t first = columns > 1 ? program_of(table, 0) : UINT32_MAX;
    for (uint32_t column = 1; first != UINT32_MAX && column < columns; column++) {
        const uint32_t other = program_of(table, column);
        if (other != UINT32_MAX && other != first)
            join_groups(table, first, other);
    }
}

bool profile_table_builds(const struct profile_table *table, const char **first,
                          const char **other) {
    *first = table->builds[0];
    *other = table->builds[1];
    return *first;
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
    return all_where(i, table->addition_count,
                     read_addition(table, &table->additions[i], true, error));
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
        join_builds(table);
    if (by == PROFILE_BY_PROCEDURE || by == PROFILE_BY_LINE)
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

/* ---- nothing there ---- */

struct missing {
    const struct profile_table_options *options;
    struct name_list near;
    bool elsewhere; /* the image has samples, but others */
};

static bool wants_no_values(void *context, const struct store_image *image) {
    (void)context, (void)image;
    return false;
}

static bool add_near(void *context, const struct store_profile *profile) {
    struct missing *missing = context;
    if (missing->options->image && profile_path_is(profile->image->path, missing->options->image))
        missing->elsewhere = true;
    else if (missing->options->image)
        name_list_add_near(&missing->near, file_base_name(profile->image->path),
                           missing->options->image);
    else
        name_list_add_near(&missing->near, profile->process->command, missing->options->process);
    return true;
}

/* What is asked for is perhaps another image or process. */
static bool refuse_missing(const struct profile_table *table, const struct profile_set *set,
                           struct error *error) {
    const struct profile_table_options *options = &table->options;
    const char *what = options->image ? options->image : options->process;
    struct store_filter filter = profile_set_filter(set, NULL);
    filter.wants_values = wants_no_values;
    struct missing missing = {.options = options};
    if (sample_choice_any(&set->choice))
        return missing_slices(set, error);
    if (!what)
        return error_set(error, "%s: it has no samples", set->label);
    if (!store_each_profile(set->store, &filter, add_near, &missing, error))
        return false;
    if (missing.elsewhere)
        return error_set(error,
                         "%s: no such samples of %s: those that it has are of other processes or "
                         "events (see 'culprit top --by image')",
                         set->label, what);
    return error_set(error, "%s: no samples of %s (see 'culprit top --by %s')%s%s", set->label,
                     what, options->image ? "image" : "process",
                     missing.near.count ? "; near it: " : "", missing.near.text);
}

bool profile_table_any(const struct profile_table *table, const struct profile_set *set,
                       struct error *error) {
    return table->shown || refuse_missing(table, set, error);
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
