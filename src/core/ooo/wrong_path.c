#include "core/ooo/wrong_path.h"

#include <stdlib.h>
#include <string.h>

enum {
    PATH_UOPS = 64, /* in which two paths are expected to meet */
    PATHS = 2048,   /* that are remembered */
    HASHES = 128,
    LINES = 16
};

/* Where the wrong path meets the right one: µops on either before. */
struct meeting {
    uint32_t wrong, right;
};

/* What came behind a branch that went this way: its µops, each of which is one of the program's. */
struct path {
    uint32_t branch, count; /* number of the branch and way it went, + 1 */
    struct meeting last;    /* where a right path met it */
    const struct prepared_uop *uops[PATH_UOPS];
};

struct wrong_paths {
    struct path paths[PATHS];
};

struct wrong_paths *wrong_paths_new(void) {
    return calloc(1, sizeof(struct wrong_paths));
}

/* ---- paths ---- */

static struct path *path_of(const struct ooo *core, uint32_t insn, bool taken) {
    return &core->wrong_paths->paths[(2 * insn + taken) % PATHS];
}

static uint32_t key_of(uint32_t insn, bool taken) {
    return 2 * insn + taken + 1;
}

/* The µops behind branch `at`. */
static void remember(struct ooo *core, uint64_t at) {
    const struct stream_uop *branch = stream_at(core, at);
    const bool taken = branch->flags & U_TAKEN;
    struct path *path = path_of(core, branch->insn, taken);
    path->branch = key_of(branch->insn, taken);
    path->count = (uint32_t)lesser(core->available - at - 1, PATH_UOPS);
    path->last = (struct meeting){PATH_UOPS, 0};
    for (uint32_t i = 0; i < path->count; i++)
        path->uops[i] = stream_at(core, at + 1 + i)->operands;
}

/* µops of the right path by a hash of where they are; of equal ones the first comes first. */
struct right_path {
    const struct prepared_uop *uops[PATH_UOPS];
    uint8_t first[HASHES], next[PATH_UOPS]; /* number + 1; 0: no more */
};

static uint32_t hash_of(const struct prepared_uop *uop) {
    return (uint32_t)((uintptr_t)uop / sizeof *uop) % HASHES;
}

static void list_right_path(const struct ooo *core, uint64_t at, struct right_path *path) {
    memset(path->first, 0, sizeof path->first);
    for (uint32_t k = (uint32_t)lesser(core->available - at - 1, PATH_UOPS); k-- > 0;) {
        path->uops[k] = stream_at(core, at + 1 + k)->operands;
        uint8_t *first = &path->first[hash_of(path->uops[k])];
        path->next[k] = *first;
        *first = (uint8_t)(k + 1);
    }
}

/* The nearest: in a loop the paths may also have µops of different rounds in common. */
static bool find_meeting(const struct ooo *core, const struct path *wrong, uint64_t at,
                         struct meeting *meeting) {
    struct right_path right;
    uint32_t nearest = 2 * PATH_UOPS;
    list_right_path(core, at, &right);
    for (uint32_t i = 0; i < wrong->count && i < nearest; i++) {
        uint32_t k = right.first[hash_of(wrong->uops[i])];
        while (k && right.uops[k - 1] != wrong->uops[i])
            k = right.next[k - 1];
        if (k && i + k - 1 < nearest) {
            nearest = i + k - 1;
            *meeting = (struct meeting){i, k - 1};
        }
    }
    return nearest < 2 * PATH_UOPS;
}

/* Most right paths behind a branch are the same: where the last one met, this one may as well. */
static bool meet(const struct ooo *core, struct path *wrong, uint64_t at, struct meeting *meeting) {
    const struct meeting last = wrong->last;
    const uint64_t there = at + 1 + last.right;
    if (last.wrong < wrong->count && there < core->available &&
        stream_at(core, there)->operands == wrong->uops[last.wrong]) {
        *meeting = last;
        return true;
    }
    if (!find_meeting(core, wrong, at, meeting))
        return false;
    wrong->last = *meeting;
    return true;
}

/* ---- down the wrong path ---- */

struct walk {
    uint64_t first, end;   /* cycles: its first µop is fetched, the branch has executed */
    uint32_t fetched;      /* µops */
    uint64_t lines[LINES]; /* of code that were fetched last, by their low bits */
    uint64_t wake[RENAME_COUNT];
    bool unknown[RENAME_COUNT]; /* the register has another value than on the right path, or none in
                                   time */
};

static void forget_results(struct walk *walk, const struct prepared_uop *uop) {
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++)
        walk->unknown[uop->destination[i]] = true;
    walk->unknown[RENAME_WRITE_NONE] = false;
}

