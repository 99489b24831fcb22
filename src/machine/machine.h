/* Machine descriptions: an INI file -> struct machine, a plain value that every timing room reads.
 *
 * Sections and keys of the file are the names of the members below: [core] rob = 192,
 * [queue.mem] entries = 48, [class.fp_div] pool = fpu latency = 13, [l1d] size = 32K ... They are
 * declared once, in machine.def, from which parsing, checking, defaults and printing follow.
 * `base = NAME` (before every other key) inherits every key of another machine; a derived machine
 * removes a queue with entries = 0, a pool with units = 0.
 * Latencies are in core cycles, sizes in bytes unless the name says otherwise.
 *
 * `forms = FILE` names a table of instruction forms (docs/forms-format.md): what it lists has the
 * latency, throughput and ports it says in place of those of its class. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "isa/form.h"
#include "isa/insn.h"
#include "util/error.h"

enum {
    MACHINE_MAX_QUEUES = 4,
    MACHINE_MAX_POOLS = 12,
    MACHINE_MAX_POOL_UNITS = 16,
    MACHINE_MOST_LINES_AHEAD = 16, /* a power of two */
    MACHINE_MAX_SCHEDULERS = 16,   /* of a unit each (struct machine_queue) */
    MACHINE_MAX_UNITS = 63         /* of all pools */
};

/* Ports: some of the units of pools that one queue feeds. A pool's first unit is bit 0. */
struct machine_ports {
    uint16_t units[MACHINE_MAX_POOLS]; /* by pool; all 0: none */
};

/* [queue.NAME]: an issue queue (scheduler). */
struct machine_queue {
    char name[16];
    uint32_t entries;      /* µops waiting to issue */
    uint32_t issue;        /* issued per cycle, oldest ready first */
    uint32_t unit_entries; /* µops waiting for each unit, which they are given at dispatch; 0: when
                              they issue */
};

/* [pool.NAME]: functional units of one kind, fed by one queue. */
struct machine_pool {
    char name[16];
    uint32_t queue;  /* index; written by name in the file */
    uint32_t units;  /* started per cycle when pipelined */
    char shares[64]; /* "alu0+alu3": it has no units of its own but these of other pools; "" */
    struct machine_ports shared; /* the same */
    char beside[64]; /* "alu0+alu3": its units, in order, wait in the schedulers of these (queue's
                        unit_entries); "": each has its own */
    struct machine_ports neighbours; /* the same */
    char joint[64]; /* "alu3": a µop that only units of `beside` can execute takes, in these of
                       them, this pool's there, too; "": in none */
    struct machine_ports together; /* the same */
};

/* [class.OPERATION]: where µops of an operation class execute. */
struct machine_class {
    uint32_t pool;     /* index; by name in the file. OP_NOP has none */
    uint32_t latency;  /* issue to result, cycles; of loads: address generation, before the cache */
    uint32_t interval; /* cycles a unit is busy: 1 pipelined, = latency not pipelined */
};

/* A line of the table of forms. What it does not say is as the form's class says. */
enum {
    MACHINE_MAX_FORMS = 2048,
    MACHINE_MAX_FORM_PORTS = 48,
    FORM_MOST_UOPS = 64,
    FORM_UNKNOWN = UINT16_MAX
};
struct machine_form {
    insn_form form;
    float throughput;         /* cycles per instruction, of independent ones; < 0: not said */
    uint16_t latency;         /* cycles from data to the result; FORM_UNKNOWN: not said */
    uint16_t address_latency; /* from the address to the result, a hit in the L1; FORM_UNKNOWN */
    uint16_t flag_latency;    /* from data to the flags; FORM_UNKNOWN: as to the result */
    uint8_t ports;            /* number in form_ports + 1; 0: not said */
    uint8_t uops;             /* places that it takes at dispatch; 0: not said */
};

enum prefetcher_kind {
    PREFETCH_NONE,
#define PREFETCHER(value, word, in_page, by_instruction) PREFETCH_##value,
#include "machine/prefetchers.def"
#undef PREFETCHER
    PREFETCHER_KINDS
};

