/* Included by graph/lanes/LEVEL.c: evaluates the steps of a layout for the lanes of one group. The
 * file says which instructions may be used (TARGET), the types of a cycle (CYCLE) and of its bits
 * (BITS), how many of them a vector has (WIDTH), and what plain GNU C has no operator for: latest()
 * and is_any(). */

typedef CYCLE vector __attribute__((vector_size(sizeof(CYCLE) * WIDTH), may_alias));
typedef BITS bits __attribute__((vector_size(sizeof(CYCLE) * WIDTH), may_alias));
typedef int32_t exact __attribute__((vector_size(4 * WIDTH), may_alias));
enum { VECTORS = LANES_GROUP / WIDTH, BOUND = LANES_BOUND / WIDTH, NARROW = sizeof(CYCLE) == 2 };

#define INLINE      TARGET __attribute__((always_inline)) static inline
#define EACH_VECTOR _Pragma("GCC unroll 16") for (unsigned k = 0; k < VECTORS; k++)
/* Each vector of the lanes that are bound by bandwidth. */
#define EACH_BOUND _Pragma("GCC unroll 16") for (unsigned k = 0; k < BOUND; k++)

/* The nodes of the µop at hand. F, D and C hold at first those of the µop before. */
struct nodes {
    vector fetch[VECTORS], dispatch[VECTORS], execute[VECTORS], complete[VECTORS], commit[VECTORS];
};

/* Vector k of a row. */
#define ROW(row) (((vector *)(rows + (row)))[k])

INLINE vector where(vector mask, vector then, vector otherwise) {
    return (then & mask) | (otherwise & ~mask);
}

INLINE vector latest(vector a, vector b);
INLINE bool is_any(vector mask);

/* Takes a slot for each lane, in the cycle nodes->execute or the first later one that has a slot,
 * which becomes nodes->execute (graph/lanes/slots.h). */
INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes);

/* ---- nodes ---- */

/* Not a function: none may have parameters as long as two vectors. */
#define EXACT_LATEST(a, b) (((b) & ((b) > (a))) | ((a) & ((b) <= (a))))
#define EXACT(x)           __builtin_convertvector(x, exact)

/* F without bandwidth lags behind dispatch without bound: narrow lanes keep it in 32 bits too. */
INLINE vector fetch_exactly(struct lanes_group *group, const struct lanes_step *step,
                            const struct lanes_extra *extra, const CYCLE *rows, unsigned k,
                            const struct nodes *nodes) {
    exact cycle = ((exact *)group->exact_fetch)[k] + EXACT(ROW(extra->late));
    if (step->flags & STEP_AFTER_COMMIT)
        cycle = EXACT_LATEST(cycle, EXACT(nodes->commit[k]) + (int32_t)extra->after_commit);
    if (step->flags & STEP_MISPREDICTED) {
        exact recovered = EXACT(ROW(extra->previous)) + EXACT(ROW(extra->redirect));
        exact keep = EXACT(ROW(extra->redirect_keep));
        cycle = (EXACT_LATEST(cycle, recovered) & keep) | (cycle & ~keep);
    }
    exact packet = EXACT(ROW(extra->packet)), never = (exact){0} + LANES_NARROW_NEVER;
    exact later = (packet > cycle) & (packet > LANES_NARROW_NEVER);
    cycle = (packet & later) | (cycle & ~later);
    cycle += EXACT(ROW(extra->cache)) + EXACT(ROW(extra->tlb));
    ((exact *)group->exact_fetch)[k] = cycle;
    return __builtin_convertvector(EXACT_LATEST(cycle, never), vector);
}

INLINE vector fetch_after(const struct lanes_step *step, const struct lanes_extra *extra,
                          const CYCLE *rows, bool bandwidth, unsigned k,
                          const struct nodes *nodes) {
    vector cycle = nodes->fetch[k] + ROW(extra->late);
    if (step->flags & STEP_AFTER_COMMIT)
        cycle = latest(cycle, nodes->commit[k] + (CYCLE)extra->after_commit);
    if (step->flags & STEP_MISPREDICTED) {
        vector recovered = ROW(extra->previous) + ROW(extra->redirect);
        cycle = where(ROW(extra->redirect_keep), latest(cycle, recovered), cycle);
    }
    /* Before what the cache and the TLB add. */
    cycle = latest(cycle, ROW(extra->packet));
    if (bandwidth) {
        vector from = nodes->fetch[k];
        if (step->fetch_weight)
            from = ROW(step->fetch_from) + (CYCLE)step->fetch_weight;
        cycle = latest(latest(cycle, from), ROW(step->at.room_from));
    }
    return cycle + ROW(extra->cache) + ROW(extra->tlb);
}

