/* What the files of the plugin share. See plugin.c for how it works. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"
#include "trace/qemu/qemu_plugin.h"
#include "trace/qemu/ring.h"

/* Within the plugin, names are reached directly rather than through its table of symbols. */
#pragma GCC visibility push(hidden)

enum { NO_SLOT = -1 };

/* One per emulator process; the plugin interface has no room for a context. */
struct plugin {
    qemu_plugin_id_t id;
    struct ring_control *control;
    int32_t consumer; /* as in `control`, which the guest may overwrite */
    int slot;         /* of this process in the shared memory; NO_SLOT: not traced */
    uint32_t number;  /* of this process generation in the trace */
    uint32_t known;   /* `process` of this process's targets */
    uint64_t guest_base;
    bool addresses;             /* translations are made with callbacks of accesses */
    bool counting;              /* they count executions, in place of events (plugin_count.c) */
    bool threaded;              /* the guest has, or had, more than one thread */
    bool parallel;              /* translations may be run by several threads from now on */
    _Atomic uint32_t phase;     /* enum ring_phase that the translations are made for */
    _Atomic uint32_t switching; /* a reset to another phase is under way */
    uint32_t next_phase;
};
extern struct plugin plugin;

/* ---- plugin.c ---- */

/* Translations are thrown away and made anew for `phase`, from the next block on. */
void plugin_switch(enum ring_phase phase);
/* Switches if another process, or thread, moved the capture's phase. */
void plugin_follow_phase(void);

/* ---- plugin_addresses.c: whether accesses are told of, or only executions counted ---- */

void addresses_begin_phase(void); /* at start, and between two phases with all vCPUs stopped */
/* Between two chunks of a thread that has executed so many instructions. */
void addresses_chunk_ended(uint64_t position);
/* Before a system call behind which events may be decoded: they tell of accesses from then on. */
void addresses_needed(void);
/* They are wanted, but not now. */
static inline bool addresses_left_out(void) {
    return plugin.control->addresses && !plugin.addresses;
}
/* A chunk has up to so many times the instructions when addresses are left out. It takes fewer
 * events then, so that slices, which are made of chunks, are no longer than before. */
static inline uint32_t addresses_share(void) {
    return addresses_left_out() ? 3 : 1;
}

/* ---- plugin_interface.c: what versions of the plugin interface do differently ---- */

enum { INSN_BYTES = 16 };

void interface_start(const qemu_info_t *info); /* once, at install */
/* At most INSN_BYTES; returns how many. */
size_t interface_insn_bytes(const struct qemu_plugin_insn *insn, uint8_t bytes[INSN_BYTES]);
/* Path of the program that runs; NULL: the emulator does not tell. */
const char *interface_program(void);
/* Adds that much each time that the block is entered, while the guest has one thread. */
void interface_add(struct qemu_plugin_tb *tb, uint64_t *word, uint64_t amount);
/* The instruction has callbacks of its accesses that do nothing. */
void interface_hold_accesses(struct qemu_plugin_insn *insn);

/* ---- plugin_birth.c: new threads ---- */

void birth_of_vcpu(unsigned vcpu); /* the emulator calls for a new vCPU */
/* Around a call of clone with these flags, on the thread that calls it. */
void birth_begins(uint64_t flags);
void birth_ends(int64_t result);
void birth_forked(void);

/* ---- the current thread and its chunk; plugin_thread.h says in which file ---- */

#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

/* Never NULL. The hot callbacks append here while cursor < end. */
extern THREAD_LOCAL struct ring_chunk *thread_chunk;
/* The same as thread_chunk while the guest has one thread; after that a chunk that is always
 * full. */
extern struct ring_chunk *lone_chunk;

enum { REP_OPERANDS = 2 };

/* A block that ends in an x86 string instruction with a rep prefix. */
struct rep_block {
    uint32_t block, insn_count;
    uint64_t address; /* of the rep instruction; 0: the block ends in none */
    uint32_t operand_count;
    uint64_t operands[REP_OPERANDS]; /* in order of access: an event with kind and size alone */
};

