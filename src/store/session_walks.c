/* Walks over some of the sessions. */
#include "store/database.h"

static void visit_list(const struct session_list *list, store_session_visitor *visit,
                       void *context) {
    for (size_t i = 0; i < list->count; i++) {
        const struct session_entry *entry = &list->entries[i];
        if (!visit(context, &entry->session, entry->events, entry->event_count))
            return;
    }
}

bool store_each_sum(struct store *store, store_session_visitor *visit, void *context,
                    struct error *error) {
    struct session_list list;
    if (!session_list_read_sums(store, &list, error))
        return false;
    visit_list(&list, visit, context);
    session_list_free(&list);
    return true;
}

bool store_each_session_between(struct store *store, int64_t since, int64_t until,
                                store_session_visitor *visit, void *context, struct error *error) {
    struct session_list list;
    if (!session_list_read_some(store, &list, SESSIONS_BETWEEN,
                                (const struct datum[]){INTEGER(since), INTEGER(until)}, 2, error))
        return false;
    visit_list(&list, visit, context);
    session_list_free(&list);
    return true;
}

bool store_each_session_without_days(struct store *store, store_session_visitor *visit,
                                     void *context, struct error *error) {
    struct session_list list;
    if (!session_list_read_some(store, &list, OTHER_SESSIONS, NULL, 0, error))
        return false;
    visit_list(&list, visit, context);
    session_list_free(&list);
    return true;
}

bool store_each_named_session(struct store *store, const int64_t *sessions, size_t count,
                              store_session_visitor *visit, void *context, struct error *error) {
    struct session_list list;
    if (!session_list_read_named(store, &list, sessions, count, error))
        return false;
    visit_list(&list, visit, context);
    session_list_free(&list);
    return true;
}
