/* All that a set of epochs holds of one build of a file, read once for many of its procedures, and
 * what it holds of other files in total. */
#pragma once

#include "query/profile_set.h"
#include "util/arena.h"

struct image_profiles {
    const struct store_image *build; /* lives as the store does */
    struct store_profile *profiles;  /* of all images; values of this build alone. Of sessions id
                                        and weight are set */
    size_t count, capacity;
    struct arena arena;
};

/* False: the store cannot be read, or out of memory. image_profiles_free() either way. */
bool image_profiles_read(struct image_profiles *profiles, const struct profile_set *set,
                         const struct store_image *build, struct error *error);
void image_profiles_free(struct image_profiles *profiles);

bool image_profiles_is_build(const struct image_profiles *profiles,
                             const struct store_image *image);

/* The first value of a profile that lies at this offset or behind it; its count: none. */
size_t image_profiles_from(const struct store_profile *profile, uint64_t offset);
