/* The TCG plugin: runs inside QEMU's user-mode emulator and turns what the guest executes into
 * events (trace/event.h).
 *
 * At every translation the plugin gives the block a number, sends its definition to culprit's
 * process, and asks QEMU for a callback at the block's start and at each of its memory accesses.
 * The callbacks append one 64-bit event to the thread's chunk in shared memory (ring.h): one
 * compare, two stores. Everything else is behind that compare, in plugin_thread.c: a full chunk, a
 * new thread, the instruction limit, an open rep. QEMU runs each element of an x86 rep instruction
 * as a block of its own; plugin_rep.c folds them into one MARK_REP.
 *
 * What is instrumented depends on the phase: waiting for a function, skipping and pausing
 * (plugin_pause.c), capturing and pausing in turns, done. A change of phase is a reset of the
 * plugin, which throws all translations away. QEMU keeps a pointer to the memory callbacks of the
 * instruction that runs; after a reset it dangles until an instruction with memory callbacks
 * replaces it. Hence, once there was capture, every instruction gets memory callbacks in all
 * phases: when pausing or done, and while blocks are captured without their accesses, an operation
 * for accesses that there are none of.
 *
 * The guest's process keeps no file descriptor of ours, and nothing here waits for a consumer that
 * is gone. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "trace/qemu/layout.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv);

struct plugin plugin = {.slot = NO_SLOT};

/* ---- callbacks ---- */

/* Appends to the chunk. False: the slow path has to look at it first. `streams`: past the caches,
 * where the processor can (what chunk_complete() is for): who reads the events has another
 * core, and a line that is written here would first have to come back from there. */
static inline bool append(struct ring_chunk *chunk, uint64_t event, bool streams) {
    uint64_t *cursor = atomic_load_explicit(&chunk->cursor, memory_order_relaxed);
    if (__builtin_expect(cursor == chunk->end, 0))
        return false;
#if defined(__x86_64__)
    if (streams)
        _mm_stream_si64((long long *)cursor, (long long)event);
    else
#endif
        *cursor = event;
    atomic_store_explicit(&chunk->cursor, cursor + 1, memory_order_release);
    return true;
}

/* userdata of a block: instructions in 63:32, number in 31:0 */
static inline void block_entered(struct ring_chunk *chunk, unsigned vcpu, uint64_t word,
                                 bool streams) {
    if (__builtin_expect(!append(chunk, event_block((uint32_t)word), streams), 0)) {
        thread_block(vcpu, (uint32_t)word, (uint32_t)(word >> 32));
        return;
    }
    uint64_t insns = atomic_load_explicit(&chunk->insns, memory_order_relaxed);
    atomic_store_explicit(&chunk->insns, insns + (word >> 32), memory_order_relaxed);
}

static void on_block(unsigned vcpu, void *userdata) {
    block_entered(thread_chunk, vcpu, (uintptr_t)userdata, false);
}

/* While the guest has one thread there is no thread-local pointer to fetch, and nobody reads the
 * events of a chunk that it still fills. */
static void on_lone_block(unsigned vcpu, void *userdata) {
    block_entered(lone_chunk, vcpu, (uintptr_t)userdata, true);
}

/* qemu_plugin_meminfo_t: bits 6:4 log2 of the size, bit 16 a load, bit 17 a store, which move to
 * their places in the event. Asking the emulator for them would cost as much as all the rest;
 * check_access_info() makes sure of them at the start. An address that could be accessed has at
 * most 47 bits. userdata of an access: the index of its instruction, in its place. */
static inline uint64_t access_event(qemu_plugin_meminfo_t info, uint64_t address, void *userdata) {
    return (uintptr_t)userdata | address | (uint64_t)(info & 0x30000) << 46 |
           (uint64_t)(info & 0x70) << 55;
}

/* An atomic operation that the emulator does in one step (it does once memory may be shared, with
 * another thread or process): a load and a store. */
static __attribute__((noinline)) void both_accesses(uint64_t event) {
    thread_access(event & ~(1ull << 63));
    thread_access(event & ~(1ull << 62));
}

