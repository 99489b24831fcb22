/* Places are looked up once each: many nodes of a tree lie at one. */
#include "query/call_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/function_name.h"
#include "query/call_profile_parts.h"
#include "query/image_name.h"
#include "query/missing_slices.h"
#include "query/profile_table.h"
#include "store/image_names.h"
#include "tap/tap.h"
#include "util/array.h"
#include "util/order.h"

enum { NAME_BYTES = 4096 };

/* ---- frames ---- */

static bool frames_begin(struct call_frames *frames) {
    return array_push(frames->items, frames->capacity, frames->count,
                      (struct call_frame){.parent = CALL_NONE_FRAME});
}

void call_frames_free(struct call_frames *frames) {
    free(frames->items);
    free(frames->order);
    hash_index_free(&frames->index);
    *frames = (struct call_frames){0};
}

/* The child of a frame; CALL_NONE_FRAME: out of memory. */
static uint32_t child_of(struct call_frames *frames, uint32_t parent, uint32_t procedure) {
    const uint64_t hash = hash_pair(parent, procedure);
    size_t at;
    for (uint32_t i = hash_index_first(&frames->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&frames->index, hash, &at))
        if (frames->items[i].parent == parent && frames->items[i].procedure == procedure)
            return i;
    const uint32_t number = (uint32_t)frames->count;
    const struct call_frame frame = {.parent = parent, .procedure = procedure};
    return array_push(frames->items, frames->capacity, frames->count, frame) &&
                   hash_index_add(&frames->index, hash, number)
               ? number
               : CALL_NONE_FRAME;
}

static int by_parent(const void *one, const void *other, void *frames) {
    const struct call_frame *a = (const struct call_frame *)frames + *(const uint32_t *)one;
    const struct call_frame *b = (const struct call_frame *)frames + *(const uint32_t *)other;
    /* The first frame has none: its parent is the largest number. */
    return ascending(a->parent, b->parent) ?: descending(a->total, b->total) ?: ascending(a, b);
}

/* Sums what children have, and sorts them. */
static bool frames_settle(struct call_frames *frames) {
    frames->order = malloc((frames->count + 1) * sizeof *frames->order);
    if (!frames->order)
        return false;
    for (size_t i = frames->count; i-- > 0;) {
        struct call_frame *frame = &frames->items[i];
        frame->total += frame->self;
        frame->instructions += frame->self_instructions;
        if (frame->parent != CALL_NONE_FRAME) {
            frames->items[frame->parent].total += frame->total;
            frames->items[frame->parent].instructions += frame->instructions;
        }
        frames->order[i] = (uint32_t)i;
    }
    qsort_r(frames->order, frames->count, sizeof *frames->order, by_parent, frames->items);
    for (uint32_t i = 0; i < frames->count; i++) {
        const uint32_t parent = frames->items[frames->order[i]].parent;
        if (parent == CALL_NONE_FRAME)
            continue;
        if (!frames->items[parent].count++)
            frames->items[parent].first = i;
    }
    return true;
}

/* ---- procedures ---- */

struct site { /* a place that was looked up */
    int64_t image;
    uint64_t offset;
    uint32_t procedure;
};

struct reading {
    struct call_profile *profile;
    const struct profile_set *set;
    const struct call_query *query;
    struct image_names *names;
    struct site *sites;
    size_t site_count, site_capacity;
    struct hash_index index; /* of the sites */
    uint32_t *nodes;         /* of a tree: frames */
    size_t cell_capacity;    /* of the profile */
    size_t node_capacity;
    struct error *error;
    bool failed;
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the calls");
}

/* UINT32_MAX: out of memory. */
uint32_t call_profile_add_procedure(struct call_profile *profile, const char *image,
                                    const char *name, uint32_t cut) {
    char key[2 * NAME_BYTES];
    const size_t known = profile->names.count;
    const int size = snprintf(key, sizeof key, "%s%c%s", image, 0, name);
    const uint32_t number =
        intern_add(&profile->names, key, (size_t)size < sizeof key ? (size_t)size : sizeof key - 1);
    if (number != known)
        return number;
    const char *kept = intern_text(&profile->names, number);
    const struct call_procedure procedure = {
        .image = kept, .name = kept + strlen(kept) + 1, .cut = cut};
    return array_push(profile->procedures, profile->procedure_capacity, profile->procedure_count,
                      procedure)
               ? number
               : UINT32_MAX;
}

