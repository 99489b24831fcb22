#include "live/sampled_names.h"

#include <stdlib.h>
#include <string.h>

#include "program/symbol_cover.h"
#include "util/array.h"
#include "util/order.h"

void sampled_names_free(struct sampled_names *names) {
    for (size_t i = 0; i < names->count; i++)
        free((char *)names->symbols[i].name);
    free(names->symbols);
    *names = (struct sampled_names){0};
}

static size_t behind(const struct sampled_names *names, uint64_t offset) {
    return first_where(i, names->count, names->symbols[i].start > offset);
}

bool sampled_names_has(const struct sampled_names *names, uint64_t offset) {
    const size_t next = behind(names, offset);
    return next && offset - names->symbols[next - 1].start < names->symbols[next - 1].size;
}

bool sampled_names_put(struct sampled_names *names, uint64_t start, uint64_t size,
                       const char *name) {
    struct code_symbol symbol = {.start = start, .size = size, .name = strdup(name)};
    const size_t at = behind(names, symbol.start);
    if (!symbol.name)
        return false;
    if (!array_room(names->symbols, names->capacity, names->count + 1)) {
        free((char *)symbol.name);
        return false;
    }
    memmove(names->symbols + at + 1, names->symbols + at,
            (names->count - at) * sizeof *names->symbols);
    names->symbols[at] = symbol;
    names->count++;
    names->unsaved |= name[0] != 0;
    return true;
}

static bool add(struct sampled_names *names, uint64_t offset, const struct location *location) {
    const char *name = location->function ? location->function : "";
    if (!location->function_size)
        return sampled_names_put(names, offset, 1, name);
    /* A function that begins inside another ends what is known of that at this offset. */
    return sampled_names_put(names, location->function_offset,
                             offset - location->function_offset + location->function_rest, name);
}

bool sampled_names_add(struct sampled_names *names, const uint64_t *offsets, size_t count,
                       struct program *program, uint32_t image) {
    for (size_t i = 0; i < count; i++) {
        struct location location = {0};
        if (sampled_names_has(names, offsets[i]))
            continue;
        program_locate_function(program, image, offsets[i], &location);
        if (!add(names, offsets[i], &location))
            return false;
    }
    return true;
}

bool sampled_names_cover(const struct sampled_names *names, struct symbol_cover *cover) {
    return all_where(i, names->count,
                     !names->symbols[i].name[0] ||
                         symbol_cover_add(cover, names->symbols[i].start, names->symbols[i].size,
                                          names->symbols[i].name, strlen(names->symbols[i].name)));
}

size_t sampled_names_bytes(const struct sampled_names *names) {
    size_t bytes = names->capacity * sizeof *names->symbols;
    for (size_t i = 0; i < names->count; i++)
        bytes += strlen(names->symbols[i].name) + 1;
    return bytes;
}