/* A row of prefetchers.def. */
struct prefetcher_row {
    const char *word; /* "none", "next_line" ... */
    bool in_page, by_instruction;
};
extern const struct prefetcher_row machine_prefetchers[PREFETCHER_KINDS]; /* by kind */

enum { MACHINE_HOST_PAGE = 4096 };

enum replacement_kind { REPLACE_LRU, REPLACE_PLRU, REPLACE_RANDOM };

/* [l1i] [l1d] [l2] [llc] */
struct machine_cache {
    bool present; /* size is not 0. l2 and llc may be absent; without l1i every fetch hits */
    uint64_t size;
    uint32_t ways, line;
    uint32_t latency; /* load-to-use of l1d beyond address generation; of outer levels the total
                         from the access of the L1 to data at the core, when it hits there */
    uint32_t mshrs;   /* lines in flight; 0: unlimited */
    enum replacement_kind replacement;
    enum prefetcher_kind prefetcher, second_prefetcher, third_prefetcher;
    uint32_t prefetch_degree, second_degree; /* lines ahead per trigger, ≥ 1; of the third 1 */
    uint32_t prefetch_start, second_start;   /* steps before the first; 0: the prefetcher's own */
    double bandwidth;       /* l2, llc: bytes per cycle to the level before; 0: unlimited */
    double write_bandwidth; /* of lines written back to it, on the same bus; 0: they are not */
    /* llc, which others use too: cycles that a line stays after its last use, and after it came
       from memory; 0: they do not. Per cent of the lines that come which are kept at all, and of
       those that come again. shared_ways: the program's own lines push a line out beside those of
       the others. */
    uint64_t retention, first_retention;
    uint32_t retention_shape, first_shape;
    uint32_t admission, readmission;
    bool shared_ways;
    bool cleared_pages;     /* l1d: has the lines of a page that is stored to for the first time */
    bool frames;            /* sets go by page frames (memory/frame.h), not by virtual addresses */
    bool free_pending_hits; /* a hit on a line on its way counts as any other hit (Chen 2009
                               Fig. 2.4) */
};

static inline bool machine_prefetches(const struct machine_cache *cache) {
    return cache->prefetcher != PREFETCH_NONE || cache->second_prefetcher != PREFETCH_NONE ||
           cache->third_prefetcher != PREFETCH_NONE;
}
static inline void machine_without_prefetchers(struct machine_cache *cache) {
    cache->prefetcher = cache->second_prefetcher = cache->third_prefetcher = PREFETCH_NONE;
}

/* [itlb] [dtlb] [l2tlb] */
struct machine_tlb {
    uint32_t entries; /* 0: perfect; of l2tlb, with latency 0: there is none */
    uint32_t ways;    /* 0: fully associative */
    uint32_t latency; /* extra cycles when a first-level miss hits here (l2tlb) */
};

struct machine_dram {
    bool banked;      /* false: fixed latency */
    uint32_t latency; /* fixed: total cycles from the miss in the last level to data at the core */
    uint32_t base_latency;   /* banked: cycles outside the DRAM itself (interconnect, controller) */
    uint32_t ranks, banks;   /* per rank */
    uint32_t row;            /* bytes per open row */
    uint32_t tcl, trcd, trp; /* in DRAM clock cycles */
    double clock_ghz;        /* of the DRAM command clock */
    double bandwidth;        /* GB/s of the data bus; 0: unlimited */
    uint32_t queue;          /* requests in flight in the controller; 0: unlimited */
};

enum direction_kind {
    DIRECTION_PERFECT,
#define PREDICTOR(value, word) DIRECTION_##value,
#include "machine/predictors.def"
#undef PREDICTOR
};

