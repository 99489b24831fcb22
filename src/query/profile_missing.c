/* What is said of a profile that has nothing of what is asked for. */
#include "query/profile_table_parts.h"

#include <inttypes.h>

#include "query/missing_slices.h"
#include "query/near_names.h"
#include "util/file_name.h"

struct missing {
    const struct profile_table_options *options;
    struct name_list near;
    bool elsewhere; /* the image has samples, but others */
};

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
    filter.totals_alone = true;
    struct missing missing = {.options = options};
    if (sample_choice_any(&set->choice))
        return missing_slices(set, error);
    size_t at = 0;
    const struct store_damage *damage = profile_set_damage(set, &at);
    if (!what && damage)
        return error_set(error, "%s: nothing of it can be read (epoch %" PRId64 " of %s: %s)",
                         set->label, damage->epoch, damage->whose, damage->why);
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