void thread_start(void); /* once, at install */
void thread_forked(void);
/* A vCPU was created, by the thread that makes the new one. Its number in this process. */
uint32_t thread_created(unsigned vcpu);
void thread_block(unsigned vcpu, uint32_t block, uint32_t insn_count);
void thread_access(uint64_t event);
void thread_mark(unsigned vcpu, enum event_mark mark, uint64_t payload);
/* The instruction at this address raised a signal, in the block entered last. */
void thread_fault(uint64_t pc);
void thread_rep_block(unsigned vcpu, const struct rep_block *block);
void thread_rep_access(uint64_t event);
void thread_skip(unsigned vcpu, uint32_t insn_count);
void thread_skip_rep(unsigned vcpu, const struct rep_block *block);
void thread_system_call(unsigned vcpu, uint64_t number);
/* The current thread's number in the trace. False: its events are dropped. */
bool thread_number(unsigned vcpu, uint32_t *number);
/* The same for what its events are told of, with the instructions that it has executed. False: at
 * this moment they are not captured. */
bool thread_place(uint32_t *number, uint64_t *position);
/* The thread of the vCPU in this process, in order of creation. */
uint32_t thread_ordinal(unsigned vcpu);
/* Its number, and the instructions that it has executed up to and including this one of the block
 * that it is in. False: its events are dropped. */
bool thread_at(uint32_t index, uint32_t *number, uint64_t *position);
/* Both or none: the second explains the first. */
void thread_mark_pair(unsigned vcpu, uint64_t first, uint64_t second);
/* The instruction `index` of its block has read what another thread wrote. */
void thread_tell_writer(uint32_t index, uint32_t writer, uint64_t written);
/* Its chunk, by when it was begun; 0: it has none now. */
uint64_t thread_ticket(void);
/* Puts a mark of Python behind what it has just accessed. False: there is no room. */
bool thread_tell_python(enum event_mark mark, uint64_t payload);
/* The last events of its chunk, the last first, `most` at most. Returns how many. */
uint32_t thread_last_events(uint64_t *events, uint32_t most);
/* The events of its chunk since a moment, which becomes now; those of an older chunk are lost. From
 * a system call. Of more than `most` the first half of so many, and the last; returns how many. */
struct thread_moment {
    uint64_t chunk; /* thread_ticket() */
    uint32_t event;
};
uint32_t thread_events_since(struct thread_moment *moment, uint64_t *events, uint32_t most);
/* Of each image a few blocks of its chunk that it entered last, the last first. Returns how many.
 */
uint32_t thread_last_of_images(uint32_t *blocks, uint32_t most);
/* Instructions that the current thread has executed, those of the block it is in included. */
uint64_t thread_position(void);
/* The same between two chunks; and when others than its events have told how many they are. */
uint64_t thread_position_before(void);
void thread_go_on_at(uint64_t position);
/* The rep block that was entered last is a further element of an instruction begun before. */
bool thread_rep_continues(void);
/* A part of `left` instructions, as one of several threads gets it; at least 1 if there are any. */
uint64_t thread_share(int64_t left);
void thread_publish(void); /* the current thread's chunk, as far as filled */
/* Makes exact what is still to be skipped or captured, for the program that exec puts in place of
 * this one; undoes that if there was no exec. */
struct thread_unused {
    int64_t skip, left;
};
struct thread_unused thread_before_exec(void);
void thread_exec_failed(const struct thread_unused *unused);
/* With all vCPUs stopped: hands over what was captured and moves plugin.phase on. */
void thread_end_phase(enum ring_phase next);

/* False: the consumer is gone. */
bool chunk_wait_for_room(struct ring_control *control);
/* A free chunk becomes HELD. */
bool chunk_claim(struct ring_control *control, uint32_t *number);
/* Reports a marker and, if that is wanted, where the other threads of this process are. */
void thread_tell_reached(struct ring_reached *reached);
/* HELD to FULL; `last`: of its thread. */
void chunk_publish(struct ring_control *control, uint32_t number, bool last);

/* ---- plugin_count.c: executions of blocks instead of events ---- */

void count_instrument(struct qemu_plugin_tb *tb);
/* Publishes what was counted so far: by the current thread, by all of them. */
void count_publish(void);
void count_publish_all(void);
/* Behind this the current thread, the only one, tells of events again. */
void count_end(void);
void count_thread_ended(void);
void count_fault(uint64_t pc); /* as thread_fault() */
/* As thread_position(), thread_before_exec(). */
uint64_t count_position(void);
struct thread_unused count_before_exec(void);
void count_forked(void);

/* ---- plugin_pause.c: blocks while nothing is captured ---- */