struct machine_branch {
    enum direction_kind direction;
    uint32_t bimodal_entries, gshare_entries, meta_entries; /* two-bit counters */
    uint32_t history;                                       /* gshare: global history bits */
    uint32_t tage_tables;                                   /* tagged tables */
    uint32_t tage_entries;                                  /* per tagged table */
    uint32_t tage_tag_bits;
    uint32_t tage_min_history, tage_max_history;
    uint32_t override_bubble;       /* where a tournament of the other tables is wrong and tage is
                                       right; 0: there is none */
    uint32_t btb_entries, btb_ways; /* 0 entries: perfect */
    uint32_t btb_far_ways;          /* for branches to other pages; 0: all */
    bool btb_returns;               /* returns have entries, too */
    bool btb_hash;                  /* sets by a hash of the address */
    uint32_t near_btb_entries;      /* of a smaller one before it; 0: none */
    bool near_btb_far;              /* jumps and conditional branches to their own page need none */
    uint32_t near_btb_bubble;       /* behind a taken branch that only the larger one has */
    uint32_t indirect_entries;      /* history-indexed indirect target table; 0: BTB only */
    uint32_t indirect_history; /* conditional branches that it is indexed by, at most; 0: by the
                                  last eight indirect targets */
    uint32_t indirect_blocks;  /* taken branches that it is indexed by then, besides */
    uint32_t indirect_bubble;  /* behind an indirect branch that is predicted right by that table,
                                  where there are several targets */
    uint32_t ras_entries;      /* return stack */
    uint32_t btb_miss_penalty; /* fetch bubble when a taken direct branch misses the BTB: the target
                                  is known at decode */
    /* Cycles that prediction loses behind a taken branch predicted right, whatever it is; behind a
     * call, behind a return; and where its target differs from it in bit far_bit or above (a target
     * buffer keeps the bits below). Fetch feels them once prediction is no longer ahead. */
    uint32_t taken_bubble, call_bubble, return_bubble, far_bubble;
    uint32_t far_bit;          /* 0: no target is far */
    uint32_t prediction_width; /* blocks of code that are predicted in a cycle: 1, 2 or 4 */
    uint32_t prediction_ahead; /* cycles that prediction may be ahead of fetch */
    uint32_t lines_ahead;      /* lines of code that prediction asks for before fetch comes to them
                                  (fetch-directed prefetching: Reinman, Calder and Austin 1999) */
    /* What the core keeps of decoded code (branch/op_cache.h); 0 entries: all of it. */
    uint32_t op_cache_entries, op_cache_ways, op_cache_insns;
};

enum disambiguation_kind {
    DISAMBIGUATE_PERFECT,   /* loads wait exactly for the store they depend on */
    DISAMBIGUATE_SPECULATE, /* loads pass stores of unknown address; a violation flushes */
    DISAMBIGUATE_WAIT_TABLE /* as speculate, with a table of loads that violated before and now wait
                               (Alpha 21264) */
};