static inline void accessed(uint64_t event, enum order_insn insn) {
    if (__builtin_expect(event_kind(event) == EVENT_MARK, 0)) {
        both_accesses(event);
        order_atomic(event, insn);
        return;
    }
    if (!append(thread_chunk, event, false))
        thread_access(event);
    if (__builtin_expect(order_may_watch(event), 0))
        order_access(event);
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata) {
    (void)vcpu;
    accessed(access_event(info, address, userdata), ORDER_COUNTS);
}

/* Of an instruction that takes what it finds, when it accesses memory atomically. */
static void on_taking_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                             void *userdata) {
    (void)vcpu;
    accessed(access_event(info, address, userdata), ORDER_TAKES);
}

/* The same where Python runs. Its state is not accessed atomically. */
static inline void python_accessed(uint64_t event, enum order_insn insn) {
    accessed(event, insn);
    if (__builtin_expect(python_may_move(event), 0))
        python_moved(event);
}

static void on_python_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                             void *userdata) {
    (void)vcpu;
    python_accessed(access_event(info, address, userdata), ORDER_COUNTS);
}

static void on_taking_python_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                    void *userdata) {
    (void)vcpu;
    python_accessed(access_event(info, address, userdata), ORDER_TAKES);
}

static void on_spin_block(unsigned vcpu, void *userdata) {
    block_entered(thread_chunk, vcpu, (uintptr_t)userdata, false);
    spin_enters((uint32_t)(uintptr_t)userdata);
}

static void on_pause_block(unsigned vcpu, void *userdata) {
    block_entered(thread_chunk, vcpu, (uintptr_t)userdata, false);
    spin_pauses((uint32_t)(uintptr_t)userdata);
}

static void on_lone_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                           void *userdata) {
    (void)vcpu;
    uint64_t event = access_event(info, address, userdata);
    if (__builtin_expect(event_kind(event) == EVENT_MARK, 0))
        both_accesses(event);
    else if (!append(lone_chunk, event, true))
        thread_access(event);
}

static void on_lone_python_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                  void *userdata) {
    const uint64_t event = access_event(info, address, userdata);
    on_lone_access(vcpu, info, address, userdata);
    if (__builtin_expect(python_may_move(event), 0))
        python_moved(event);
}

static void on_marked_block(unsigned vcpu, void *userdata) {
    struct marked_block *block = userdata;
    if (block->rep.address)
        thread_rep_block(vcpu, &block->rep);
    else
        block_entered(thread_chunk, vcpu, block->word, false);
    marker_count(vcpu, block);
}

static void on_lone_marked_block(unsigned vcpu, void *userdata) {
    struct marked_block *block = userdata;
    block_entered(lone_chunk, vcpu, block->word, true);
    marker_count_first(vcpu, block);
}

static void on_rep_block(unsigned vcpu, void *userdata) {
    thread_rep_block(vcpu, userdata);
}

static void on_rep_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                          void *userdata) {
    (void)vcpu, (void)userdata;
    thread_rep_access(access_event(info, address, NULL));
}

/* The function that capture waits for is entered: this block is the first of it. */
static void on_symbol(unsigned vcpu, void *userdata) {
    const struct rep_block *block = userdata;
    struct ring_control *control = plugin.control;
    uint32_t waiting = RING_WAIT;
    atomic_compare_exchange_strong(&control->phase, &waiting,
                                   atomic_load(&control->skip) > 0 ? RING_SKIP : RING_CAPTURE);
    plugin_follow_phase();
    if (atomic_load(&control->phase) == RING_SKIP)
        thread_skip(vcpu, block->insn_count);
    else if (block->address)
        thread_rep_block(vcpu, block);
    else
        thread_block(vcpu, block->block, block->insn_count);
}

/* ---- translation ---- */

static void await_rep_accesses(struct qemu_plugin_tb *tb, const struct rep_block *rep) {
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, rep->insn_count - 1),
                                     on_rep_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     NULL);
}