void skip_instrument(struct qemu_plugin_tb *tb);
void pause_instrument(struct qemu_plugin_tb *tb);

/* ---- plugin_process.c: this process and its records ---- */

/* False: the process is not traced (there is no consumer, or no slot). */
bool process_join(enum ring_origin origin, uint32_t parent, uint32_t inherited_blocks);
void process_start(void); /* once, at install */
/* Appends a record with `extra` bytes behind it. */
void process_put(struct ring_record *record, size_t size, const void *extra, size_t extra_size);
/* The same, and waits for the answer. False: there will be none. */
bool process_ask(struct ring_record *record, size_t size, struct ring_reply *reply);
/* Waits for *word to differ from `seen`. False: the consumer is gone. */
bool process_wait(_Atomic uint32_t *word, uint32_t seen);
void process_ring_doorbell(void);

/* The guest waited for this child: reports its processor time. */
void process_waited(uint32_t pid);
/* A fork child that is not traced calls exec. */
void process_tell_exec(const char *path);

/* ---- plugin_code.c: blocks and mappings ---- */

struct block {
    uint32_t number;
    uint32_t insn_count;
    const struct rep_block *rep; /* NULL: does not end in a rep */
    bool anonymous;              /* lies in no file */
};
/* Contains the first instruction of from_symbol. */
bool code_has_symbol(const struct qemu_plugin_tb *tb);
/* Whether the block is of the library that tells of allocations. */
bool code_tells_allocations(const struct qemu_plugin_tb *tb);
/* The mapping at a guest address. False: it is not known. */
bool code_mapping_at(uint64_t address, uint64_t *start, uint64_t *end);
/* The number of the file that is mapped at a guest address; UINT32_MAX: none. */
uint32_t code_image_at(uint64_t address);
/* Where the block lies: `image` of the marker sites there, or RING_UNMARKED, and its offset. */
uint32_t code_marked(const struct qemu_plugin_tb *tb, uint64_t *offset);
/* What its mapping has is known after this. */
void code_look(const struct qemu_plugin_tb *tb);
/* Each cycle of the control flow passes a watched block (trace/counts.h). */
bool code_is_watched(const struct qemu_plugin_tb *tb, uint32_t insn_count);
/* How many instructions an execution of the block executes. */
uint32_t code_insn_count(const struct qemu_plugin_tb *tb);
/* The rep instruction that ends the block, if any; `block` is left to the caller. */
struct rep_block code_rep(const struct qemu_plugin_tb *tb);
void code_translate(const struct qemu_plugin_tb *tb, struct block *block);
/* [start, end) may hold something else from now on. */
void code_unmapped(uint64_t start, uint64_t end);
void code_forked(void);
uint32_t code_block_count(void);
/* Instructions of a block by its number; 0: not known. */
uint32_t code_block_insns(uint32_t number);
uint32_t code_block_image(uint32_t number); /* UINT32_MAX: none, or not known */

/* ---- plugin_marker.c: markers ---- */

/* A block with instructions that are markers. */
struct marked_block {
    struct marked_block *next;
    uint32_t number;      /* from 0 */
    uint64_t word;        /* as userdata of a block: instructions in 63:32, number in 31:0 */
    struct rep_block rep; /* address 0: does not end in a rep */
    struct marker_share {
        uint64_t given, left; /* executions, until all blocks are looked at */
    } share;                  /* of the first thread */
    uint32_t count;
    struct mark {
        uint32_t site;
        uint32_t behind; /* instructions from this one to the end of the block */
    } marks[];
};

/* NULL: has none. Lives as long as the process. */
struct marked_block *marker_find(const struct qemu_plugin_tb *tb, const struct block *block);
/* The block was entered: after the thread took note of it. */
void marker_count(unsigned vcpu, struct marked_block *block);
/* It has used up the thread's share, and was entered once more. */
void marker_look(unsigned vcpu, struct marked_block *block);
/* By the first thread of the process; the block does not end in a rep. */
static inline void marker_count_first(unsigned vcpu, struct marked_block *block) {
    if (__builtin_expect(block->share.left > 0, 1))
        block->share.left--;
    else
        marker_look(vcpu, block);
}
/* The current thread, which has markers or not, will execute nothing more. */
void marker_thread_ends(uint32_t ordinal, uint32_t number);
/* The current thread needs its counts no more. */
void marker_forget(void);
/* It counts from zero, in a fork child, whose first thread it is. */
void marker_forked(void);