/* UINT32_MAX with an error. */
static uint32_t look_up(struct reading *reading, const struct store_call *call) {
    struct location location;
    char name[NAME_BYTES];
    const struct store_image *image =
        store_image_of(reading->set->store, call->image, reading->error);
    if (!image || !image_names_locate_procedure(reading->names, image, call->offset, &location,
                                                reading->error))
        return UINT32_MAX;
    const struct profile_row row = {.procedure = location.function,
                                    .image = image->path,
                                    .covered = location.function_size,
                                    .offset = location.function_offset};
    profile_row_name(&row, name, sizeof name);
    const uint32_t procedure = call_profile_add_procedure(reading->profile, image->path, name, 0);
    if (procedure == UINT32_MAX)
        no_memory(reading->error);
    return procedure;
}

static uint32_t add_cut(struct call_profile *profile, uint64_t cut) {
    if (cut == STORE_FAILED)
        return call_profile_add_procedure(profile, "", "[callers not found]", STORE_FAILED);
    return call_profile_add_procedure(profile, "", "[deeper callers]", STORE_TRUNCATED);
}

static uint32_t procedure_of(struct reading *reading, const struct store_call *call) {
    if (!call->image)
        return add_cut(reading->profile, call->offset);
    const uint64_t hash = hash_pair((uint64_t)call->image, call->offset);
    size_t at;
    for (uint32_t i = hash_index_first(&reading->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&reading->index, hash, &at))
        if (reading->sites[i].image == call->image && reading->sites[i].offset == call->offset)
            return reading->sites[i].procedure;
    const struct site site = {call->image, call->offset, look_up(reading, call)};
    if (site.procedure == UINT32_MAX ||
        (array_push(reading->sites, reading->site_capacity, reading->site_count, site) &&
         hash_index_add(&reading->index, hash, (uint32_t)reading->site_count - 1)))
        return site.procedure;
    no_memory(reading->error);
    return UINT32_MAX;
}

/* ---- trees ---- */

enum { REPEATED_MOST = 32 }; /* frames of a run that is folded */

/* The frame `levels` above. */
static uint32_t above(const struct call_frames *frames, uint32_t frame, unsigned levels) {
    while (levels-- && frame)
        frame = frames->items[frame].parent;
    return frame;
}

/* With a procedure called below, do the last `length` frames repeat those before them? a, b, a and
 * then b: a run of two. */
static bool repeats(const struct call_frames *frames, uint32_t caller, unsigned length) {
    uint32_t late = caller, early = above(frames, caller, length);
    for (unsigned i = 1; i < length; i++) {
        if (!early || frames->items[late].procedure != frames->items[early].procedure)
            return false;
        late = frames->items[late].parent;
        early = frames->items[early].parent;
    }
    return true;
}

/* The frame of a procedure that its callers have already, where the call ends a run of frames that
 * is repeated; 0: it does not. */
static uint32_t repeated(const struct call_frames *frames, uint32_t caller, uint32_t procedure) {
    uint32_t at = caller;
    for (unsigned length = 1; at && length <= REPEATED_MOST; length++) {
        if (frames->items[at].procedure == procedure && repeats(frames, caller, length))
            return at;
        at = frames->items[at].parent;
    }
    return 0;
}

uint32_t call_profile_frame(struct call_profile *profile, uint32_t caller, uint32_t procedure) {
    return repeated(&profile->frames, caller, procedure)
               ?: child_of(&profile->frames, caller, procedure);
}

/* The frame of a call below that of its caller. */
static bool add_call(struct reading *reading, const struct store_call *call, uint32_t *frame) {
    const uint32_t parent = call->parent == STORE_CALL_TOP ? 0 : reading->nodes[call->parent];
    if (store_call_is_events(call)) {
        *frame = parent;
        return true;
    }
    const uint32_t procedure = procedure_of(reading, call);
    if (procedure == UINT32_MAX)
        return false;
    *frame = call_profile_frame(reading->profile, parent, procedure);
    return *frame != CALL_NONE_FRAME || no_memory(reading->error);
}

/* Where distances of samples differ, each counts for its own. */
static double scale_of(const struct profile_event *event, const struct store_call_tree *tree) {
    const double scale = event->scale * tree->session->weight;
    return event->mean ? scale * (double)tree->event->period / event->mean : scale;
}