struct machine_core {
    bool in_order;           /* issues in program order and stalls at the head of the issue queue
                                (core/inorder/); what the members below mean there is said after "in order" */
    uint32_t fetch_width;    /* instructions per cycle */
    uint32_t fetch_bytes;    /* aligned block per cycle; 0: no such limit */
    uint32_t fetch_buffer;   /* µops between fetch and dispatch; in order: and issue */
    uint32_t taken_branches; /* fetch goes on past this many − 1 taken branches in a cycle: 1 stops
                                at the first, 2 at the second */
    uint32_t outstanding_branches; /* unresolved; 0: unlimited */
    uint32_t fetch_target_queue;   /* fetch packets from fetch to commit; 0: unlimited */
    uint32_t frontend_depth;       /* cycles from fetch to the earliest dispatch */
    /* Of code that the op cache has not: instructions decoded per cycle, of one aligned block of so
     * many bytes (0: no such limit), and cycles until fetch delivers them: where it begins anew,
     * and where it goes on behind others. */
    uint32_t decode_width, decode_bytes, decode_restart, decode_switch;
    uint32_t redirect;       /* cycles from the branch's execution to fetch of the right path */
    uint32_t dispatch_width; /* µops; in order: issued per cycle, in all */
    uint32_t rob;            /* µops */
    uint32_t int_registers, fp_registers; /* physical; 0: unlimited */
    uint32_t flag_registers;              /* of x86-64's flags; 0: these have integer registers */
    uint32_t load_queue, store_queue; /* µops; in order: store_queue is the entries of the write
                                         buffer, a line each */
    uint32_t dispatch_to_issue; /* cycles a µop takes from dispatch to its earliest issue, ≥ 1 */
    uint32_t issue_wakeup; /* cycles from a one-cycle producer's issue to its consumer's: 1 back
                              to back, 2 a wakeup loop of two */
    uint32_t complete_to_commit; /* cycles from completion to the earliest commit, ≥ 1 */
    uint32_t commit_width;       /* µops */
    uint32_t store_drain;        /* committed stores written to the cache per cycle */
    uint32_t store_block;        /* bytes, aligned, that are written in a cycle; 0: no such limit */
    uint32_t split_load;         /* cycles more of a load in two lines, which then takes its unit
                                    for one more; 0: it costs nothing */
    uint32_t split_store;        /* writes more, of store_drain, of a store in two lines */
    uint32_t partial_store; /* cycles that a store of a part of a word of 4 bytes waits if the word
                               was written in so many cycles before: */
    uint32_t partial_store_recent;
    uint32_t store_forward;     /* cycles a forwarded load takes, beyond address generation */
    uint32_t failed_forward;    /* cycles more where nothing can be forwarded */
    bool forward_awaits_line;   /* of a load whose line another core took */
    uint32_t flush_penalty;     /* cycles from the commit of a flushing instruction to the fetch of
                                   the next */
    uint32_t syscall_cycles;    /* cycles from the commit of a system call to the fetch of the next:
                                   the kernel is not simulated, only its entry and exit flush */
    uint32_t cpuid_cycles;      /* likewise of CPUID, which leaves a virtual machine for its host
                                   (Intel SDM, "Instructions that cause VM exits"; AMD 24593,
                                   intercepts); 0: it flushes nothing */
    uint32_t violation_penalty; /* cycles from the flush at the head of the ROB after a memory
                                   ordering violation to refetch of the load */
    enum disambiguation_kind disambiguation;
    bool fuse_compare_branch;
    bool fuse_loads;         /* a load and the operation of its instruction: core/places.h */
    bool unlaminate_indexed; /* but not where three operands and an index are too many */
    bool eliminate_moves;    /* register copies and zero idioms need no functional unit */
    uint32_t string_start;   /* cycles of microcode behind a rep, when nothing else is dispatched */
    bool eliminate_additions;    /* nor do additions of small constants to 64-bit registers */
    uint32_t memory_renaming;    /* stores of integers that renaming remembers: a load of what one
                                    stored is another name for it; 0: none */
    uint32_t predicted_forwards; /* loads for which that is predicted where registers differ */
    bool renaming_moves;         /* but not one that is an operand of its instruction */
    bool renaming_stack;         /* only by the stack pointer, without an index */
    bool renaming_base;          /* only by one register or none */
    bool renaming_bytes;         /* also bytes that are extended by zeros */
    bool renaming_queue;         /* only of stores that are in the queue */
    uint32_t wrong_path;         /* µops that are fetched down a wrong path; 0: none */
    bool renaming_constants;     /* not of what is changed in memory by a register */
    bool renaming_overwritten;   /* not where the next instruction overwrites what was loaded */
    bool stack_sync; /* an operation on the stack pointer behind push, pop, call or return: a µop
                        more, which brings it up to date */
    bool vdso; /* what the kernel's vDSO serves (OP_CLOCK) is an operation of its class; else a
                  system call as any */
    bool group_issue;     /* in order: a packet issues wholly before the next one */
    char store_data[64];  /* "fp0+fp1": units that take the data of a store; "": it needs none */
    char result_bus[64];  /* "alu1": units that return one result a cycle, whenever its µop issued
                             (queue's unit_entries); "": no limit */
    char given_first[64]; /* "alu0+alu3": units that µops are given before others, of queues with
                             unit_entries; "": those that the fewest kinds could use */
};

/* [chip]: out-of-order cores that share a last level (memory/shared.h), or cores in order of
 * several hardware threads (core/multithreaded/chip.h). One core of one thread is the plain
 * machine. */
struct machine_chip {
    uint32_t cores, threads; /* threads of each core */
    uint32_t l2_banks;       /* a power of two; lines go round over them */
    uint32_t bank_interval;  /* cycles from one request that a bank takes to the next */
    uint32_t clean_transfer, modified_transfer, upgrade; /* cycles (memory/coherence.h) */
    uint32_t request_latency;         /* of them, on the way to who has the line; 0: half */
    bool migratory;                   /* a modified line goes to its reader whole */
    uint32_t directory_entries;       /* 0: for all lines */
    uint32_t wake_latency, wake_cost; /* ns: until who is woken in a futex runs; of the call */
};