INLINE void step_fetch(struct lanes_group *group, const struct lanes_step *step,
                       const struct lanes_extra *extra, const CYCLE *rows, struct nodes *nodes) {
    if (step->flags & STEP_FETCH) {
        EACH_VECTOR nodes->fetch[k] = NARROW && k >= BOUND
                                          ? fetch_exactly(group, step, extra, rows, k, nodes)
                                          : fetch_after(step, extra, rows, k < BOUND, k, nodes);
    } else {
        if (step->fetch_weight)
            EACH_BOUND nodes->fetch[k] =
                latest(nodes->fetch[k], ROW(step->fetch_from) + (CYCLE)step->fetch_weight);
        EACH_BOUND nodes->fetch[k] = latest(nodes->fetch[k], ROW(step->at.room_from));
    }
    EACH_BOUND ROW(step->at.fetch) = nodes->fetch[k];
}

/* Takes MSHRs at the cycles of a row, which moves to when they are free. */
TARGET __attribute__((noinline)) static void take_mshrs(struct lanes_group *group,
                                                        const struct lanes_extra *extra,
                                                        const vector *dispatch, CYCLE *cycle) {
    const CYCLE *dispatched = (const CYCLE *)dispatch;
    const CYCLE *fill = (const CYCLE *)group->rows + extra->fill;
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++)
        if (fill[lane]) {
            int64_t offset = group->offset[lane];
            cycle[lane] =
                (CYCLE)(mshrs_take(&group->mshrs[lane], dispatched[lane] + offset,
                                   cycle[lane] + offset, (uint32_t)fill[lane], extra->mshrs) -
                        offset);
        }
}

/* The write of the store whose entry the µop takes. */
INLINE void step_write(struct lanes_group *group, const struct lanes_step *step,
                       const struct lanes_extra *extra, const CYCLE *rows,
                       const struct nodes *nodes) {
    if (__builtin_expect(step->flags & STEP_WRITE_MISS, 0)) {
        EACH_VECTOR {
            vector cycle = latest(ROW(extra->committed), ROW(extra->written_before));
            if (k < BOUND)
                cycle = latest(cycle, ROW(extra->drain_from) + 1);
            ROW(extra->at_written) = cycle;
        }
        vector dispatch[VECTORS]; /* a copy, so that nodes stay in registers */
        EACH_VECTOR dispatch[k] = nodes->dispatch[k];
        take_mshrs(group, extra, dispatch, (CYCLE *)group->rows + extra->at_written);
        EACH_VECTOR ROW(extra->at_left) =
            latest(ROW(extra->at_written) + ROW(extra->write_weight), ROW(extra->left_before));
        return;
    }
    EACH_VECTOR {
        vector cycle = latest(ROW(extra->committed), ROW(extra->written_before));
        if (k < BOUND)
            cycle = latest(cycle, ROW(extra->drain_from) + 1);
        ROW(extra->at_written) = cycle;
        ROW(extra->at_left) = latest(cycle + ROW(extra->write_weight), ROW(extra->left_before));
    }
}

