/* Several epochs, one after the other. */
#include <inttypes.h>

#include "store/push.h"

bool push_sessions(struct push *push, const int64_t *sessions, size_t count, struct pushed *pushed,
                   struct error *error) {
    for (size_t i = 0; i < count; i++) {
        bool present;
        if (!push_session(push, sessions[i], &present, error))
            return error_prefix(error, "epoch %" PRId64, sessions[i]);
        pushed->present += present;
        pushed->sent += !present;
    }
    return true;
}

bool push_waiting(struct push *push, const char *host, struct pushed *pushed, struct error *error) {
    struct push_queue queue = {0};
    bool good = push_queue_read(push->file, host, &queue, error);
    for (size_t i = 0; good && i < queue.count; i++)
        good = push_sessions(push, &queue.epochs[i].session, 1, pushed, error);
    push_queue_free(&queue);
    return good;
}
