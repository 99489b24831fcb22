/* From an address of the current process to the mapping around it.
 *
 * bpf_find_vma() takes the lock of the mappings and gives it back by an interrupt to itself, which
 * alone costs several times the rest of the sample, and fails while another thread maps. Where
 * the mappings have a change counter (Linux 6.4) the tree that holds them is walked without a lock:
 * it may be read under RCU, which an interrupt is, and what was read is taken when the mapping
 * found still surrounds the address afterwards. Whatever else is found, also a tree of a shape not
 * known here, leads to bpf_find_vma(). */
#pragma once

#include "kernel_types.h"

extern void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;
#define READABLE(pointer, type)                                                                    \
    ((type *)bpf_rdonly_cast((void *)(pointer), bpf_core_type_id_kernel(type)))

struct mapping {
    struct file *file; /* NULL: anonymous */
    __u64 start;
    __u64 file_offset; /* bytes, of `start` */
    __u32 found;
};

/* Changes when a mapping may have; never equal to what it was before a change that has begun. */
static __always_inline __u32 mappings_marker(struct mm_struct *space) {
    if (bpf_core_field_exists(struct mm_struct___counter, mm_lock_seq.sequence))
        return ((struct mm_struct___counter *)space)->mm_lock_seq.sequence & ~1u;
    if (bpf_core_field_exists(struct mm_struct___number, mm_lock_seq))
        return ((struct mm_struct___number *)space)->mm_lock_seq;
    return space->exec_vm;
}

static __always_inline bool mappings_counted(void) {
    return bpf_core_field_exists(struct mm_struct___counter, mm_lock_seq.sequence) ||
           bpf_core_field_exists(struct mm_struct___number, mm_lock_seq);
}

/* ---- the tree of mappings: lib/maple_tree.c; pointers to nodes have their type in low bits ----
 */

enum {
    MAPLE_NODE_MASK = 255,
    MAPLE_TYPE_SHIFT = 3,
    MAPLE_TYPE_MASK = 15,
    MAPLE_ROOT = 2,
    MAPLE_ROOT_MASK = 3,
    MAPLE_LEVELS = 8,
    PAGE_BYTES = 4096
};

/* What stands in a slot may be read as a node or a mapping; a word. */
static __always_inline __u64 word_at(const void *address) {
    __u64 word = 0;
    bpf_probe_read_kernel(&word, sizeof word, address);
    return word;
}

/* Pivots ascend; a zero after the first ends them. */
#define FIND_SLOT(node, pivots, slot)                                                              \
    do {                                                                                           \
        slot = pivots;                                                                             \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < pivots; i++) {                      \
            __u64 pivot = (node)->pivot[i];                                                        \
            if (pivot >= address || (i && !pivot)) {                                               \
                slot = i;                                                                          \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* What the node that `entry` points to has for the address. A function of its own for the verifier,
 * which then looks at it once. */
__attribute__((noinline)) __u64 maple_step(__u64 entry, __u64 address) {
    __u64 node = entry & ~(__u64)MAPLE_NODE_MASK, slots;
    __u32 slot;
    if ((entry >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK) ==
        bpf_core_enum_value(enum maple_type, maple_arange_64)) {
        struct maple_arange_64 *range = READABLE(node, struct maple_arange_64);
        FIND_SLOT(range, 9, slot);
        slots = node + bpf_core_field_offset(struct maple_arange_64, slot);
    } else {
        struct maple_range_64 *range = READABLE(node, struct maple_range_64);
        FIND_SLOT(range, 15, slot);
        slots = node + bpf_core_field_offset(struct maple_range_64, slot);
    }
    return word_at((void *)(slots + 8ull * slot));
}

static __always_inline bool mapping_has(__u64 entry, struct mm_struct *space, __u64 address) {
    struct vm_area_struct *area = READABLE(entry, struct vm_area_struct);
    return area->vm_start <= address && address < area->vm_end &&
           (__u64)area->vm_mm == (__u64)space;
}

static __always_inline void walk_mappings(struct mm_struct *space, __u64 address,
                                          struct mapping *mapping) {
    __u64 entry = word_at(&space->mm_mt.ma_root);
    /* A tree of one mapping has no node. */
    if ((entry & MAPLE_ROOT_MASK) != MAPLE_ROOT)
        return;
    for (int level = 0; level < MAPLE_LEVELS; level++) {
        if (entry < PAGE_BYTES)
            return;
        bool leaf = (entry >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK) <
                    bpf_core_enum_value(enum maple_type, maple_range_64);
        entry = maple_step(entry, address);
        if (leaf)
            break;
    }
    if (entry < PAGE_BYTES || entry & MAPLE_ROOT_MASK || !mapping_has(entry, space, address))
        return;
    struct vm_area_struct *area = READABLE(entry, struct vm_area_struct);
    mapping->file = area->vm_file;
    mapping->start = area->vm_start;
    mapping->file_offset = (__u64)area->vm_pgoff << 12;
    mapping->found = mapping_has(entry, space, address);
}

static long take_mapping(struct task_struct *task, struct vm_area_struct *area,
                         struct mapping *mapping) {
    (void)task;
    mapping->file = area->vm_file;
    mapping->start = area->vm_start;
    mapping->file_offset = (__u64)area->vm_pgoff << 12;
    mapping->found = 1;
    return 0;
}

static __always_inline bool find_mapping(struct task_struct *task, struct mm_struct *space,
                                         __u64 address, struct mapping *mapping, __u64 *searched) {
    mapping->found = 0;
    if (mappings_counted())
        walk_mappings(space, address, mapping);
    if (mapping->found)
        return true;
    bpf_find_vma(task, address, take_mapping, mapping, 0);
    *searched += mapping->found;
    return mapping->found;
}