INLINE void step_dispatch(const struct lanes_step *step, const struct lanes_extra *extra,
                          const CYCLE *rows, const struct graph_machine *machine, bool ideal,
                          struct nodes *nodes) {
    CYCLE depth = (CYCLE)machine->frontend_depth;
    if (__builtin_expect(step->flags & STEP_MICROCODE, 0))
        EACH_BOUND nodes->dispatch[k] += (CYCLE)machine->string_start;
    EACH_VECTOR {
        vector cycle = latest(nodes->fetch[k] + depth, nodes->dispatch[k]);
        if (k < BOUND)
            cycle = latest(cycle, ROW(step->at.dispatch_from) + 1);
        nodes->dispatch[k] = latest(cycle, ROW(step->commit_from));
    }
    if (!ideal && step->flags & STEP_DISPATCH)
        EACH_VECTOR {
            nodes->dispatch[k] = latest(nodes->dispatch[k], ROW(extra->queue_entry));
        }
    if (step->flags & STEP_ENTRY)
        EACH_VECTOR nodes->dispatch[k] = latest(nodes->dispatch[k], ROW(extra->entry_free));
    EACH_BOUND ROW(step->at.dispatch) = nodes->dispatch[k];
}

INLINE void step_execute(struct lanes_group *group, const struct lanes_step *step,
                         const struct lanes_extra *extra, const CYCLE *rows,
                         const struct graph_machine *machine, struct nodes *nodes) {
    CYCLE pipeline = (CYCLE)machine->dispatch_to_issue;
    CYCLE load_latency = (CYCLE)machine->load_latency;
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
    if (step->flags & STEP_PART)
        EACH_VECTOR {
            vector written = ROW(extra->store_commit) + ROW(extra->part_weight);
            vector forwards = latest(ROW(extra->part_store), ROW(extra->part_data));
            nodes->execute[k] =
                latest(nodes->execute[k], where(ROW(extra->part_keep), written, forwards));
        }
    if (step->unit_wait)
        EACH_BOUND nodes->execute[k] += (CYCLE)step->unit_wait;
    uint32_t pool = step->flags >> STEP_POOL;
    if (pool)
        take_slots(group, &group->slots->pools[pool - 1], nodes);
    if (step->flags & STEP_MSHR)
        EACH_VECTOR nodes->execute[k] += ROW(extra->mshr);
    EACH_VECTOR ROW(step->at.execute) = nodes->execute[k];
    if (__builtin_expect(step->flags & STEP_MISS, 0)) {
        vector dispatch[VECTORS];
        EACH_VECTOR dispatch[k] = nodes->dispatch[k];
        take_mshrs(group, extra, dispatch, (CYCLE *)group->rows + step->at.execute);
        EACH_VECTOR nodes->execute[k] = ROW(step->at.execute);
    }
}

INLINE void step_complete(const struct lanes_step *step, const struct lanes_extra *extra,
                          const CYCLE *rows, struct nodes *nodes) {
    EACH_VECTOR nodes->complete[k] = nodes->execute[k] + ROW(step->execution);
    if (step->flags & STEP_STORE)
        EACH_VECTOR nodes->complete[k] =
            latest(nodes->complete[k], ROW(extra->data) + ROW(extra->data_wakeup));
    if (step->flags & STEP_BEYOND)
        EACH_VECTOR {
            vector alone = nodes->complete[k] + ROW(extra->walk) + ROW(extra->miss);
            vector brought = ROW(extra->fetched_by) + ROW(extra->fetched_by_weight);
            nodes->complete[k] = where(ROW(extra->fetched_by_keep), latest(alone, brought), alone);
        }
    if (step->flags & STEP_FORWARD)
        EACH_VECTOR {
            vector start = latest(nodes->execute[k] + ROW(extra->address), ROW(extra->stored));
            vector forwarded = ROW(extra->write_keep);
            if (step->flags & STEP_COVERED)
                forwarded |= ROW(extra->store_commit) >= nodes->execute[k];
            if (step->flags & STEP_PART)
                forwarded |=
                    ~ROW(extra->part_keep) &
                    (ROW(extra->store_commit) + ROW(extra->part_weight) > nodes->execute[k]);
            nodes->complete[k] = where(forwarded, start + ROW(extra->forward), nodes->complete[k]);
        }
    if (step->flags & STEP_MISSED)
        EACH_VECTOR ROW(extra->at_miss) = nodes->complete[k];
}

/* Prefetches the rows of a step that are in no cache: those last used a window ago. */
INLINE void prefetch(const struct lanes_step *step, const CYCLE *rows) {
    EACH_VECTOR {
        __builtin_prefetch(&ROW(step->at.commit), 1);
        __builtin_prefetch(&ROW(step->at.complete), 1);
    }
}

