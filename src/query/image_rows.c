/* The rows of an image: its offsets are walked in ascending order, so that names are looked up once
 * for each procedure or line, and a hash table finds the row that an offset belongs to. */
#include "query/profile_table_parts.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

/* The rows of a group while its parts are walked. */
struct walk {
    struct profile_table *table;
    uint32_t group, part;
    size_t first; /* row of the group */
    bool by_name; /* rows of one name are one: of several builds */
    uint32_t *slots;
    size_t mask;
};

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_row(const struct walk *walk, const struct row *row, const struct profile_row *key) {
    const struct profile_row *shown = &row->shown;
    if (walk->table->options.by == PROFILE_BY_LINE && (shown->file || key->file))
        return shown->line == key->line && same_text(shown->file, key->file);
    if (!shown->covered && !key->covered)
        return true;
    if (shown->covered != key->covered)
        return false;
    if (walk->by_name && (shown->procedure || key->procedure))
        return same_text(shown->procedure, key->procedure);
    return row->part == walk->part && shown->offset == key->offset;
}

static size_t hash_text(size_t hash, const char *text) {
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static size_t hash_key(const struct walk *walk, const struct profile_row *key, uint32_t part) {
    size_t hash = UINT64_C(0xcbf29ce484222325);
    if (walk->table->options.by == PROFILE_BY_LINE && key->file)
        hash = hash_text(hash, key->file) ^ key->line * UINT64_C(0x9e3779b97f4a7c15);
    else if (key->covered && walk->by_name && key->procedure)
        hash = hash_text(hash, key->procedure);
    else if (key->covered)
        hash = (key->offset ^ (uint64_t)part << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool grow_slots(struct walk *walk) {
    struct profile_table *table = walk->table;
    size_t size = walk->slots ? 2 * (walk->mask + 1) : 256;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    free(walk->slots);
    walk->slots = slots;
    walk->mask = size - 1;
    for (size_t i = walk->first; i < table->row_count; i++) {
        size_t slot = hash_key(walk, &table->rows[i].shown, table->rows[i].part) & walk->mask;
        while (slots[slot])
            slot = (slot + 1) & walk->mask;
        slots[slot] = (uint32_t)(i - walk->first + 1);
    }
    return true;
}

/* NULL: out of memory. */
static struct row *row_of(struct walk *walk, const struct profile_row *key) {
    struct profile_table *table = walk->table;
    if ((!walk->slots || 2 * (table->row_count - walk->first + 1) > walk->mask + 1) &&
        !grow_slots(walk))
        return NULL;
    size_t slot = hash_key(walk, key, walk->part) & walk->mask;
    for (; walk->slots[slot]; slot = (slot + 1) & walk->mask) {
        struct row *row = &table->rows[walk->first + walk->slots[slot] - 1];
        if (is_row(walk, row, key))
            return row;
    }
    double *values = table_values(table);
    if (!values || !array_room(table->rows, table->row_capacity, table->row_count + 1))
        return NULL;
    struct row *row = &table->rows[table->row_count++];
    *row = (struct row){.shown = *key, .values = values, .group = walk->group, .part = walk->part};
    row->shown.values = values;
    row->shown.image =
        table->builds[0] ? table->parts[walk->part].image->path : table->groups[walk->group].path;
    walk->slots[slot] = (uint32_t)(table->row_count - walk->first);
    return row;
}

struct site {
    uint64_t offset;
    uint32_t number;
};

ORDER(by_offset, struct site, ascending(a->offset, b->offset))

static bool walk_sites(struct walk *walk, const struct site *sites, size_t count,
                       struct error *error) {
    struct profile_table *table = walk->table;
    const struct part *part = &table->parts[walk->part];
    bool lines = table->options.by == PROFILE_BY_LINE;
    size_t columns = table->options.columns;
    struct location location;
    struct row *row = NULL;
    uint64_t end = 0; /* up to where the row is known to reach */
    for (size_t i = 0; i < count; i++) {
        if (!row || sites[i].offset >= end) {
            if (!(lines ? image_names_locate : image_names_locate_procedure)(
                    part->names, part->image, sites[i].offset, &location, error))
                return false;
            struct profile_row key = {.procedure = location.function,
                                      .file = lines ? location.file : NULL,
                                      .line = lines && location.file ? location.line : 0,
                                      .covered = location.function_size > 0};
            key.offset = key.file ? sites[i].offset : key.covered ? location.function_offset : 0;
            if (!(row = row_of(walk, &key)))
                return error_set(error, "out of memory for the profile");
            end = lines ? 0 : sites[i].offset + location.function_rest;
        }
        for (size_t column = 0; column < columns; column++)
            row->values[column] += part->sums[columns * sites[i].number + column];
        if (row->part != walk->part) /* of several builds: the name of the last */
            row->shown.image = table->groups[walk->group].path;
    }
    return true;
}

static bool walk_part(struct walk *walk, struct error *error) {
    struct profile_table *table = walk->table;
    const struct part *part = &table->parts[walk->part];
    size_t count = part->offsets.count;
    struct site *sites = malloc((count ? count : 1) * sizeof *sites);
    if (!sites)
        return error_set(error, "out of memory for the profile");
    for (size_t i = 0; i < count; i++)
        sites[i] = (struct site){part->offsets.keys[i], (uint32_t)i};
    qsort(sites, count, sizeof *sites, by_offset);
    bool good = walk_sites(walk, sites, count, error);
    free(sites);
    const char *note = good ? image_names_note(part->names, part->image) : NULL;
    if (note)
        table->groups[walk->group].note = note;
    uint32_t file = good ? image_names_file(part->names, part->image) : UINT32_MAX;
    if (file != UINT32_MAX)
        table->groups[walk->group].file = file;
    return good;
}

bool table_resolve_group(struct profile_table *table, uint32_t group, struct error *error) {
    struct walk walk = {.table = table,
                        .group = group,
                        .first = table->row_count,
                        .by_name = table->groups[group].part_count > 1};
    bool good = true;
    for (size_t i = 0; good && i < table->part_count; i++)
        if (table->parts[i].group == group) {
            walk.part = (uint32_t)i;
            good = walk_part(&walk, error);
        }
    free(walk.slots);
    return good;
}
