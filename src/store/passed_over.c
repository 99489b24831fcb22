/* On a server many hosts write, and any of them may send what cannot be read. It is left out, and
 * whose it is is kept for a note, so that one host cannot keep readers from all others. */
#include <stdio.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"

enum { MOST_NOTED = 1000 };

void store_pass_over(struct store *store) {
    store->passes_over = store->backend->many_writers;
}

const struct store_damage *store_damage(const struct store *store, size_t *count) {
    *count = store->passed_over_count;
    return store->passed_over;
}

bool database_pass_over(struct store *store, int64_t epoch, const char *whose,
                        struct error *error) {
    const char *why = store->damage;
    if (!store->passes_over || !*why)
        return false;
    error->message[0] = 0;
    const size_t count = store->passed_over_count;
    if (count == MOST_NOTED || any_where(i, count,
                                         store->passed_over[i].epoch == epoch &&
                                             !strcmp(store->passed_over[i].whose, whose)))
        return true;
    struct store_damage damage = {.epoch = epoch};
    snprintf(damage.whose, sizeof damage.whose, "%s", whose);
    snprintf(damage.why, sizeof damage.why, "%s", why);
    return array_push(store->passed_over, store->passed_over_capacity, store->passed_over_count,
                      damage);
}
