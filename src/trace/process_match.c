#include "trace/process_match.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/quoted_command.h"
#include "util/text.h"

bool process_match_init(struct process_match *match, const struct capture_process *list,
                        size_t count) {
    *match = (struct process_match){
        .list = list, .count = count, .taken = calloc(count + 1, sizeof *match->taken)};
    return match->taken;
}

void process_match_free(struct process_match *match) {
    free(match->taken);
    free(match->known);
    *match = (struct process_match){0};
}

/* A list may have gone through a file that has no room for line ends. */
static bool same_text(const char *known, const char *text) {
    if (strcmp(known, text) == 0)
        return true;
    size_t room = 4 * strlen(text) + 1;
    char *clean = malloc(room);
    bool same = clean && strcmp(known, text_clean(clean, room, text)) == 0;
    free(clean);
    return same;
}

/* The command itself may be given other arguments, and what it forks is like it, until an exec. */
static bool inherits(const struct item_process *process) {
    return process->forker == UINT32_MAX || process->generation == 0;
}

enum likeness { UNLIKE, SAME_EXECUTABLE, SAME_COMMAND };

static enum likeness likeness(const struct capture_process *known,
                              const struct item_process *process, uint32_t forker) {
    if (!known->executable || !known->command || known->forker != forker ||
        known->generation != process->generation)
        return UNLIKE;
    if (inherits(process))
        return SAME_COMMAND;
    if (!same_text(known->executable, process->executable))
        return UNLIKE;
    return same_text(known->command, process->command) ||
                   quoted_command_same(known->command, process->command)
               ? SAME_COMMAND
               : SAME_EXECUTABLE;
}

static uint32_t find(const struct process_match *match, const struct item_process *process,
                     uint32_t forker) {
    uint32_t alike = PROCESS_UNKNOWN, of_fork = PROCESS_UNKNOWN;
    for (uint32_t i = 0; i < match->count; i++) {
        const struct capture_process *known = &match->list[i];
        enum likeness like = match->taken[i] ? UNLIKE : likeness(known, process, forker);
        bool same_fork = known->fork == process->fork;
        if (like == SAME_COMMAND && same_fork)
            return i;
        if (like == SAME_COMMAND &&
            (alike == PROCESS_UNKNOWN || known->fork < match->list[alike].fork))
            alike = i;
        if (like == SAME_EXECUTABLE && same_fork)
            of_fork = i;
    }
    return alike != PROCESS_UNKNOWN ? alike : of_fork;
}

uint32_t process_match_add(struct process_match *match, const struct item_process *process) {
    uint32_t forker = process->forker, known = PROCESS_UNKNOWN;
    if (!match->count)
        return process->process;
    bool forked = forker != UINT32_MAX;
    if (forked)
        forker = forker < match->known_count ? match->known[forker] : PROCESS_UNKNOWN;
    if (process->traced && (!forked || forker != PROCESS_UNKNOWN))
        known = find(match, process, forker);
    if (known != PROCESS_UNKNOWN)
        match->taken[known] = true;
    while (match->known_count <= process->process) {
        if (!array_push(match->known, match->known_capacity, match->known_count, PROCESS_UNKNOWN))
            return PROCESS_UNKNOWN;
    }
    return match->known[process->process] = known;
}