/* How a machine was chosen. */
enum machine_by {
    MACHINE_BY_NAME,         /* it was named: --machine, or what is read names it */
    MACHINE_BY_ENVIRONMENT,  /* $CULPRIT_MACHINE */
    MACHINE_BY_CALIBRATION,  /* the user's own description of this host */
    MACHINE_BY_PROCESSOR,    /* it describes this host's core */
    MACHINE_BY_NEAREST,      /* of those that are shipped the nearest to it */
    MACHINE_BY_ARCHITECTURE, /* the default for programs of that architecture */
    MACHINE_BY_COUNT
};

struct machine_choice_reason {
    enum machine_by by;
    char why[400]; /* "describes this processor, AMD Zen 5 (...)"; of one by name "" */
};

struct machine {
    char name[64];
    char description[256];
    char processor[64]; /* of this kind, as processor_kind() tells it; "": not of one kind */
    char checked[160];  /* how far programs on it were from such processors; "": not known */
    double clock_ghz;
    char isa[16]; /* "any", "x86-64", "riscv64": which programs it is a fair model of; others run
                     too */
    struct machine_core core;
    uint32_t queue_count, pool_count;
    struct machine_queue queues[MACHINE_MAX_QUEUES];
    struct machine_pool pools[MACHINE_MAX_POOLS];
    struct machine_class classes[OP_COUNT];
    struct machine_branch branch;
    struct machine_cache l1i, l1d, l2, llc; /* the last present one is the last level (LLC) */
    struct machine_tlb itlb, dtlb, l2tlb;
    uint32_t page_walk; /* [tlb] page_walk: cycles of a walk after every TLB level missed */
    uint32_t walk_level, directory_entries, walkers, walk_interval;
    bool host_tables;
    uint32_t page_size; /* bytes */
    struct machine_dram dram;
    struct machine_chip chip;
    struct machine_ports store_data, given_first, result_bus; /* those of core */
    char forms_file[160]; /* "": none. With a '/' its path, else a name in the directories
                             that machines are looked for in */
    uint32_t form_count, form_ports_count;
    struct machine_form forms[MACHINE_MAX_FORMS]; /* in the order of their numbers */
    struct machine_ports form_ports[MACHINE_MAX_FORM_PORTS];
    struct machine_choice_reason chosen; /* no key of a file */
};

/* Whether it is a chip of multithreaded cores in order. What simulates a thread alone would not be
 * right for such a machine. */
static inline bool machine_is_chip(const struct machine *machine) {
    return machine->chip.threads > 1 || (machine->chip.cores > 1 && machine->core.in_order);
}

/* Flags of an instruction on this core (enum insn_flags): what the vDSO serves does not flush, but
 * later loads wait for it, since they read what it wrote. CPUID that a host serves flushes as a
 * system call does. */
static inline uint16_t machine_insn_flags(const struct machine_core *core, unsigned operation,
                                          uint16_t flags, bool is_cpuid) {
    if (is_cpuid && core->cpuid_cycles)
        return flags | INSN_SYSCALL;
    bool served = operation == OP_CLOCK && core->vdso;
    return served ? (uint16_t)((flags & ~INSN_SYSCALL) | INSN_FENCE_LOAD) : flags;
}

/* Cycles from the commit of what flushes to the fetch of the next. Of what goes on only when it has
 * been served elsewhere (`served`) CPUID alone is serialising. */
static inline uint32_t machine_flush_cycles(const struct machine_core *core, bool served,
                                            bool serialising) {
    return !served ? core->flush_penalty : serialising ? core->cpuid_cycles : core->syscall_cycles;
}

/* Whether what writes this register takes one of flags, in place of an integer register. */
static inline bool machine_flag_register(const struct machine_core *core, enum isa isa,
                                         uint8_t reg) {
    return core->flag_registers && register_is_flags(isa, reg);
}