static void hold_accesses(struct qemu_plugin_tb *tb, size_t insn_count) {
    for (size_t i = 0; i < insn_count; i++)
        interface_hold_accesses(qemu_plugin_tb_get_insn(tb, i));
}

static qemu_plugin_vcpu_mem_cb_t access_callback(const struct qemu_plugin_insn *insn) {
    if (!plugin.parallel)
        return python_runs ? on_lone_python_access : on_lone_access;
    if (order_insn_of(insn) == ORDER_TAKES)
        return python_runs ? on_taking_python_access : on_taking_access;
    return python_runs ? on_python_access : on_access;
}

static void instrument_block(struct qemu_plugin_tb *tb) {
    struct block block;
    code_translate(tb, &block);
    fault_note_block(tb, block.number, block.insn_count);
    struct marked_block *marked = marker_find(tb, &block);
    uint32_t accessing = block.insn_count;
    if (atomic_load(&plugin.phase) == RING_WAIT) {
        static struct rep_block first;
        first = block.rep
                    ? *block.rep
                    : (struct rep_block){.block = block.number, .insn_count = block.insn_count};
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_symbol, QEMU_PLUGIN_CB_NO_REGS, &first);
    } else if (marked) {
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, plugin.parallel || block.rep ? on_marked_block : on_lone_marked_block,
            QEMU_PLUGIN_CB_NO_REGS, marked);
    } else if (block.rep) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_rep_block, QEMU_PLUGIN_CB_NO_REGS,
                                             (void *)block.rep);
    } else {
        const enum spin_loop loop = plugin.parallel ? spin_loop_of(tb, &block) : SPIN_NO_LOOP;
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb,
            loop == SPIN_PAUSES  ? on_pause_block
            : loop == SPIN_LOOPS ? on_spin_block
            : plugin.parallel    ? on_block
                                 : on_lone_block,
            QEMU_PLUGIN_CB_NO_REGS,
            (void *)(uintptr_t)((uint64_t)block.insn_count << 32 | block.number));
    }
    if (block.rep) {
        await_rep_accesses(tb, block.rep);
        accessing--;
    }
    /* One callback for loads and stores: QEMU 7.2 confuses the two in its filter. */
    if (addresses_left_out())
        hold_accesses(tb, accessing);
    else if (plugin.addresses)
        for (uint32_t i = 0; i < accessing; i++)
            qemu_plugin_register_vcpu_mem_cb(
                qemu_plugin_tb_get_insn(tb, i), access_callback(qemu_plugin_tb_get_insn(tb, i)),
                QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)((uint64_t)i << 48));
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    int saved = errno;
    signal_instrument(tb); /* called before the block's own */
    if (plugin.control->objects && memory_instrument(tb)) {
        hold_accesses(tb, qemu_plugin_tb_n_insns(tb));
        errno = saved;
        return;
    }
    switch (ring_activity(atomic_load(&plugin.phase))) {
    case RING_SKIP:
        skip_instrument(tb);
        break;
    case RING_PAUSE:
        pause_instrument(tb);
        hold_accesses(tb, qemu_plugin_tb_n_insns(tb));
        break;
    case RING_CAPTURE:
        if (!plugin.counting) {
            instrument_block(tb);
            break;
        }
        count_instrument(tb);
        if (addresses_left_out())
            hold_accesses(tb, qemu_plugin_tb_n_insns(tb));
        break;
    case RING_WAIT:
        if (code_has_symbol(tb))
            instrument_block(tb);
        break;
    default:
        hold_accesses(tb, qemu_plugin_tb_n_insns(tb));
    }
    python_instrument(tb);
    errno = saved;
}

/* ---- phases ---- */

static void on_vcpu(qemu_plugin_id_t id, unsigned vcpu) {
    (void)id;
    birth_of_vcpu(vcpu);
}

