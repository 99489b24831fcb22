/* Profiles of a new session, all by one COPY: one by one each is two questions to a server, which
 * may be far away. */
#include "store/copy.h"

static bool copy_profile(struct copy *copy, struct store *store, int32_t day, int64_t session,
                         const struct new_profile *profile, struct error *error) {
    if (!blob_encode_values(&store->codec, profile->values, profile->count, error))
        return error_prefix(error, "%s", store->path);
    copy_row(copy, 7);
    copy_day(copy, day);
    copy_integer(copy, session);
    copy_integer(copy, profile->image);
    copy_integer(copy, profile->process);
    copy_integer(copy, profile->event);
    copy_integer(copy, values_total(profile->values, profile->count));
    copy_bytes(copy, store->codec.packed, store->codec.size);
    return true;
}

bool postgres_add_profiles(struct store *store, int64_t session, const struct new_profile *profiles,
                           size_t count, struct error *error) {
    const struct datum data[] = {INTEGER(session)};
    struct copy copy;
    int64_t day;
    if (!postgres_integer(store, "SELECT day FROM session WHERE id = $1", data, 1, &day, error))
        return false;
    bool good = copy_begin(&copy, store,
                           "profile(day, session, image, process, event, total, data)", error);
    for (size_t i = 0; good && !copy.failed && i < count; i++)
        if (profiles[i].count)
            good = copy_profile(&copy, store, (int32_t)day, session, &profiles[i], error);
    return copy_end(&copy, good, error);
}