/* ---- plugin_system.c: system calls ---- */

void system_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                 uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void system_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result);

/* ---- plugin_repeat.c: answers of the kernel that are to be the same each time ---- */

/* A system call succeeded; control->repeatable. */
void repeat_call(int64_t number, const uint64_t *arguments, uint64_t result);

/* ---- plugin_layout.c: where the guest's memory begins ---- */

void layout_place_program(void); /* once, at install */
void layout_place_rest(void);    /* before each system call; only the first time does anything */

/* ---- plugin_signal.c: the guest's signal handlers ---- */

/* sigaction() succeeded; `action` is its second argument. */
void signal_registered(uint64_t signal, uint64_t action);
/* By its number: one that instructions raise, though kill() may send it too. */
bool signal_is_fault(uint64_t signal);
/* In every phase: a block that begins where a handler does is reported, and has its stack
 * corrected. */
void signal_instrument(struct qemu_plugin_tb *tb);

/* ---- plugin_fault.c: where a fault left its block ---- */

enum { FAULT_UNNUMBERED = UINT32_MAX };

/* At translation, in every phase that counts: `number` is the block's, or FAULT_UNNUMBERED. */
void fault_note_block(const struct qemu_plugin_tb *tb, uint32_t number, uint32_t insn_count);
/* At the entry of a handler: the address of the instruction that raised the signal. False: none
 * did, or it cannot be known. `registers` may be NULL. */
bool fault_at(const uint64_t *registers, uint64_t *pc);

/* The blocks that contain the instruction at `pc`, those translated last first. */
struct fault_search {
    uint64_t pc;
    const struct place *next; /* NULL at first */
    uint32_t bucket;          /* 0 at first */
};
struct fault {
    uint32_t number, index, insn_count;
};
bool fault_next_block(struct fault_search *search, struct fault *fault);

/* ---- plugin_memory.c: memory that the guest allocates, frees and maps ---- */

/* Of control->objects. Takes a block that is not to be captured, for it tells of allocations. */
bool memory_instrument(struct qemu_plugin_tb *tb);
void memory_before_call(int64_t number);
/* A system call has succeeded. */
void memory_call(unsigned vcpu, int64_t number, const uint64_t arguments[6], uint64_t result);

void memory_tell_allocated(unsigned vcpu, uint64_t address, uint64_t size);
void memory_tell_freed(unsigned vcpu, uint64_t address);

/* ---- plugin_allocator.c: allocators that the program brings along ---- */

/* Of those of a mapping. */
void allocators_found(const struct ring_reply *reply);
/* Of control->objects, in every phase; before the block's own. */
void allocators_instrument(struct qemu_plugin_tb *tb);

/* ---- plugin_order.c: words that threads synchronise by, and who wrote what was read ---- */

enum { ORDER_FILTER = 1 << 15 };
extern uint8_t order_filter[ORDER_FILTER]; /* not 0: a watched word may lie at such addresses */
static inline bool order_may_watch(uint64_t address) {
    return order_filter[address / 8 % ORDER_FILTER];
}
enum order_insn { ORDER_PLAIN, ORDER_TAKES /* what it reads decides */, ORDER_COUNTS };
/* Of an instruction that may access memory atomically. */
enum order_insn order_insn_of(const struct qemu_plugin_insn *insn);
/* The current thread has accessed what may be a watched word; or any word, atomically: `event` is
 * of the load or of the store. */
void order_access(uint64_t event);
void order_atomic(uint64_t event, enum order_insn insn);
/* The current thread is about to make the call that ends it, behind which the kernel clears the
 * word at `clears` (0: none). `thread` and `position`: thread_place(). */
void order_thread_ends(uint64_t clears, uint32_t thread, uint64_t position);
void order_thread_ended(void);
/* The current thread is about to enter a handler of signals; to return from one. */
void order_handler_begins(void);
void order_handler_returns(void);
void order_forked(void);
/* From now on it is told who wrote what a thread reads in this word that looks at it between
 * sleeps. `key`: its address / 8 + 1. False: so it is already, or there is no room. */
bool order_poll(uint64_t key);
/* The current thread spins on the word at this address. */
void order_watch_spun(uint64_t address);

/* ---- plugin_spin.c: loops that wait for another thread ---- */

