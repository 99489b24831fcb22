#include <string.h>

#include "store/store.h"

bool sample_choice_any(const struct sample_choice *choice) {
    return choice->pid || choice->thread || choice->processor || choice->cgroup || choice->since ||
           choice->until;
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

static bool admits_time(const struct sample_choice *choice, const struct store_session *session,
                        const struct store_slice *slice) {
    const int64_t reached = session->end ? session->end : session->saved;
    const bool sliced = slice->end > slice->begin;
    const int64_t begin = sliced ? slice->begin : session->start;
    const int64_t end = sliced ? slice->end : reached;
    const int64_t middle = end > begin ? begin + (end - begin) / 2 : begin;
    return middle >= choice->since && (!choice->until || middle < choice->until);
}

bool sample_choice_admits(const struct sample_choice *choice, const struct store_session *session,
                          const struct store_process *process) {
    const struct store_slice *slice = &process->slice;
    return (!choice->pid || choice->pid == slice->pid) &&
           (!choice->thread || choice->thread == slice->thread) &&
           (!choice->processor || choice->processor == slice->processor) &&
           (!choice->cgroup || has_names(slice->cgroup, choice->cgroup)) &&
           ((!choice->since && !choice->until) || admits_time(choice, session, slice));
}
