/* One sample: count it in the table of this processor (DCPI §4.2). A hit reads and writes one cache
 * line of the table and one of the processor's state. On a miss the address is resolved to a file
 * and offset, since it may mean something else by the time the table is drained; the entry with the
 * smallest count gives way. No locks: a table is written by its processor alone, interrupts of
 * performance counters do not nest in this program (the kernel sees to that), and the collector
 * reads only tables that are not filled any more. */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "announce.bpf.h"
#include "mapping.bpf.h"
#include "table.h"

/* enum live_place_kind */
enum { PLACE_FILE, PLACE_KERNEL, PLACE_ANONYMOUS, PLACE_VDSO, PLACE_UNKNOWN };

const volatile struct table_configuration configuration;

/* Sizes are set when the program is loaded. */
#define MMAPPED_ARRAY(name, item)                                                                  \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                          \
        __uint(map_flags, BPF_F_MMAPABLE);                                                         \
        __uint(max_entries, 1);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, item);                                                                       \
    } name SEC(".maps")

MMAPPED_ARRAY(buckets, struct table_bucket);
MMAPPED_ARRAY(places, struct table_place);
MMAPPED_ARRAY(overflow, struct table_overflow);
MMAPPED_ARRAY(states, struct table_state);
MMAPPED_ARRAY(announced, struct table_announced);

static __always_inline __u64 mix(__u64 word) {
    word ^= word >> 32;
    word *= 0x9e3779b97f4a7c15ull;
    word ^= word >> 29;
    return word;
}

static __always_inline bool is_kernel_address(__u64 address) {
    return (__s64)address < 0;
}

static __always_inline __u64 process_hash(const struct table_place *place) {
    return mix(configuration.seed ^ place->start_ns ^
               mix(configuration.seed + ((__u64)place->exec << 32 | place->pid)));
}

/* Fills in kind, offset and file. False: the mapping was not found. */
static __always_inline bool resolve(struct task_struct *task, struct mm_struct *space,
                                    struct table_state *state, __u64 address,
                                    struct table_place *place, struct path *path) {
    struct mapping mapping = {};
    place->offset = address;
    if (is_kernel_address(address)) {
        place->kind = PLACE_KERNEL;
        return true;
    }
    place->kind = PLACE_UNKNOWN;
    if (!space || !find_mapping(task, space, address, &mapping, &state->searched))
        return false;
    if (mapping.file) {
        path_of(mapping.file, path);
        struct inode *inode = BPF_CORE_READ(path, dentry, d_inode);
        place->kind = PLACE_FILE;
        place->offset = address - mapping.start + mapping.file_offset;
        place->inode = BPF_CORE_READ(inode, i_ino);
        place->generation = BPF_CORE_READ(inode, i_generation);
        place->device = BPF_CORE_READ(inode, i_sb, s_dev);
    } else if (mapping.start == (__u64)space->context.vdso) {
        place->kind = PLACE_VDSO;
        place->offset = address - mapping.start;
    } else
        place->kind = PLACE_ANONYMOUS;
    return true;
}

static __always_inline bool same_place(const struct table_place *a, const struct table_place *b) {
    return a->offset == b->offset && a->inode == b->inode && a->device == b->device &&
           a->generation == b->generation && a->kind == b->kind;
}

/* Tells of the process and of the file what was not told since the last drain. */
static __always_inline void introduce(void *context, struct task_struct *task, __u32 processor,
                                      struct table_state *state, const struct table_place *place,
                                      struct path *path) {
    struct table_announced *told = bpf_map_lookup_elem(&announced, &processor);
    if (!told)
        return;
    __u64 tag = process_hash(place);
    __u64 *slot = &told->processes[tag % ANNOUNCED_SLOTS];
    if (*slot != tag) {
        if (announce_process(task, place))
            *slot = tag;
        else
            state->unannounced++;
    }
    if (place->kind != PLACE_FILE)
        return;
    tag = mix(place->inode ^
              mix(configuration.seed + ((__u64)place->generation << 32 | place->device)));
    slot = &told->files[tag % ANNOUNCED_SLOTS];
    if (*slot != tag) {
        if (announce_file(context, task, path, place))
            *slot = tag;
        else
            state->unannounced++;
    }
}

