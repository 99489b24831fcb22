/* An entry of the table begins with a byte that has its highest bit set: four bits say in which
 * form the location follows, three how many code units it is of, less one. Of lines only the first
 * is taken; it is told by its distance from that of the entry before. */
#include "program/python_lines.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

enum form { FORM_SHORT_LAST = 9, FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG, FORM_NONE };

struct table {
    const uint8_t *next, *end;
};

/* Six bits a byte, the lowest first; a seventh says that more follow. */
static bool read_number(struct table *table, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; table->next < table->end && shift < 36; shift += 6) {
        const uint8_t byte = *table->next++;
        *number |= (uint64_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            return true;
    }
    return false;
}

/* The sign is the lowest bit. */
static bool read_signed(struct table *table, int64_t *number) {
    uint64_t read;
    if (!read_number(table, &read))
        return false;
    *number = read & 1 ? -(int64_t)(read >> 1) : (int64_t)(read >> 1);
    return true;
}

static bool skip_bytes(struct table *table, size_t count) {
    if ((size_t)(table->end - table->next) < count)
        return false;
    table->next += count;
    return true;
}

static bool skip_numbers(struct table *table, unsigned count) {
    uint64_t number;
    while (count && read_number(table, &number))
        count--;
    return !count;
}

/* What follows the first byte of an entry; the distance of its line. */
static bool read_location(struct table *table, enum form form, int64_t *distance) {
    *distance = 0;
    if (form <= FORM_SHORT_LAST)
        return skip_bytes(table, 1);
    switch (form) {
    case FORM_NO_COLUMNS:
        return read_signed(table, distance);
    case FORM_LONG: /* the last line and both columns follow */
        return read_signed(table, distance) && skip_numbers(table, 3);
    case FORM_NONE:
        return true;
    default:
        *distance = form - FORM_ONE_LINE;
        return skip_bytes(table, 2);
    }
}

bool python_lines_read(struct python_lines *lines, const uint8_t *bytes, size_t size,
                       uint32_t first_line) {
    struct table table = {bytes, bytes + size};
    int64_t line = first_line;
    uint32_t unit = 0;
    while (table.next < table.end) {
        const uint8_t first = *table.next++;
        const enum form form = first >> 3 & 15;
        int64_t distance;
        if (!(first & 0x80) || !read_location(&table, form, &distance))
            return true;
        line += distance;
        if (line < 0 || line > UINT32_MAX)
            return true;
        const uint32_t of = form == FORM_NONE ? 0 : (uint32_t)line;
        if ((!lines->count || lines->items[lines->count - 1].line != of) &&
            !array_push(lines->items, lines->capacity, lines->count,
                        (struct python_line){unit, of}))
            return false;
        unit += (first & 7u) + 1;
    }
    return true;
}

void python_lines_free(struct python_lines *lines) {
    free(lines->items);
    *lines = (struct python_lines){0};
}

uint32_t python_lines_find(const struct python_lines *lines, uint32_t unit) {
    const size_t behind = first_where(i, lines->count, lines->items[i].unit > unit);
    return behind ? lines->items[behind - 1].line : 0;
}
