/* Included by graph/lanes_LEVEL.c: evaluates the steps of a layout for the lanes of one group. The
 * file says which instructions may be used (TARGET), how many lanes a vector has (WIDTH), and what
 * plain GNU C has no operator for: latest(), is_any() and lowest(). */

typedef int32_t vector __attribute__((vector_size(4 * WIDTH), may_alias));
typedef uint32_t bits __attribute__((vector_size(4 * WIDTH), may_alias));
enum { VECTORS = LANES_GROUP / WIDTH };

#define INLINE      TARGET __attribute__((always_inline)) static inline
#define EACH_VECTOR _Pragma("GCC unroll 16") for (unsigned k = 0; k < VECTORS; k++)

/* The nodes of the µop at hand and, of F, D and C, at first those of the one before. */
struct nodes {
    vector fetch[VECTORS], dispatch[VECTORS], execute[VECTORS], complete[VECTORS], commit[VECTORS];
};

/* Of row `place` the vector k. */
#define ROW(place) (((vector *)(rows + (place)))[k])

INLINE vector where(vector mask, vector then, vector otherwise) {
    return (then & mask) | (otherwise & ~mask);
}

INLINE vector latest(vector a, vector b);

/* Takes slots in the cycles that nodes->execute has, or in later ones, which it has then
 * (graph/lanes_slots.h). */
INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes);

INLINE void step_fetch(const struct lanes_step *step, const struct lanes_extra *extra,
                       const char *rows, const struct graph_machine *machine, bool bandwidth,
                       struct nodes *nodes) {
    (void)machine;
    if (step->flags & STEP_FETCH) {
        EACH_VECTOR {
            vector cycle = nodes->fetch[k] + ROW(extra->late);
            if (step->flags & STEP_AFTER_COMMIT)
                cycle = latest(cycle, nodes->commit[k] + (int32_t)extra->after_commit);
            if (step->flags & STEP_MISPREDICTED) {
                vector recovered = ROW(extra->previous) + ROW(extra->redirect);
                cycle = where(ROW(extra->redirect_keep), latest(cycle, recovered), cycle);
            }
            /* Before what the cache and the TLB add. */
            cycle = latest(cycle, ROW(extra->packet));
            if (bandwidth) {
                vector from = nodes->fetch[k];
                if (step->fetch_weight)
                    from = ROW(step->fetch_from) + step->fetch_weight;
                cycle = latest(latest(cycle, from), ROW(step->room_from));
            }
            nodes->fetch[k] = cycle + ROW(extra->cache) + ROW(extra->tlb);
        }
    } else if (bandwidth) {
        if (step->fetch_weight)
            EACH_VECTOR nodes->fetch[k] =
                latest(nodes->fetch[k], ROW(step->fetch_from) + step->fetch_weight);
        EACH_VECTOR nodes->fetch[k] = latest(nodes->fetch[k], ROW(step->room_from));
    }
    if (bandwidth)
        EACH_VECTOR ROW(step->at_fetch) = nodes->fetch[k];
}

/* The cycles of a row, for which MSHRs are taken. */
INLINE void take_mshrs(struct lanes_group *group, const struct lanes_extra *extra,
                       const struct nodes *nodes, uint32_t row) {
    int32_t dispatched[LANES_GROUP] __attribute__((aligned(64)));
    EACH_VECTOR((vector *)dispatched)[k] = nodes->dispatch[k];
    lanes_take_mshrs(group, dispatched, (int32_t *)(group->rows + row),
                     (const int32_t *)(group->rows + extra->fill), extra->mshrs);
}

