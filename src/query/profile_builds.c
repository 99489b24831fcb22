/* Builds of a program under several names, as of two profiles that are compared: one row for both.
 */
#include "query/profile_table_parts.h"

#include "util/file_name.h"

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

void table_join_builds(struct profile_table *table) {
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
