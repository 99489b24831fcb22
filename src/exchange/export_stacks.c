/* Sessions that were sampled with callers are exported by their trees of calls, the others by their
 * profiles, in which a stack is one frame. */
#include <math.h>
#include <stdlib.h>

#include "attribute/attribute.h"
#include "attribute/component.h"
#include "exchange/export.h"
#include "util/array.h"

struct walk {
    struct export *export;
    export_visitor *visit;
    void *context;
    struct called { /* an event of a session that has trees */
        int64_t session, event;
    } * called;
    size_t called_count, called_capacity;
    struct export_frame *frames; /* of one stack */
    size_t frame_capacity;
};

static bool fail(struct walk *walk) {
    walk->export->failed = true;
    return false;
}

static bool no_memory(struct walk *walk) {
    error_set(walk->export->error, "out of memory for stacks");
    return fail(walk);
}

/* ---- values ---- */

static uint64_t carry(long double *exact, uint64_t *written, long double more) {
    const long double most = (long double)INT64_MAX;
    *exact += more;
    uint64_t now = *exact < most ? (uint64_t)(*exact + 0.5L) : INT64_MAX;
    uint64_t value = now > *written ? now - *written : 0;
    *written += value;
    return value;
}

static void show_value(struct export_stack *stack, const struct store_event *event,
                       uint64_t value) {
    double weight = stack->session->weight;
    long double shown = (long double)value * (weight > 0 && isfinite(weight) ? weight : 0);
    if (stack->event->cycles)
        shown /= CYCLE_UNITS;
    stack->distance = stack->event->periodic
                          ? carry(&stack->event->distance, &stack->event->distance_written,
                                  shown * (long double)event->period)
                          : 0;
    stack->value = carry(&stack->event->value, &stack->event->value_written, shown);
}

/* ---- components ---- */

struct finding {
    const struct export *export;
    const struct export_event *event;
    uint32_t components;
};

static bool visit_signatures(void *context, const struct store_profile *profile) {
    struct finding *finding = context;
    if (export_event_of(finding->export, profile->event) == finding->event)
        for (size_t i = 0; i < profile->count; i++)
            finding->components |= UINT32_C(1) << component_of(profile->values[i].signature);
    return true;
}

bool export_components(const struct export *export, const struct export_event *event,
                       uint32_t *components) {
    struct finding finding = {export, event, 0};
    const bool good = store_each_profile(export->store, export->filter, visit_signatures, &finding,
                                         export->error);
    *components = finding.components;
    return good;
}

/* ---- walks ---- */

/* The frames of a node and its callers; 0: failed. */
static size_t find_frames(struct walk *walk, const struct store_call *calls, uint32_t node) {
    size_t count = 0;
    for (uint32_t at = node; at != STORE_CALL_TOP; at = calls[at].parent) {
        struct export_frame frame = {.offset = calls[at].offset};
        if (calls[at].image && !(frame.image = store_image_of(walk->export->store, calls[at].image,
                                                              walk->export->error)))
            return fail(walk);
        if (!array_push(walk->frames, walk->frame_capacity, count, frame))
            return no_memory(walk);
    }
    return count;
}

static bool visit_tree(void *context, const struct store_call_tree *tree) {
    struct walk *walk = context;
    struct export_stack stack = {.session = tree->session,
                                 .process = tree->process,
                                 .event = export_event_of(walk->export, tree->event),
                                 .has_callers = true};
    if (!stack.event)
        return true;
    if (!array_push(walk->called, walk->called_capacity, walk->called_count,
                    (struct called){tree->session->id, tree->event->id}))
        return no_memory(walk);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct store_call *call = &tree->calls[i];
        const bool events = store_call_is_events(call);
        show_value(&stack, tree->event, call->value);
        if (!stack.value || (events && call->parent == STORE_CALL_TOP))
            continue;
        stack.signature = events ? (uint32_t)(call->offset & (STORE_CALL_EVENTS - 1)) : 0;
        if (!(stack.count = find_frames(walk, tree->calls, events ? call->parent : i)))
            return false;
        stack.frames = walk->frames;
        if (!walk->visit(walk->context, &stack))
            return fail(walk);
    }
    return true;
}

static bool visit_profile(void *context, const struct store_profile *profile) {
    struct walk *walk = context;
    struct export_frame frame = {.image = profile->image};
    struct export_stack stack = {.session = profile->session,
                                 .process = profile->process,
                                 .event = export_event_of(walk->export, profile->event),
                                 .frames = &frame,
                                 .count = 1};
    if (!stack.event || any_where(i, walk->called_count,
                                  walk->called[i].session == profile->session->id &&
                                      walk->called[i].event == profile->event->id))
        return true;
    for (size_t i = 0; i < profile->count; i++) {
        frame.offset = profile->values[i].offset;
        stack.signature = profile->values[i].signature;
        show_value(&stack, profile->event, profile->values[i].value);
        if (stack.value && !walk->visit(walk->context, &stack))
            return fail(walk);
    }
    return true;
}

static bool walk_trees(struct walk *walk) {
    const struct export *export = walk->export;
    return store_each_call_tree(export->store, export->filter, visit_tree, walk, export->error) &&
           !export->failed;
}

/* Those of which no tree was walked. */
static bool walk_profiles(struct walk *walk) {
    const struct export *export = walk->export;
    return store_each_profile(export->store, export->filter, visit_profile, walk, export->error) &&
           !export->failed;
}

static bool end_walk(struct walk *walk, bool good) {
    free(walk->called);
    free(walk->frames);
    return good;
}

bool export_each_stack(struct export *export, export_visitor *visit, void *context) {
    struct walk walk = {.export = export, .visit = visit, .context = context};
    return end_walk(&walk, walk_trees(&walk) && walk_profiles(&walk));
}

bool export_each_place(struct export *export, export_visitor *visit, void *context) {
    struct walk walk = {.export = export, .visit = visit, .context = context};
    return end_walk(&walk, walk_profiles(&walk));
}

bool export_each_called(struct export *export, export_visitor *visit, void *context) {
    struct walk walk = {.export = export, .visit = visit, .context = context};
    return end_walk(&walk, walk_trees(&walk));
}