/* The write of the store whose entry the µop takes. */
INLINE void step_write(struct lanes_group *group, const struct lanes_step *step,
                       const struct lanes_extra *extra, const char *rows, bool bandwidth,
                       const struct nodes *nodes) {
    if (__builtin_expect(step->flags & STEP_WRITE_MISS, 0)) {
        EACH_VECTOR {
            vector cycle = latest(ROW(extra->committed), ROW(extra->written_before));
            if (bandwidth)
                cycle = latest(cycle, ROW(extra->drain_from) + 1);
            ROW(extra->at_written) = cycle;
        }
        take_mshrs(group, extra, nodes, extra->at_written);
        EACH_VECTOR ROW(extra->at_left) =
            latest(ROW(extra->at_written) + ROW(extra->write_weight), ROW(extra->left_before));
        return;
    }
    EACH_VECTOR {
        vector cycle = latest(ROW(extra->committed), ROW(extra->written_before));
        if (bandwidth)
            cycle = latest(cycle, ROW(extra->drain_from) + 1);
        ROW(extra->at_written) = cycle;
        ROW(extra->at_left) = latest(cycle + ROW(extra->write_weight), ROW(extra->left_before));
    }
}

INLINE void step_dispatch(const struct lanes_step *step, const struct lanes_extra *extra,
                          const char *rows, const struct graph_machine *machine, bool bandwidth,
                          bool ideal, struct nodes *nodes) {
    int32_t depth = (int32_t)machine->frontend_depth;
    EACH_VECTOR {
        vector cycle = latest(nodes->fetch[k] + depth, nodes->dispatch[k]);
        if (bandwidth)
            cycle = latest(cycle, ROW(step->dispatch_from) + 1);
        nodes->dispatch[k] = latest(cycle, ROW(step->commit_from));
    }
    if (!ideal && step->flags & STEP_DISPATCH)
        EACH_VECTOR {
            nodes->dispatch[k] = latest(nodes->dispatch[k], ROW(extra->queue_entry));
        }
    if (step->flags & STEP_ENTRY)
        EACH_VECTOR nodes->dispatch[k] = latest(nodes->dispatch[k], ROW(extra->entry_free));
    if (bandwidth)
        EACH_VECTOR ROW(step->at_dispatch) = nodes->dispatch[k];
}

INLINE void step_execute(struct lanes_group *group, const struct lanes_step *step,
                         const struct lanes_extra *extra, const char *rows,
                         const struct graph_machine *machine, bool bandwidth, struct nodes *nodes) {
    int32_t pipeline = (int32_t)machine->dispatch_to_issue;
    int32_t load_latency = (int32_t)machine->load_latency;
    EACH_VECTOR nodes->execute[k] = latest(
        latest(nodes->dispatch[k] + pipeline, ROW(step->producer[0])), ROW(step->producer[1]));
    if (step->flags & STEP_READY) {
        for (uint32_t i = 0; i < extra->producers; i++)
            EACH_VECTOR nodes->execute[k] =
                latest(nodes->execute[k], ROW(extra->producer[i]) + ROW(extra->wakeup[i]));
        EACH_VECTOR {
            vector cycle = latest(nodes->execute[k], ROW(extra->head) + ROW(extra->head_weight));
            cycle = latest(cycle, ROW(extra->store_complete) - load_latency);
            cycle = latest(cycle, ROW(extra->store_execute));
            nodes->execute[k] = latest(cycle, ROW(extra->data_execute));
        }
    }
    if (bandwidth) {
        if (step->unit_wait)
            EACH_VECTOR nodes->execute[k] += step->unit_wait;
        uint32_t pool = step->flags >> STEP_POOL;
        if (pool)
            take_slots(group, &group->slots->pools[pool - 1], nodes);
    }
    if (step->flags & STEP_MSHR)
        EACH_VECTOR nodes->execute[k] += ROW(extra->mshr);
    EACH_VECTOR ROW(step->at_execute) = nodes->execute[k];
    if (__builtin_expect(step->flags & STEP_MISS, 0)) {
        take_mshrs(group, extra, nodes, step->at_execute);
        EACH_VECTOR nodes->execute[k] = ROW(step->at_execute);
    }
}