/* The next µop is fetched; the cycle. Lines of code are there from then on. */
static uint64_t fetch_next(struct ooo *core, struct walk *walk, const struct prepared_uop *uop) {
    const uint32_t width = core->machine.fetch_width < core->machine.dispatch_width
                               ? core->machine.fetch_width
                               : core->machine.dispatch_width;
    const uint64_t cycle = walk->first + walk->fetched++ / width;
    const uint64_t line = uop->insn_address & core->fetch_line_mask;
    uint64_t *fetched = &walk->lines[(line >> core->fetch_line_shift) % LINES];
    if (line != *fetched && cycle < walk->end) {
        struct memory_result result = {0};
        *fetched = line;
        if (!memory_fetch_hits(core->memory, cycle, line))
            memory_fetch(core->memory, cycle, line, UNKNOWN, &result);
        if (result.ready > cycle + core->l1i_latency)
            walk->first += result.ready - cycle - core->l1i_latency;
    }
    return cycle;
}

/* When a µop of the right path has its operands; UNKNOWN: they are others, or come too late. */
static uint64_t operands_of(const struct walk *walk, const struct prepared_uop *uop,
                            uint64_t soonest) {
    uint64_t ready = soonest;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++) {
        if (walk->unknown[uop->source[i]])
            return UNKNOWN;
        ready = later(ready, walk->wake[uop->source[i]]);
    }
    return ready;
}

/* When what a load reads is there; UNKNOWN: nobody knows, or no MSHR is free. Cycles are those of
 * the issue of loads, as in access_memory(). */
static uint64_t load_there(struct ooo *core, const struct stream_uop *stream, uint64_t issue) {
    if (stream->access_count != 1)
        return UNKNOWN;
    const uint64_t ready =
        memory_prefetch(core->memory, issue, stream->address, UNKNOWN, stream->insn);
    return ready == UNKNOWN ? UNKNOWN : ready + core->units[stream->unit].wake - core->l1d_latency;
}

/* A µop of the right path executes down the wrong one. */
static void execute_there(struct ooo *core, struct walk *walk, const struct stream_uop *stream,
                          uint64_t fetched) {
    const struct prepared_uop *uop = stream->operands;
    const struct machine_core *machine = &core->machine;
    const uint64_t soonest = fetched + machine->frontend_depth + machine->dispatch_to_issue;
    uint64_t ready = operands_of(walk, uop, soonest);
    if (ready < walk->end && stream->flags & U_LOAD)
        ready = load_there(core, stream, ready);
    else if (ready < walk->end && !(stream->flags & U_ELIMINATED))
        ready += core->units[stream->unit].wake;
    if (ready >= walk->end) {
        forget_results(walk, uop);
        return;
    }
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++) {
        walk->wake[uop->destination[i]] = ready;
        walk->unknown[uop->destination[i]] = false;
    }
}

/* Goes astray behind branch *at, up to where the paths meet: *at is then the µop before. False: it
 * is not known where that is, or not in time. */
static bool go_astray(struct ooo *core, struct walk *walk, uint64_t *at) {
    const struct stream_uop *branch = stream_at(core, *at);
    const bool taken = branch->flags & U_TAKEN;
    struct path *wrong = path_of(core, branch->insn, !taken);
    struct meeting meeting;
    if (wrong->branch != key_of(branch->insn, !taken))
        return false;
    const bool met = meet(core, wrong, *at, &meeting);
    for (uint32_t i = 0; i < (met ? meeting.wrong : wrong->count); i++) {
        if (fetch_next(core, walk, wrong->uops[i]) >= walk->end)
            return false;
        forget_results(walk, wrong->uops[i]);
    }
    for (uint32_t k = 0; met && k < meeting.right; k++)
        forget_results(walk, stream_at(core, *at + 1 + k)->operands);
    *at += met ? meeting.right : 0;
    return met;
}

void run_wrong_path(struct ooo *core, uint64_t branch, uint64_t fetch, uint64_t complete) {
    struct walk walk = {.first = fetch + 1, .end = complete};
    uint64_t at = branch;
    memcpy(walk.wake, core->registers.wake, sizeof walk.wake);
    bool goes_on = go_astray(core, &walk, &at);
    remember(core, branch);
    while (goes_on && ++at < core->available && walk.fetched < core->machine.wrong_path) {
        const struct stream_uop *stream = stream_at(core, at);
        const uint64_t cycle = fetch_next(core, &walk, stream->operands);
        if (cycle >= walk.end || stream->flags & (U_FLUSH | U_SERIAL))
            return;
        execute_there(core, &walk, stream, cycle);
        if (stream->flags & U_MISPREDICTED)
            goes_on = go_astray(core, &walk, &at);
    }
}