/* A value of a simulation by its events. */
static bool add_cell(struct reading *reading, const struct store_call_tree *tree, size_t call,
                     double value) {
    struct call_profile *profile = reading->profile;
    const struct store_call *of = &tree->calls[call];
    const struct call_cell cell = {.frame = reading->nodes[call],
                                   .psv = store_call_is_events(of)
                                              ? (uint32_t)(of->offset & (STORE_CALL_EVENTS - 1)) %
                                                    PSV_COMBINATIONS
                                              : 0,
                                   .value = value};
    return tree->session->kind != SESSION_SIMULATED ||
           array_push(profile->cells, reading->cell_capacity, profile->cell_count, cell) ||
           no_memory(reading->error);
}

static bool visit_tree(void *context, const struct store_call_tree *tree) {
    struct reading *reading = context;
    struct call_frames *frames = &reading->profile->frames;
    const double scale = scale_of(reading->query->event, tree);
    if (!profile_process_is(tree->process, reading->query->process))
        return true;
    if (!array_room(reading->nodes, reading->node_capacity, tree->count)) {
        reading->failed = true;
        return no_memory(reading->error);
    }
    for (size_t i = 0; i < tree->count && !reading->failed; i++) {
        reading->failed = !add_call(reading, &tree->calls[i], &reading->nodes[i]);
        const double value = scale * (double)tree->calls[i].value;
        if (!reading->failed)
            frames->items[reading->nodes[i]].self += value;
        if (!reading->failed && value > 0)
            reading->failed = !add_cell(reading, tree, i, value);
    }
    return !reading->failed;
}

ORDER(by_frame, struct call_cell, ascending(a->frame, b->frame) ?: ascending(a->psv, b->psv))

void call_profile_sort_cells(struct call_profile *profile) {
    struct call_cell *cells = profile->cells;
    size_t kept = 0;
    if (profile->cell_count)
        qsort(cells, profile->cell_count, sizeof *cells, by_frame);
    for (size_t i = 0; i < profile->cell_count; i++) {
        if (kept && by_frame(&cells[kept - 1], &cells[i]) == 0)
            cells[kept - 1].value += cells[i].value;
        else
            cells[kept++] = cells[i];
    }
    profile->cell_count = kept;
}

static bool has_ancestor(const struct call_frames *frames, uint32_t frame, uint32_t procedure) {
    for (uint32_t at = frames->items[frame].parent; at && at != CALL_NONE_FRAME;
         at = frames->items[at].parent)
        if (frames->items[at].procedure == procedure)
            return true;
    return false;
}

static void sum_procedures(struct call_profile *profile) {
    const struct call_frames *frames = &profile->frames;
    for (uint32_t i = 1; i < frames->count; i++) {
        const struct call_frame *frame = &frames->items[i];
        struct call_procedure *procedure = &profile->procedures[frame->procedure];
        procedure->self += frame->self;
        procedure->self_instructions += frame->self_instructions;
        if (!has_ancestor(frames, i, frame->procedure)) {
            procedure->total += frame->total;
            procedure->instructions += frame->instructions;
        }
        if (procedure->cut)
            *(procedure->cut == STORE_FAILED ? &profile->failed : &profile->truncated) +=
                frame->total;
    }
}

bool call_profile_begin(struct call_profile *profile) {
    *profile = (struct call_profile){0};
    return frames_begin(&profile->frames);
}

bool call_profile_settle(struct call_profile *profile) {
    if (!frames_settle(&profile->frames))
        return false;
    sum_procedures(profile);
    return true;
}

/* Of waits stacks are taken with them, or not permitted. */
static bool no_stacks(const struct profile_set *set, const struct call_query *query,
                      struct error *error) {
    const char *of = query->process ? " of " : "", *process = query->process ?: "";
    if (profile_event_lasts(query->event))
        return error_set(
            error,
            "%s does not tell where threads%s%s waited (event %s): none did, or recording "
            "that needs CAP_PERFMON (or root), or kernel.perf_event_paranoid at most 1",
            set->label, of, process, query->event->name);
    return error_set(
        error, "%s has no samples with call stacks%s%s ('culprit record --stacks' takes them)",
        set->label, of, process);
}