INLINE void step_complete(const struct lanes_step *step, const struct lanes_extra *extra,
                          const char *rows, struct nodes *nodes) {
    EACH_VECTOR nodes->complete[k] = nodes->execute[k] + ROW(step->execution);
    if (step->flags & STEP_STORE)
        EACH_VECTOR nodes->complete[k] =
            latest(nodes->complete[k], ROW(extra->data) + ROW(extra->data_wakeup));
    if (step->flags & STEP_BEYOND)
        EACH_VECTOR {
            vector alone = nodes->complete[k] + ROW(extra->miss);
            vector brought = ROW(extra->bringer) + ROW(extra->bringer_weight);
            nodes->complete[k] = where(ROW(extra->bringer_keep), latest(alone, brought), alone);
        }
    if (step->flags & STEP_FORWARD)
        EACH_VECTOR {
            vector start = latest(nodes->execute[k] + ROW(extra->address), ROW(extra->stored));
            vector forwarded = ROW(extra->write_keep);
            if (step->flags & STEP_COVERED)
                forwarded |= ROW(extra->store_commit) >= nodes->execute[k];
            nodes->complete[k] = where(forwarded, start + ROW(extra->forward), nodes->complete[k]);
        }
    if (step->flags & STEP_MISSED)
        EACH_VECTOR ROW(extra->at_miss) = nodes->complete[k];
}

/* The rows that a step finds in no cache: those that were last used a window ago. */
INLINE void prefetch(const struct lanes_step *step, const char *rows) {
    EACH_VECTOR {
        __builtin_prefetch(&ROW(step->commit_from));
        __builtin_prefetch(&ROW(step->at_execute), 1);
        __builtin_prefetch(&ROW(step->at_complete), 1);
    }
}

INLINE void run(struct lanes_group *group, uint32_t count, bool bandwidth, bool ideal) {
    const struct graph_machine *machine = group->machine;
    const struct lanes_layout *layout = group->layout;
    int32_t pipeline = (int32_t)machine->complete_to_commit;
    const char *rows = group->rows;
    struct nodes nodes;
    EACH_VECTOR {
        nodes.fetch[k] = ((vector *)group->fetch)[k];
        nodes.dispatch[k] = ((vector *)group->dispatch)[k];
        nodes.commit[k] = ((vector *)group->commit)[k];
    }
    for (const struct lanes_step *step = layout->steps, *end = step + count; step < end; step++) {
        const struct lanes_extra *extra = &layout->extras[step->extra];
        if (ideal && layout->large)
            prefetch(step + LANES_AHEAD, rows);
        step_fetch(step, extra, rows, machine, bandwidth, &nodes);
        if (step->flags & STEP_WRITE)
            step_write(group, step, extra, rows, bandwidth, &nodes);
        if (step->flags & STEP_GROUP_LEFT)
            EACH_VECTOR ROW(extra->at_group_left) = ROW(extra->at_left);
        step_dispatch(step, extra, rows, machine, bandwidth, ideal, &nodes);
        if (step->flags & STEP_ELIMINATED) {
            EACH_VECTOR ROW(step->at_execute) = nodes.complete[k] = nodes.dispatch[k];
        } else {
            step_execute(group, step, extra, rows, machine, bandwidth, &nodes);
            step_complete(step, extra, rows, &nodes);
        }
        EACH_VECTOR ROW(step->at_complete) = nodes.complete[k];
        EACH_VECTOR {
            vector cycle = latest(nodes.complete[k] + pipeline, nodes.commit[k]);
            if (bandwidth)
                cycle = latest(cycle, ROW(step->width_from) + 1);
            nodes.commit[k] = ROW(step->at_commit) = cycle;
        }
        if (step->flags & STEP_STORE)
            EACH_VECTOR ROW(extra->at_store) = nodes.commit[k];
    }
    EACH_VECTOR {
        ((vector *)group->fetch)[k] = nodes.fetch[k];
        ((vector *)group->dispatch)[k] = nodes.dispatch[k];
        ((vector *)group->commit)[k] = nodes.commit[k];
    }
}

#define LANES_KERNEL(name)                                                                         \
    TARGET void name(struct lanes_group *group, uint32_t count) {                                  \
        if (group->bandwidth && group->layout->ideal)                                              \
            run(group, count, true, true);                                                         \
        else if (group->bandwidth)                                                                 \
            run(group, count, true, false);                                                        \
        else if (group->layout->ideal)                                                             \
            run(group, count, false, true);                                                        \
        else                                                                                       \
            run(group, count, false, false);                                                       \
    }