/* Whether the block may be all of a loop that waits for another thread, or says that it does. */
enum spin_loop { SPIN_NO_LOOP, SPIN_LOOPS, SPIN_PAUSES };
enum spin_loop spin_loop_of(const struct qemu_plugin_tb *tb, const struct block *block);
/* The current thread has entered such a block. */
void spin_enters(uint32_t block);
void spin_pauses(uint32_t block);

/* ---- plugin_poll.c: words that threads look at between sleeps ---- */

/* The current thread has slept until its time was over. */
void poll_slept(void);
/* Whether it polls the word. */
bool poll_looks_at(uint64_t key);
void poll_thread_ended(void);
void poll_forked(void);

/* ---- plugin_python.c: what Python runs ---- */

/* Stores to these addresses move Python on: events without index and size; 0: none. */
struct python_watch {
    uint64_t instruction; /* of the innermost frame */
    uint64_t frame;       /* the innermost frame is told there */
    uint64_t c_frame;     /* and, to 3.12, where that is */
};
extern THREAD_LOCAL struct python_watch python_watch;
static inline bool python_may_move(uint64_t event) {
    const uint64_t place = event & ~(UINT64_C(0x3fff) << 48);
    return place == python_watch.instruction || place == python_watch.frame ||
           place == python_watch.c_frame;
}
extern bool python_runs; /* an interpreter was found in this process */
void python_found(const struct ring_python *python);
/* In every phase: a block that begins where the interpreter's loop does tells of it; after the
 * block's own. */
void python_instrument(struct qemu_plugin_tb *tb);
/* What python_may_move() is true of was stored. */
void python_moved(uint64_t event);
/* The current thread begins a chunk. */
void python_chunk_begun(void);
void python_thread_ended(void);
void python_forked(void);

/* ---- plugin_wait.c: what threads wait for in the kernel ---- */

/* Before a call that is, or may be, a wait; the first thing behind it. */
void wait_entered(const struct thread_event *event);
void wait_returned(void);
void wait_thread_ended(void);
void wait_forked(void);

/* ---- plugin_channel.c: who wrote what is read from a pipe and the like ---- */

/* Two sockets were made that are each other's peer. */
void channel_pair(const int descriptors[2]);
/* The current thread is about to write to the descriptor; thread_place(). */
void channel_write(int descriptor, uint32_t thread, uint64_t position);
/* It has read from it. False: what another thread wrote last there, if anything, is not known. */
bool channel_read(int descriptor, uint32_t thread, uint32_t *writer, uint64_t *written);
void channel_forked(void);

/* ---- plugin_event.c: events of threads ---- */

void event_start(void); /* once, at install */
/* A system call, when all else that is done before it is done; the first thing after it. */
void event_entered(unsigned vcpu, int64_t number, const uint64_t arguments[6]);
void event_returned(int64_t result);
/* The current thread, in a call, made a vCPU: it is the thread `number`, if it is `numbered`. */
void event_created(unsigned vcpu, bool numbered, uint32_t number);
void event_forked(void);

/* ---- plugin_guest.c ---- */

/* False: not all of it is there. */
bool guest_read(uint64_t address, void *to, size_t size);
/* The same of memory that is no file's, and whose pages are read many times: a hundredth of the
 * cost, as long as the guest has one thread, which makes no system call. */
bool guest_read_again(uint64_t address, void *to, size_t size);
void guest_may_change(void); /* when a system call returns */
bool guest_write(uint64_t address, const void *from, size_t size);
/* The caller frees it; NULL: not there, too long, or no memory. */
char *guest_read_string(uint64_t address);

/* ---- plugin_effect.c ---- */

/* Before a system call: reports the first that would change the world, see capture_options; notes
 * that a timer is set. */
void effect_watch(unsigned vcpu, int64_t number, const uint64_t arguments[6]);
/* An exec that is not followed: what the new program does is not known. */
void effect_of_exec(unsigned vcpu, const char *path);
void effect_forked(void);

/* ---- plugin_exec.c ---- */

/* execve and execveat, in guest addresses. */
struct exec_call {
    int folder, flags; /* of execveat; else AT_FDCWD, 0 */
    uint64_t name, arguments, environment;
};
/* Returns when the call is to be left to QEMU. */
void exec_follow(unsigned vcpu, const struct exec_call *call);

#pragma GCC visibility pop
