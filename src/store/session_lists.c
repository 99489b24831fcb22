/* Sessions that are named by lists: "3,7..9,last". */
#include <stdlib.h>
#include <string.h>

#include "store/session_choice.h"
#include "util/array.h"

/* All epochs of the store by their start, and which of them are chosen. */
struct choice {
    int64_t *ids;
    bool *chosen;
    size_t count, capacity, chosen_capacity;
    size_t last; /* index of the one that was written last */
    int64_t last_saved;
    bool failed;
};

static bool note_epoch(void *context, const struct store_session *session,
                       const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct choice *choice = context;
    if (!array_room(choice->ids, choice->capacity, choice->count + 1) ||
        !array_room(choice->chosen, choice->chosen_capacity, choice->count + 1)) {
        choice->failed = true;
        return false;
    }
    choice->chosen[choice->count] = false;
    if (!choice->count || session->saved >= choice->last_saved) {
        choice->last = choice->count;
        choice->last_saved = session->saved;
    }
    choice->ids[choice->count++] = session->id;
    return true;
}

static bool choose_range(struct choice *choice, int64_t first, int64_t last) {
    bool any = false;
    for (size_t i = 0; i < choice->count; i++)
        if (first <= choice->ids[i] && choice->ids[i] <= last)
            any = choice->chosen[i] = true;
    return any;
}

/* The number at *text, which is moved behind it. */
static bool read_number(const char **text, int64_t *number) {
    if (**text < '0' || **text > '9')
        return false;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, **text - '0', number))
            return false;
    return true;
}

static bool choose_item(struct choice *choice, const char *item, size_t length, const char *path,
                        struct error *error) {
    if (length == 3 && !strncmp(item, "all", 3))
        return choose_range(choice, INT64_MIN, INT64_MAX);
    if (length == 4 && !strncmp(item, "last", 4))
        return choice->chosen[choice->last] = true;
    const char *at = item;
    int64_t first = 0, last;
    bool good = read_number(&at, &first);
    last = first;
    if (good && !strncmp(at, "..", 2)) {
        at += 2;
        good = read_number(&at, &last) && first <= last;
    }
    if (!good || at != item + length)
        return error_set(error,
                         "--epoch %.*s: not an epoch (a number, a range FIRST..LAST, last, or all)",
                         (int)length, item);
    return choose_range(choice, first, last) ||
           error_set(error, "--epoch %.*s: no such epoch in %s ('culprit epochs' lists them)",
                     (int)length, item, path);
}

static bool choose_list(struct choice *choice, const char *list, const char *path,
                        struct error *error) {
    for (;;) {
        size_t length = strcspn(list, ",");
        if (!choose_item(choice, list, length, path, error))
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

bool store_no_epochs(const struct store *store, struct error *error) {
    return error_set(error,
                     "%s holds no epochs ('culprit record' or 'culprit daemon' collects some)",
                     store_path(store));
}

bool store_choose_sessions(struct store *store, const char *const *lists, size_t list_count,
                           int64_t **sessions, size_t *count, struct error *error) {
    struct choice choice = {0};
    *sessions = NULL;
    *count = 0;
    bool good = store_each_session(store, note_epoch, &choice, error);
    if (good && choice.failed)
        good = error_set(error, "out of memory");
    if (good && choice.count == 0)
        good = store_no_epochs(store, error);
    for (size_t i = 0; good && i < list_count; i++)
        good = choose_list(&choice, lists[i], store_path(store), error);
    for (size_t i = 0; good && i < choice.count; i++)
        if (choice.chosen[i])
            choice.ids[(*count)++] = choice.ids[i];
    free(choice.chosen);
    if (good)
        *sessions = choice.ids;
    else
        free(choice.ids);
    return good;
}
