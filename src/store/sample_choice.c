#include <string.h>

#include "store/store.h"
#include "util/array.h"
#include "util/order.h"

bool sample_choice_any(const struct sample_choice *choice) {
    return choice->pid || choice->thread || choice->processor || choice->cgroup || choice->since ||
           choice->until || choice->build;
}

/* Whole names on the path: "/a/b/c" has "/a/b", "b" and "b/c", but not "/b". */
static bool has_names(const char *path, const char *names) {
    const size_t length = strlen(names);
    for (const char *at = strstr(path, names); at; at = strstr(at + 1, names)) {
        const bool begins = at == path || at[-1] == '/';
        const bool ends = !length || names[length - 1] == '/' || !at[length] || at[length] == '/';
        if (begins && ends && (names[0] != '/' || at == path))
            return true;
    }
    return false;
}

/* The middle of when they were taken. */
static int64_t middle_of(const struct store_session *session, const struct store_slice *slice) {
    const int64_t reached = session->end ? session->end : session->saved;
    const bool sliced = slice->end > slice->begin;
    const int64_t begin = sliced ? slice->begin : session->start;
    const int64_t end = sliced ? slice->end : reached;
    return end > begin ? begin + (int64_t)(((uint64_t)end - (uint64_t)begin) / 2) : begin;
}

static bool lies_between(int64_t middle, int64_t since, int64_t until) {
    return middle >= since && (!until || middle < until);
}

static bool admits_time(const struct sample_choice *choice, const struct store_session *session,
                        const struct store_slice *slice) {
    const size_t count = choice->span_count;
    const struct store_span *spans = choice->spans;
    if (!count && !choice->since && !choice->until)
        return true;
    const int64_t middle = middle_of(session, slice);
    size_t at = first_where(i, count, spans[i].session >= session->id);
    if (at == count || spans[at].session != session->id)
        return lies_between(middle, choice->since, choice->until);
    for (; at < count && spans[at].session == session->id; at++)
        if (lies_between(middle, spans[at].since, spans[at].until))
            return true;
    return false;
}

bool sample_choice_admits(const struct sample_choice *choice, const struct store_session *session,
                          const struct store_process *process) {
    const struct store_slice *slice = &process->slice;
    return (!choice->pid || choice->pid == slice->pid) &&
           (!choice->thread || choice->thread == slice->thread) &&
           (!choice->processor || choice->processor == slice->processor) &&
           (!choice->cgroup || has_names(slice->cgroup, choice->cgroup)) &&
           (!choice->processes ||
            key_numbers_find(choice->processes, (uint64_t)process->id) != UINT32_MAX) &&
           admits_time(choice, session, slice);
}