static void register_callbacks(void) {
    qemu_plugin_register_vcpu_init_cb(plugin.id, on_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(plugin.id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(plugin.id, system_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(plugin.id, system_return);
}

static void on_reset(qemu_plugin_id_t id) {
    (void)id;
    thread_end_phase(plugin.next_phase);
    addresses_begin_phase();
    atomic_store(&plugin.switching, 0);
    register_callbacks();
}

void plugin_switch(enum ring_phase phase) {
    if (atomic_exchange(&plugin.switching, 1))
        return;
    /* A thread in a system call may have seen the old phase and come here after the reset: once
     * more would be once too often, with memory callbacks active. */
    if (phase <= atomic_load(&plugin.phase)) {
        atomic_store(&plugin.switching, 0);
        return;
    }
    plugin.next_phase = phase;
    qemu_plugin_reset(plugin.id, on_reset);
}

void plugin_follow_phase(void) {
    struct ring_control *control = plugin.control;
    bool heard = plugin.slot != NO_SLOT && !atomic_load(&control->detached);
    uint32_t phase = heard ? atomic_load(&control->phase) : RING_DONE;
    if (phase > atomic_load(&plugin.phase))
        plugin_switch(phase);
}

/* ---- start ---- */

/* Dying by a signal, QEMU says so on the guest's standard error, where the guest itself would be
 * silent. Its other messages, which come before the guest begins, pass. */
static ssize_t pass_on(void *cookie, const char *text, size_t size) {
    static const char obituary[] = "qemu: uncaught target signal";
    (void)cookie;
    bool dying = size >= sizeof obituary - 1 && memcmp(text, obituary, sizeof obituary - 1) == 0;
    if (dying && plugin.counting)
        count_publish_all();
    return dying ? (ssize_t)size : write(STDERR_FILENO, text, size);
}

static void replace_standard_error(void) {
    static char line[1024];
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = pass_on});
    if (!stream)
        return;
    setvbuf(stream, line, _IOLBF, sizeof line);
    stderr = stream;
}

/* A hint, well away from libraries: if the shared memory lay between the plugin and the emulator's
 * generated code, their distance could pass 2 GB, and calls of the callbacks would be indirect
 * (measured: a third slower). No sanitizer's shadow is here. */
static const uintptr_t FAR_AWAY = 0x2e0000000000;

static struct ring_control *map_shared(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    void *memory = mmap((void *)FAR_AWAY, RING_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool check_access_info(void) {
    for (qemu_plugin_meminfo_t low = 0; low < 1 << 12; low++)
        for (int store = 0; store <= 1; store++) {
            qemu_plugin_meminfo_t info = low | (store ? 0x20000 : 0x10000);
            if (access_event(info, 0, NULL) != event_access(store, low >> 4 & 7, 0, 0) ||
                qemu_plugin_mem_size_shift(info) != (low >> 4 & 7) ||
                qemu_plugin_mem_is_store(info) != store)
                return false;
        }
    return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    if (argc < 1 || strncmp(argv[0], "shared=", 7) != 0 || info->system_emulation) {
        qemu_plugin_outs("culprit: this plugin is started by culprit only\n");
        return 1;
    }
    plugin.id = id;
    interface_start(info);
    plugin.control = map_shared(argv[0] + 7);
    if (!plugin.control) {
        fprintf(stderr, "culprit: cannot map the capture's memory %s: %s\n", argv[0] + 7,
                strerror(errno));
        return 1;
    }
    if (plugin.control->layout != RING_LAYOUT) {
        atomic_store(&plugin.control->refused, RING_LAYOUT);
        _exit(1); /* culprit says why, the emulator would say more */
    }
    if (!check_access_info()) {
        qemu_plugin_outs("culprit: this emulator describes memory accesses in an unknown way: "
                         "use QEMU 7.2 (Debian 12's qemu-user)\n");
        return 1;
    }
    plugin.consumer = plugin.control->consumer;
    replace_standard_error();
    layout_place_program();
    addresses_begin_phase();
    process_start();
    thread_start();
    event_start();
    bool joined = process_join(RING_STARTED, 0, 0);
    atomic_store(&plugin.phase, joined ? atomic_load(&plugin.control->phase) : RING_DONE);
    register_callbacks();
    return 0;
}
