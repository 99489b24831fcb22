/* A run of the interpreter's loop has a struct on the C stack, whose address is told with the
 * Python frames that the run stands for: it lies in the part of the stack that belongs to the
 * loop's C frame. So no symbol of the loop is needed, and what runs in between keeps its place. */
#include "live/python_weave.h"

#include <string.h>

struct weaving {
    const struct python_stack *python;
    python_frame_finder *find;
    void *context;
    size_t next; /* item */
    struct live_frame woven[LIVE_FRAMES_MAX];
    size_t count;
    bool cut, lacking;
};

static void put(struct weaving *weaving, const struct live_frame *frame) {
    if (weaving->count < LIVE_FRAMES_MAX)
        weaving->woven[weaving->count++] = *frame;
    else
        weaving->cut = true;
}

static bool put_item(struct weaving *weaving, const struct python_item *item) {
    static const struct live_code UNREAD = {
        .path = "[python]", .name = "[not read in time]", .size = 1};
    struct live_frame frame;
    if (!weaving->find(weaving->context, item, &frame))
        return false;
    if (!frame.code) {
        frame = (struct live_frame){.place = PLACE_CODE, .code = &UNREAD};
        weaving->lacking = true;
    }
    put(weaving, &frame);
    return true;
}

/* Where the next run of the loop ends; `count`: it is not told. */
static size_t run_end(const struct weaving *weaving) {
    const struct python_stack *python = weaving->python;
    size_t at = weaving->next;
    while (at < python->count && python->items[at].code)
        at++;
    return at;
}

static bool put_run(struct weaving *weaving, size_t end) {
    for (; weaving->next < end; weaving->next++)
        if (!put_item(weaving, &weaving->python->items[weaving->next]))
            return false;
    weaving->next += weaving->next < weaving->python->count; /* its end */
    return true;
}

/* The runs whose structs lie below `top`. */
static bool put_runs_below(struct weaving *weaving, uint64_t top, bool *any) {
    *any = false;
    for (;;) {
        const size_t end = run_end(weaving);
        if (end == weaving->python->count || weaving->python->items[end].identity >= top)
            return true;
        *any = true;
        if (!put_run(weaving, end))
            return false;
    }
}

/* The sampled frame stays, as called by the functions that it runs, if it is the loop; of a loop
 * further out these take the place. What is cut off belongs to a loop that is not known: the C
 * frames from there on have no place. */
static bool weave(struct weaving *weaving, const struct live_stack *stack) {
    const bool cut = weaving->python->flags & PYTHON_CUT;
    bool any;
    if (!put_runs_below(weaving, stack->tops[0], &any))
        return false;
    for (size_t i = 0; i < stack->count; i++) {
        if (cut && run_end(weaving) == weaving->python->count)
            break;
        if (!put_runs_below(weaving, stack->tops[i + 1], &any))
            return false;
        if (!any)
            put(weaving, &stack->frames[i]);
    }
    /* Of a C stack that was not walked to its end, or not rightly. */
    for (size_t end; weaving->next < weaving->python->count;) {
        if ((end = run_end(weaving)) == weaving->python->count && !cut) {
            weaving->lacking = true;
            break;
        }
        if (!put_run(weaving, end))
            return false;
    }
    weaving->cut |= cut;
    return true;
}

bool python_weave(const struct python_stack *python, python_frame_finder *find, void *context,
                  struct live_stack *stack, bool *lacking) {
    struct weaving weaving = {.python = python, .find = find, .context = context};
    if (!weave(&weaving, stack))
        return false;
    if (weaving.count)
        memcpy(stack->frames, weaving.woven, weaving.count * sizeof *weaving.woven);
    stack->count = weaving.count;
    if (weaving.cut)
        stack->end = LIVE_STACK_TRUNCATED;
    *lacking = weaving.lacking;
    return true;
}