/* Moves an entry to the overflow array. False: that is full. */
static __always_inline bool evict(struct table_state *state, __u32 half, __u32 processor,
                                  const struct table_place *place, __u32 count) {
    __u32 used = state->overflow_counts[half];
    if (used >= configuration.overflow)
        return false;
    __u32 index = (half * configuration.processors + processor) * configuration.overflow + used;
    struct table_overflow *entry = bpf_map_lookup_elem(&overflow, &index);
    if (!entry)
        return false;
    entry->place = *place;
    entry->count = count;
    state->overflow_counts[half] = used + 1;
    state->evicted++;
    if (used + 1 == configuration.overflow / 2)
        wake_collector();
    return true;
}

SEC("perf_event")
int count_sample(struct bpf_perf_event_data *context) {
    __u32 processor = bpf_get_smp_processor_id();
    struct table_state *state = bpf_map_lookup_elem(&states, &processor);
    if (!state)
        return 0;
    state->samples++;
    __u32 half = state->half & 1;

    struct task_struct *task = bpf_get_current_task_btf();
    __u64 address = PT_REGS_IP(&context->regs);
    struct table_place place = {.start_ns = task->group_leader->start_boottime,
                                .pid = task->tgid,
                                .exec = task->self_exec_id};
    if (configuration.events > 1)
        place.event = bpf_get_attach_cookie(context);
    __u64 tag = mix(address * 0xc2b2ae3d27d4eb4full + process_hash(&place) + place.event);
    if (!tag)
        tag = 1;
    struct mm_struct *space = task->mm;
    __u32 marker = 0;
    if (space && !is_kernel_address(address))
        marker = mappings_marker(space);

    __u32 index = (half * configuration.processors + processor) * configuration.buckets +
                  (tag & (configuration.buckets - 1));
    struct table_bucket *bucket = bpf_map_lookup_elem(&buckets, &index);
    if (!bucket)
        goto drop;
    __u32 way = TABLE_WAYS;
#pragma clang loop unroll(full)
    for (__u32 i = 0; i < TABLE_WAYS; i++)
        if (bucket->tags[i] == tag) {
            if (bucket->markers[i] == marker) {
                bucket->counts[i]++;
                state->hits++;
                return 0;
            }
            way = i;
        }

    struct path path = {};
    if (!resolve(task, space, state, address, &place, &path))
        state->unresolved++;
    index *= TABLE_WAYS;
    bool stale = way < TABLE_WAYS;
    if (!stale) {
        __u32 least = ~0u;
        way = 0;
#pragma clang loop unroll(full)
        for (__u32 i = 0; i < TABLE_WAYS; i++) {
            __u32 count = bucket->counts[i];
            if (count < least) {
                least = count;
                way = i;
            }
        }
    }
    way &= TABLE_WAYS - 1;
    index += way;
    struct table_place *known = bpf_map_lookup_elem(&places, &index);
    if (!known)
        goto drop;
    if (stale && same_place(known, &place)) {
        bucket->markers[way] = marker;
        bucket->counts[way]++;
        state->hits++;
        state->revalidated++;
        return 0;
    }
    if (bucket->counts[way] && !evict(state, half, processor, known, bucket->counts[way]))
        goto drop;
    *known = place;
    bucket->tags[way] = tag;
    bucket->markers[way] = marker;
    bucket->counts[way] = 1;
    state->inserted++;
    introduce(context, task, processor, state, &place, &path);
    return 0;
drop:
    state->dropped++;
    return 0;
}

/* What the interrupt alone costs. */
SEC("perf_event")
int count_nothing(struct bpf_perf_event_data *context) {
    (void)context;
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
