/* What a store has is added by image; all files of one name in every store are one group of them.
 */
#include "query/profile_table_parts.h"

#include <string.h>

#include "store/image_names.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/key_numbers.h"

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
    bool sums;   /* of all images */
    bool values; /* of the images wanted */
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
    if (adding->sums && !add_sum(table, profile, scale, column))
        return false;
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
        struct image_names *names =
            table->options.names ?: image_names_new(store, table->program, error);
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
    if (table->options.at_once)
        return profile_path_is(image->path, table->options.image);
    const struct part *part = part_of(table, image);
    return part && table->groups[part->group].wanted;
}

static bool wants_all(const struct profile_table *table) {
    if (table->options.at_once)
        return !table->options.image;
    return !table->options.image && all_where(i, table->group_count, table->groups[i].wanted);
}

bool table_read_addition(struct profile_table *table, const struct addition *addition, bool values,
                         struct error *error) {
    struct adding adding = {.table = table,
                            .scale = addition->scale,
                            .period = addition->period,
                            .squared = addition->squared,
                            .column = addition->column,
                            .timeline = addition->timeline,
                            .sums = !values,
                            .values = values || table->options.at_once};
    struct store_filter filter = addition->filter;
    filter.totals_alone = !adding.values;
    if (!wants_all(table)) {
        filter.wants_values = wants_values;
        filter.context = &adding;
    }
    if (!begin_store(table, addition->store, error) ||
        !store_each_profile(addition->store, &filter, visit_profile, &adding, error))
        return false;
    return !adding.out_of_memory || error_set(error, "out of memory for the profile");
}

static bool add(struct profile_table *table, const struct addition *addition, struct error *error) {
    if (!array_push(table->additions, table->addition_capacity, table->addition_count, *addition))
        return error_set(error, "out of memory for the profile");
    return table_read_addition(table, addition, false, error);
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