bool call_profile_read(struct call_profile *profile, const struct profile_set *set,
                       const struct call_query *query, struct program *program,
                       struct error *error) {
    struct reading reading = {.profile = profile, .set = set, .query = query, .error = error};
    const struct store_filter filter = profile_set_filter(set, query->event->name);
    bool good = (call_profile_begin(profile) || no_memory(error)) &&
                (reading.names = image_names_new(set->store, program, error)) &&
                store_each_call_tree(set->store, &filter, visit_tree, &reading, error) &&
                !reading.failed && (call_profile_settle(profile) || no_memory(error));
    image_names_free(reading.names);
    free(reading.sites);
    hash_index_free(&reading.index);
    free(reading.nodes);
    if (!good)
        return false;
    call_profile_sort_cells(profile);
    if (!(profile->frames.items[0].total > 0) && sample_choice_any(&set->choice))
        return missing_slices(set, error);
    return profile->frames.items[0].total > 0 || no_stacks(set, query, error);
}

void call_profile_free(struct call_profile *profile) {
    call_frames_free(&profile->frames);
    free(profile->procedures);
    free(profile->cells);
    intern_free(&profile->names);
    *profile = (struct call_profile){0};
}

/* ---- questions ---- */

static int by_self(const void *one, const void *other, void *procedures) {
    const struct call_procedure *all = procedures;
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return descending(all[a].self, all[b].self) ?: ascending(a, b);
}

uint32_t *call_profile_sorted(const struct call_profile *profile) {
    uint32_t *sorted = malloc((profile->procedure_count + 1) * sizeof *sorted);
    if (!sorted)
        return NULL;
    for (uint32_t i = 0; i < profile->procedure_count; i++)
        sorted[i] = i;
    qsort_r(sorted, profile->procedure_count, sizeof *sorted, by_self, profile->procedures);
    return sorted;
}

/* How well a name fits: 0: not at all. */
static unsigned fit_name(const struct call_procedure *procedure, const char *name) {
    return !strcmp(procedure->name, name)                           ? 3
           : function_is_named(procedure->name, name, strlen(name)) ? 2
           : function_ends_in(procedure->name, name, strlen(name))  ? 1
                                                                    : 0;
}

static unsigned fit(const struct call_procedure *procedure, const char *text) {
    unsigned fits = fit_name(procedure, text);
    for (struct image_name reading = {.name = NULL}; !fits && image_name_next(&reading, text);)
        if (profile_path_is(procedure->image, reading.image))
            fits = fit_name(procedure, reading.name);
    return fits;
}

uint32_t call_profile_find(const struct call_profile *profile, const char *name,
                           struct error *error) {
    uint32_t found = UINT32_MAX;
    unsigned best = 0;
    for (uint32_t i = 0; i < profile->procedure_count; i++) {
        const struct call_procedure *procedure = &profile->procedures[i];
        const unsigned fits = fit(procedure, name);
        if (fits > best ||
            (fits && fits == best && procedure->total > profile->procedures[found].total)) {
            best = fits;
            found = i;
        }
    }
    if (found == UINT32_MAX)
        error_set(error, "%s: no stack has such a procedure (--tree shows some)", name);
    return found;
}

/* Adds the chain of callers above a frame. */
static bool add_chain(const struct call_frames *frames, uint32_t frame, bool inclusive,
                      struct call_frames *callers) {
    const struct call_frame *called = &frames->items[frame];
    uint32_t at = 0;
    for (uint32_t caller = frames->items[frame].parent; caller && at != CALL_NONE_FRAME;
         caller = frames->items[caller].parent)
        at = child_of(callers, at, frames->items[caller].procedure);
    if (at == CALL_NONE_FRAME)
        return false;
    callers->items[at].self += inclusive ? called->total : called->self;
    callers->items[at].self_instructions +=
        inclusive ? called->instructions : called->self_instructions;
    return true;
}

bool call_profile_callers(const struct call_profile *profile, uint32_t procedure, bool inclusive,
                          struct call_frames *callers) {
    const struct call_frames *frames = &profile->frames;
    *callers = (struct call_frames){0};
    if (!frames_begin(callers))
        return false;
    callers->items[0].procedure = procedure;
    for (uint32_t i = 1; i < frames->count; i++) {
        const struct call_frame *frame = &frames->items[i];
        if (frame->procedure != procedure || (inclusive && has_ancestor(frames, i, procedure)))
            continue;
        const double value = inclusive ? frame->total : frame->self;
        if (value > 0 && !add_chain(frames, i, inclusive, callers))
            return false;
    }
    return frames_settle(callers);
}
