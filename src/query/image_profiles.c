#include "query/image_profiles.h"

#include <string.h>

#include "util/array.h"
#include "util/order.h"

struct reading {
    struct image_profiles *profiles;
    bool out_of_memory;
};

bool image_profiles_is_build(const struct image_profiles *profiles,
                             const struct store_image *image) {
    const struct store_image *build = profiles->build;
    return image->kind == build->kind && image->build_id_size == build->build_id_size &&
           !memcmp(image->build_id, build->build_id, build->build_id_size) &&
           !strcmp(image->path, build->path);
}

static bool wants_values(void *context, const struct store_image *image) {
    const struct reading *reading = context;
    return image_profiles_is_build(reading->profiles, image);
}

static void *copied(struct image_profiles *profiles, const void *from, size_t size) {
    void *to = arena_alloc(&profiles->arena, size);
    if (to)
        memcpy(to, from, size);
    return to;
}

static const char *text(struct image_profiles *profiles, const char *text) {
    return arena_copy(&profiles->arena, text, strlen(text));
}

/* Of a session only the weight is kept, as nothing else is asked for. */
static bool keep(struct image_profiles *profiles, const struct store_profile *stored) {
    const struct store_session session = {.id = stored->session->id,
                                          .weight = stored->session->weight};
    struct store_event event = *stored->event;
    struct store_process process = *stored->process;
    struct store_profile kept = *stored;
    event.name = text(profiles, event.name);
    event.unit = text(profiles, event.unit);
    event.period_unit = text(profiles, event.period_unit);
    process.command = text(profiles, process.command);
    process.executable = text(profiles, process.executable);
    kept.session = copied(profiles, &session, sizeof session);
    kept.event = copied(profiles, &event, sizeof event);
    kept.process = copied(profiles, &process, sizeof process);
    kept.values = kept.count
                      ? copied(profiles, stored->values, stored->count * sizeof *stored->values)
                      : NULL;
    if (!event.name || !event.unit || !event.period_unit || !process.command ||
        !process.executable || !kept.session || !kept.event || !kept.process ||
        (kept.count && !kept.values) ||
        !array_room(profiles->profiles, profiles->capacity, profiles->count + 1))
        return false;
    profiles->profiles[profiles->count++] = kept;
    return true;
}

static bool visit(void *context, const struct store_profile *stored) {
    struct reading *reading = context;
    reading->out_of_memory = !keep(reading->profiles, stored);
    return !reading->out_of_memory;
}

bool image_profiles_read(struct image_profiles *profiles, const struct profile_set *set,
                         const struct store_image *build, struct error *error) {
    *profiles = (struct image_profiles){.build = build};
    struct reading reading = {.profiles = profiles};
    struct store_filter filter = profile_set_filter(set, NULL);
    filter.wants_values = wants_values;
    filter.context = &reading;
    return store_each_profile(set->store, &filter, visit, &reading, error) &&
           (!reading.out_of_memory || error_set(error, "out of memory for the profile"));
}

void image_profiles_free(struct image_profiles *profiles) {
    free(profiles->profiles);
    arena_free(&profiles->arena);
    *profiles = (struct image_profiles){0};
}

size_t image_profiles_from(const struct store_profile *profile, uint64_t offset) {
    return first_where(i, profile->count, profile->values[i].offset >= offset);
}
