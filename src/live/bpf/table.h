/* What the BPF program and the collector share: maps of plain arrays, which the collector reads
 * through mmap.
 *
 * Every processor has two tables (halves), of which it fills one while the other is drained (DCPI
 * §4.2.3). A table has buckets of one cache line with four entries (DCPI §4.2.2); what an entry
 * stands for is kept apart, in a struct table_place, so that a hit touches one line alone. Entries
 * that give way go to the overflow array of the half. Map of buckets: [half][processor][bucket];
 * of places: [half][processor][bucket][way]; of overflow: [half][processor][n]; of states:
 * [processor]. */
#pragma once

#include <linux/types.h>

enum { TABLE_WAYS = 4, TABLE_HALVES = 2 };

/* The tag is a bijective mix of the address and of a hash of process and event; 0: no entry. The
 * marker tells whether the process's mappings may have changed since the address was resolved. */
struct table_bucket {
    __u64 tags[TABLE_WAYS];
    __u32 counts[TABLE_WAYS];
    __u32 markers[TABLE_WAYS];
};

struct table_place {
    __u64 start_ns;
    __u32 pid;
    __u32 exec;
    __u64 offset; /* see struct live_sample */
    __u64 inode;  /* of PLACE_FILE, else 0 */
    __u32 device; /* as the kernel has it: major << 20 | minor */
    __u32 generation;
    __u16 kind;  /* enum live_place_kind */
    __u16 event; /* index */
    __u32 reserved;
};

struct table_overflow {
    struct table_place place;
    __u64 count;
};

/* Two cache lines. Written by the processor alone, but for `half`, which the collector writes. */
struct table_state {
    __u32 half; /* which half is filled */
    __u32 overflow_counts[TABLE_HALVES];
    __u32 reserved;
    __u64 samples, hits, inserted, evicted, dropped;
    __u64 revalidated; /* hits whose place was looked up again, since mappings had changed */
    __u64 searched;    /* mappings that only bpf_find_vma() found */
    __u64 unresolved;  /* user addresses for which no mapping could be found */
    __u64 unannounced; /* processes and files for which the ring had no room; tried again */
    __u64 padding[5];
};

/* Processes and files that were announced since the last drain, by tag, direct mapped. */
enum { ANNOUNCED_SLOTS = 512 };
struct table_announced {
    __u64 processes[ANNOUNCED_SLOTS];
    __u64 files[ANNOUNCED_SLOTS];
};

/* Fixed when the program is loaded. */
struct table_configuration {
    __u32 processors;
    __u32 buckets;  /* of one table; a power of two */
    __u32 overflow; /* entries of one overflow array */
    __u32 events;
    __u64 seed;
};

/* ---- announcements, in a ring buffer ---- */

enum { ANNOUNCE_PROCESS, ANNOUNCE_FILE };

/* Paths are names from the file up to the root, each with its NUL. */
enum { PATH_NAMES_BYTES = 4096, PATH_NAME_BYTES = 256, PATH_NAMES_MAX = 128 };

struct announced_process {
    __u32 type;
    __u32 pid, exec, parent;
    __u64 start_ns;
    char command[16];
    __u32 in_exec; /* in the middle of an exec, where the name may be the next program's already */
    __u32 path_size; /* bytes of names, of its executable; 0: too long, or not to be had */
    char names[PATH_NAMES_BYTES];
};

struct announced_file {
    __u32 type;
    __u32 pid;
    __u64 inode;
    __u32 device, generation;
    __u8 build_id[20];
    __u32 build_id_size;
    __u32 path_size; /* bytes of names; 0: too long, or not to be had */
    __u32 reserved;
    char names[PATH_NAMES_BYTES];
};