/* What one entry of a TLB translates: the program's page, or what of it the host has in one piece,
 * whose pages are of 4 KiB. */
static inline uint32_t machine_entry_bytes(const struct machine *machine) {
    return machine->host_tables && machine->page_size > MACHINE_HOST_PAGE ? MACHINE_HOST_PAGE
                                                                          : machine->page_size;
}

/* Cycles of a page walk whose reads hit: of the page's entry, and of the host's, before which its
 * directory is read where there is a cache for some of these. */
static inline uint32_t machine_walk_cycles(const struct machine *machine) {
    const uint32_t latency = machine->walk_level == 2   ? machine->l2.latency
                             : machine->walk_level == 1 ? machine->l1d.latency
                                                        : 0;
    const uint32_t of_host = !machine->host_tables ? 0 : machine->directory_entries ? 2 : 1;
    return machine->page_walk + latency * (1 + of_host);
}

/* All units of a pool of its own: bits, as in struct machine_ports. */
static inline uint16_t machine_pool_whole(const struct machine_pool *pool) {
    return (uint16_t)((1u << pool->units) - 1);
}

/* Whether µops of other pools compete for its units, or data of stores for them or its queue, or
 * its µops are given theirs at dispatch. */
bool machine_pool_is_shared(const struct machine *machine, uint32_t pool);

/* What its table says of a form; NULL: nothing. */
static inline const struct machine_form *machine_form_of(const struct machine *machine,
                                                         insn_form form) {
    uint32_t low = 0, high = machine->form_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (machine->forms[middle].form < form)
            low = middle + 1;
        else
            high = middle;
    }
    return low < machine->form_count && machine->forms[low].form == form ? &machine->forms[low]
                                                                         : NULL;
}

/* Ports as files write them, "alu" or "alu0+alu3"; "-" for none. */
enum { PORTS_TEXT_SIZE = MACHINE_MAX_POOLS * 16 * 20 };
void machine_ports_text(const struct machine *machine, const struct machine_ports *ports,
                        char text[PORTS_TEXT_SIZE]);

/* Reads a table of forms for this machine, in place of the one it had; errors name `path`. */
bool machine_forms_read(struct machine *machine, const char *path, const char *text, size_t size,
                        struct error *error);

/* Loads a machine by name (searched in the directories of $CULPRIT_MACHINES, then in machines/
 * beside the build/ the executable is in, then in the installed share directory, then in the user's
 * own, $XDG_CONFIG_HOME/culprit) or, when `name` contains a '/' or ends in .ini, from that file.
 * Errors name file, line, key, value and what is allowed. */
bool machine_load(const char *name, struct machine *machine, struct error *error);

/* Changes one key: "core.rob=64", "dram.latency=100". For --set and tests. */
bool machine_set(struct machine *machine, const char *assignment, struct error *error);

/* The value of a key that is a number, "core.rob"; sizes are bytes. Not of queues, pools and
 * classes.
 */
bool machine_number(const struct machine *machine, const char *name, double *value,
                    struct error *error);

/* Whether two texts are the same value of a key: "64" and "064", "32K" and "32768". */
bool machine_same_value(const char *one, const char *other);

/* Checks between fields: power-of-two sets, pools with known queues, every class with a pool ...
 * machine_load has done it already; callers of machine_set do it again. */
bool machine_check(const struct machine *machine, struct error *error);

/* What a core of core/multithreaded/ must have: single issue in order, L1s and an L2 with LRU and
 * without prefetchers, memory of fixed latency. Part of machine_check() where machine_is_chip(). */
bool machine_check_chip(const struct machine *machine, struct error *error);

/* Names of all machines found, sorted, NULL-terminated; free each and the array. */
char **machine_list(struct error *error);

/* Prints the resolved description as an INI file that loads back to the same machine. `FILE *` as
 * void * keeps stdio out of the timing rooms. Each key is followed by its meaning and unit. */
void machine_print(const struct machine *machine, void *file);

/* Whether a machine is named by the path of its file: it has a '/' or ends in ".ini". */
bool machine_is_path(const char *name);
/* Which file a name resolves to; buffer of size bytes. */
bool machine_find(const char *name, char *path, uint32_t size, struct error *error);
