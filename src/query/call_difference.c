#include "query/call_difference.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/file_name.h"

void call_difference_free(struct call_difference *difference) {
    free(difference->frames);
    free(difference->images);
    intern_free(&difference->names);
    intern_free(&difference->image_names);
    hash_index_free(&difference->index);
    *difference = (struct call_difference){0};
}

/* INTERN_NONE: out of memory. */
static uint32_t name_of(struct call_difference *difference, const struct call_procedure *of) {
    const size_t had = difference->names.count;
    const uint32_t name = intern_add(&difference->names, of->name, strlen(of->name));
    if (name == INTERN_NONE || name < had)
        return name;
    const char *image = of->cut ? "" : file_base_name(of->image);
    const uint32_t number = intern_add(&difference->image_names, image, strlen(image));
    if (number == INTERN_NONE ||
        !array_room(difference->images, difference->image_capacity, (size_t)name + 1))
        return INTERN_NONE;
    difference->images[name] = number;
    return name;
}

/* The frame of that name which a frame calls; CALL_NONE_FRAME: out of memory. */
static uint32_t child_of(struct call_difference *difference, uint32_t parent, uint32_t name) {
    const uint64_t hash = hash_pair(parent, name);
    size_t at;
    for (uint32_t i = hash_index_first(&difference->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&difference->index, hash, &at))
        if (difference->frames[i].parent == parent && difference->frames[i].name == name)
            return i;
    const uint32_t number = (uint32_t)difference->frame_count;
    const struct difference_frame frame = {.parent = parent, .name = name};
    return array_push(difference->frames, difference->frame_capacity, difference->frame_count,
                      frame) &&
                   hash_index_add(&difference->index, hash, number)
               ? number
               : CALL_NONE_FRAME;
}

static bool add_frames(struct call_difference *difference, unsigned side,
                       const struct call_profile *profile, uint32_t *names, uint32_t *numbers) {
    const struct call_frames *frames = &profile->frames;
    for (size_t i = 0; i < profile->procedure_count; i++)
        if ((names[i] = name_of(difference, &profile->procedures[i])) == INTERN_NONE)
            return false;
    for (size_t i = 0; i < frames->count; i++) {
        const struct call_frame *from = &frames->items[i];
        numbers[i] = i ? child_of(difference, numbers[from->parent], names[from->procedure]) : 0;
        if (numbers[i] == CALL_NONE_FRAME)
            return false;
        struct difference_frame *to = &difference->frames[numbers[i]];
        to->self[side] += from->self;
        to->calls[side] += from->calls;
    }
    return true;
}

bool call_difference_add(struct call_difference *difference, unsigned side,
                         const struct call_profile *profile, struct error *error) {
    static const struct difference_frame ALL = {.parent = CALL_NONE_FRAME, .name = INTERN_NONE};
    uint32_t *names = malloc((profile->procedure_count + 1) * sizeof *names);
    uint32_t *numbers = malloc((profile->frames.count + 1) * sizeof *numbers);
    const bool good =
        names && numbers &&
        (difference->frame_count || array_push(difference->frames, difference->frame_capacity,
                                               difference->frame_count, ALL)) &&
        add_frames(difference, side, profile, names, numbers);
    difference->has[side] = good;
    free(names);
    free(numbers);
    return good || error_set(error, "out of memory for the calls of both runs");
}