/* Whether narrow lanes can hold the nodes of this step: at most LANES_NARROW_STEP cycles more than
 * any node before. */
TARGET __attribute__((noinline)) static bool fits_rarely(const struct lanes_group *group,
                                                         const struct lanes_step *step,
                                                         const struct lanes_extra *extra) {
    const CYCLE *rows = (const CYCLE *)group->rows;
    if (step->flags & STEP_LARGE)
        return false;
    if (step->flags & STEP_WRITE)
        EACH_VECTOR {
            if (is_any(ROW(extra->left_before) > (CYCLE)LANES_NARROW_LAST))
                return false;
        }
    if (step->flags & (STEP_WRITE_MISS | STEP_MISS))
        for (uint32_t lane = 0; lane < LANES_GROUP; lane++)
            if (group->mshrs[lane].last * MSHR_CYCLES - group->offset[lane] > LANES_NARROW_LAST)
                return false;
    return true;
}

INLINE bool fits(const struct lanes_group *group, const struct lanes_step *step,
                 const struct lanes_extra *extra, const struct nodes *nodes) {
    vector last = nodes->commit[0];
    EACH_VECTOR last = latest(last, nodes->commit[k]);
    if (__builtin_expect(is_any(last > (CYCLE)LANES_NARROW_LAST), 0))
        return false;
    return !(step->flags & (STEP_LARGE | STEP_WRITE | STEP_MISS)) ||
           fits_rarely(group, step, extra);
}

INLINE uint32_t run(struct lanes_group *group, uint32_t from, uint32_t count, bool ideal) {
    const struct graph_machine *machine = group->machine;
    const struct lanes_layout *layout = group->layout;
    CYCLE pipeline = (CYCLE)machine->complete_to_commit;
    const CYCLE *rows = (const CYCLE *)group->rows;
    struct nodes nodes;
    EACH_VECTOR {
        nodes.fetch[k] = ((vector *)group->fetch)[k];
        nodes.dispatch[k] = ((vector *)group->dispatch)[k];
        nodes.commit[k] = ((vector *)group->commit)[k];
    }
    const struct lanes_step *step = layout->steps + from, *end = layout->steps + count;
    for (; step < end; step++) {
        const struct lanes_extra *extra = &layout->extras[step->extra];
        if (NARROW && !fits(group, step, extra, &nodes))
            break;
        if (ideal && layout->large)
            prefetch(step + LANES_AHEAD, rows);
        step_fetch(group, step, extra, rows, &nodes);
        if (step->flags & STEP_WRITE)
            step_write(group, step, extra, rows, &nodes);
        if (step->flags & STEP_GROUP_LEFT)
            EACH_VECTOR ROW(extra->at_group_left) = ROW(extra->at_left);
        step_dispatch(step, extra, rows, machine, ideal, &nodes);
        if (step->flags & STEP_ELIMINATED) {
            EACH_VECTOR ROW(step->at.execute) = nodes.complete[k] = nodes.dispatch[k];
        } else {
            step_execute(group, step, extra, rows, machine, &nodes);
            step_complete(step, extra, rows, &nodes);
        }
        EACH_VECTOR ROW(step->at.complete) = nodes.complete[k];
        EACH_VECTOR {
            vector cycle = latest(nodes.complete[k] + pipeline, nodes.commit[k]);
            if (k < BOUND)
                cycle = latest(cycle, ROW(step->at.width_from) + 1);
            nodes.commit[k] = ROW(step->at.commit) = cycle;
        }
        if (step->flags & STEP_STORE)
            EACH_VECTOR ROW(extra->at_store) = nodes.commit[k];
    }
    EACH_VECTOR {
        ((vector *)group->fetch)[k] = nodes.fetch[k];
        ((vector *)group->dispatch)[k] = nodes.dispatch[k];
        ((vector *)group->commit)[k] = nodes.commit[k];
    }
    return (uint32_t)(step - layout->steps);
}

#define LANES_KERNEL(name)                                                                         \
    TARGET uint32_t name(struct lanes_group *group, uint32_t from, uint32_t count) {               \
        return group->layout->ideal ? run(group, from, count, true)                                \
                                    : run(group, from, count, false);                              \
    }
