/* What the guest's threads do with each other, or wait for, in system calls: one event of a thread
 * (trace/thread_event.h) for each, told when the call has returned and before the thread executes
 * anything more. A new thread is told of before it runs, the end of one before the call: a joiner
 * that it wakes may end the process before it has quite ended.
 *
 * A process of one thread has no events: then all that is done here is to look the call up. */
#include "trace/qemu/plugin.h"

#include <linux/futex.h>
#include <sched.h>
#include <time.h>

#include "isa/insn.h"

enum { VCPUS = 1 << 14, MOST_CALLS = 512 };

/* Where a call tells how long it waits at most. */
enum limit {
    LIMIT_NONE,
    LIMIT_MS,       /* an argument, in milliseconds; negative: none */
    LIMIT_TIMESPEC, /* an argument points to it; NULL: none */
    LIMIT_TIMEVAL,
    LIMIT_CLOCK /* clock_nanosleep's */
};

/* Numbers differ between the guest's instruction sets; −1: it has none. */
static const struct call_kind {
    int16_t numbers[ISA_COUNT];
    uint8_t kind; /* enum thread_event_kind */
    uint8_t cause;
    uint8_t limit;
    uint8_t argument; /* with the limit */
    bool transfers;   /* reads or writes the descriptor that is the first argument */
} KINDS[] = {
#define BLOCKS(x86_64, riscv64, cause)                                                             \
    {                                                                                              \
        {[ISA_X86_64] = x86_64, [ISA_RISCV64] = riscv64}, THREAD_EVENT_BLOCK,                      \
            THREAD_CAUSE_##cause, LIMIT_NONE, 0, false                                             \
    }
#define MOVES(x86_64, riscv64, cause)                                                              \
    {                                                                                              \
        {[ISA_X86_64] = x86_64, [ISA_RISCV64] = riscv64}, THREAD_EVENT_BLOCK,                      \
            THREAD_CAUSE_##cause, LIMIT_NONE, 0, true                                              \
    }
#define LIMITED(x86_64, riscv64, cause, limit, argument)                                           \
    {                                                                                              \
        {[ISA_X86_64] = x86_64, [ISA_RISCV64] = riscv64}, THREAD_EVENT_BLOCK,                      \
            THREAD_CAUSE_##cause, LIMIT_##limit, argument, false                                   \
    }
#define OTHER(x86_64, riscv64, kind)                                                               \
    {                                                                                              \
        {[ISA_X86_64] = x86_64, [ISA_RISCV64] = riscv64}, kind, THREAD_CAUSE_NONE, LIMIT_NONE, 0,  \
            false                                                                                  \
    }
    OTHER(56, 220, THREAD_EVENT_CREATE),       /* clone */
    OTHER(60, 93, THREAD_EVENT_EXIT),          /* exit */
    OTHER(231, 94, THREAD_EVENT_EXIT_PROCESS), /* exit_group */
    OTHER(202, 98, THREAD_EVENT_WAIT),         /* futex: also THREAD_EVENT_WAKE */
    OTHER(24, 124, THREAD_EVENT_YIELD),        /* sched_yield */
    OTHER(218, 96, THREAD_EVENT_KINDS),        /* set_tid_address: no event */
    LIMITED(35, 101, TIME, TIMESPEC, 0),       /* nanosleep */
    LIMITED(230, 115, TIME, CLOCK, 2),         /* clock_nanosleep */
    MOVES(0, 63, INPUT),                       /* read */
    MOVES(19, 65, INPUT),                      /* readv */
    BLOCKS(17, 67, INPUT),                     /* pread64 */
    BLOCKS(295, 69, INPUT),                    /* preadv */
    BLOCKS(2, -1, INPUT),                      /* open, of a pipe */
    BLOCKS(257, 56, INPUT),                    /* openat */
    MOVES(45, 207, INPUT),                     /* recvfrom */
    MOVES(47, 212, INPUT),                     /* recvmsg */
    LIMITED(299, 243, INPUT, TIMESPEC, 4),     /* recvmmsg */
    BLOCKS(43, 202, INPUT),                    /* accept */
    BLOCKS(288, 242, INPUT),                   /* accept4 */
    MOVES(1, 64, OUTPUT),                      /* write */
    MOVES(20, 66, OUTPUT),                     /* writev */
    BLOCKS(18, 68, OUTPUT),                    /* pwrite64 */
    BLOCKS(296, 70, OUTPUT),                   /* pwritev */
    MOVES(44, 206, OUTPUT),                    /* sendto */
    MOVES(46, 211, OUTPUT),                    /* sendmsg */
    MOVES(307, 269, OUTPUT),                   /* sendmmsg */
    BLOCKS(42, 203, OUTPUT),                   /* connect */
    BLOCKS(40, 71, OUTPUT),                    /* sendfile */
    BLOCKS(275, 76, OUTPUT),                   /* splice */
    BLOCKS(74, 82, OUTPUT),                    /* fsync */
    BLOCKS(75, 83, OUTPUT),                    /* fdatasync */
    BLOCKS(162, 81, OUTPUT),                   /* sync */
    LIMITED(7, -1, EVENT, MS, 2),              /* poll */
    LIMITED(271, 73, EVENT, TIMESPEC, 2),      /* ppoll */
    LIMITED(23, -1, EVENT, TIMEVAL, 4),        /* select */
    LIMITED(270, 72, EVENT, TIMESPEC, 4),      /* pselect6 */
    LIMITED(232, -1, EVENT, MS, 3),            /* epoll_wait */
    LIMITED(281, 22, EVENT, MS, 3),            /* epoll_pwait */
    LIMITED(441, 441, EVENT, TIMESPEC, 3),     /* epoll_pwait2 */
    BLOCKS(61, 260, CHILD),                    /* wait4 */
    BLOCKS(247, 95, CHILD),                    /* waitid */
    BLOCKS(34, -1, SIGNAL),                    /* pause */
    BLOCKS(130, 133, SIGNAL),                  /* rt_sigsuspend */
    LIMITED(128, 137, SIGNAL, TIMESPEC, 2),    /* rt_sigtimedwait */
    BLOCKS(73, 32, LOCK),                      /* flock */
    BLOCKS(72, 25, LOCK),                      /* fcntl */
    BLOCKS(65, 193, LOCK),                     /* semop */
    LIMITED(220, 192, LOCK, TIMESPEC, 3),      /* semtimedop */
    BLOCKS(70, 188, LOCK),                     /* msgrcv */
    BLOCKS(69, 189, LOCK),                     /* msgsnd */
#undef BLOCKS
#undef MOVES
#undef LIMITED
#undef OTHER
};

static uint8_t kind_of_call[MOST_CALLS]; /* 0: none; else 1 more than its index in KINDS */
static uint64_t cleared_of_vcpu[VCPUS];  /* given to clone; written before the vCPU's thread runs */

static THREAD_LOCAL struct {
    bool under_way; /* `event` is of the call that the thread is in */
    struct thread_event event;
    uint64_t began_ns;
    bool sets_cleared; /* by set_tid_address; else cleared_of_vcpu has it */
    uint64_t cleared;  /* address that the kernel clears when the thread ends; 0: none */
    uint64_t of_child; /* likewise, of the thread that clone makes */
    int descriptor;    /* that the call under way reads; −1: none */
    /* Of its waits for events: the last one's time ran out; one had an event after such. */
    enum { WAITED, WAITED_IN_VAIN, FOUND_AT_LAST } waits;
} call;

void event_start(void) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        int number = KINDS[i].numbers[plugin.control->isa];
        if (number >= 0)
            kind_of_call[number] = (uint8_t)(i + 1);
    }
}

static uint64_t ticket(void) {
    return atomic_fetch_add(&plugin.control->event_tickets, 1);
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void tell(void) {
    struct ring_thread_event record = {.record.kind = RING_THREAD_EVENT, .event = call.event};
    call.under_way = false;
    process_put(&record.record, sizeof record, NULL, 0);
}

/* ---- time limits ---- */

/* `scale`: nanoseconds in a unit of its second word. */
static uint64_t read_limit(uint64_t address, uint64_t scale) {
    int64_t words[2];
    if (!address || !guest_read(address, words, sizeof words) || words[0] < 0 || words[1] < 0 ||
        words[0] > INT64_MAX / 1000000000)
        return THREAD_EVENT_FOREVER;
    return (uint64_t)words[0] * 1000000000 + (uint64_t)words[1] * scale;
}

static uint64_t until(uint64_t moment, clockid_t clock) {
    if (moment == THREAD_EVENT_FOREVER)
        return moment;
    uint64_t now = clock_ns(clock);
    return moment > now ? moment - now : 0;
}

static uint64_t limit_of(const struct call_kind *kind, const uint64_t arguments[6]) {
    uint64_t value = arguments[kind->argument];
    switch ((enum limit)kind->limit) {
    case LIMIT_MS:
        return (int32_t)value < 0 ? THREAD_EVENT_FOREVER : (uint64_t)(int32_t)value * 1000000;
    case LIMIT_TIMESPEC:
        return read_limit(value, 1);
    case LIMIT_TIMEVAL:
        return read_limit(value, 1000);
    case LIMIT_CLOCK:
        return arguments[1] & TIMER_ABSTIME ? until(read_limit(value, 1), (clockid_t)arguments[0])
                                            : read_limit(value, 1);
    default:
        return THREAD_EVENT_FOREVER;
    }
}

/* ---- futexes ---- */

static uint64_t futex_limit(unsigned operation, bool real_time, uint64_t address) {
    uint64_t limit = read_limit(address, 1);
    bool real = real_time || operation == FUTEX_OP_LOCK_PI;
    return operation == FUTEX_OP_WAIT ? limit
                                      : until(limit, real ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

/* futex(address, operation, value, time limit or value2, address2, bitset or expected value).
 * False: neither a wait nor a wake. */
static bool describe_futex(struct thread_event *event, const uint64_t arguments[6]) {
    unsigned operation = (uint32_t)arguments[1] & (uint32_t)FUTEX_CMD_MASK;
    event->operation = (uint8_t)operation;
    event->flags = arguments[1] & FUTEX_PRIVATE_FLAG ? 0 : THREAD_EVENT_SHARED;
    event->address = arguments[0];
    event->value = (uint32_t)arguments[2];
    switch ((enum thread_event_futex)operation) {
    case FUTEX_OP_WAIT_BITSET:
        event->bitset = (uint32_t)arguments[5];
        break;
    case FUTEX_OP_WAIT:
    case FUTEX_OP_LOCK_PI:
    case FUTEX_OP_LOCK_PI2:
        break;
    case FUTEX_OP_WAIT_REQUEUE_PI:
        event->address2 = arguments[4];
        break;
    case FUTEX_OP_WAKE_BITSET:
        event->bitset = (uint32_t)arguments[5];
        event->kind = THREAD_EVENT_WAKE;
        return true;
    case FUTEX_OP_WAKE:
    case FUTEX_OP_UNLOCK_PI:
        event->kind = THREAD_EVENT_WAKE;
        return true;
    case FUTEX_OP_REQUEUE:
    case FUTEX_OP_CMP_REQUEUE:
    case FUTEX_OP_CMP_REQUEUE_PI:
    case FUTEX_OP_WAKE_OP:
        event->value2 = (uint32_t)arguments[3];
        event->address2 = arguments[4];
        event->kind = THREAD_EVENT_WAKE;
        return true;
    default:
        return false;
    }
    if (arguments[3])
        event->asked_ns = futex_limit(operation, arguments[1] & FUTEX_CLOCK_REALTIME, arguments[3]);
    return true;
}

/* ---- threads ---- */

/* clone(flags, stack, parent's word, ...): the last two are in another order on each instruction
 * set. */
static void note_clone(const uint64_t arguments[6]) {
    call.of_child = arguments[0] & CLONE_CHILD_CLEARTID
                        ? arguments[plugin.control->isa == ISA_X86_64 ? 3 : 4]
                        : 0;
}

void event_created(unsigned vcpu, bool numbered, uint32_t number) {
    bool in_clone = call.under_way && call.event.kind == THREAD_EVENT_CREATE;
    if (vcpu < VCPUS)
        cleared_of_vcpu[vcpu] = call.of_child;
    if (!in_clone)
        return;
    call.event.other = numbered ? number : THREAD_EVENT_NO_THREAD;
    call.event.exit = ticket();
    call.event.duration_ns = clock_ns(CLOCK_MONOTONIC) - call.began_ns;
    tell();
}

/* ---- calls ---- */

/* False: no event is told of the call. */
static bool describe(unsigned vcpu, const struct call_kind *kind, const uint64_t arguments[6]) {
    struct thread_event *event = &call.event;
    switch (kind->kind) {
    case THREAD_EVENT_WAIT:
        return describe_futex(event, arguments);
    case THREAD_EVENT_EXIT:
        event->address = call.sets_cleared ? call.cleared
                         : vcpu < VCPUS    ? cleared_of_vcpu[vcpu]
                                           : 0;
        return true;
    case THREAD_EVENT_BLOCK:
        event->asked_ns = limit_of(kind, arguments);
        return true;
    default:
        return true;
    }
}

void event_entered(unsigned vcpu, int64_t number, const uint64_t arguments[6]) {
    call.under_way = false;
    if (number < 0 || number >= MOST_CALLS || !kind_of_call[number])
        return;
    const struct call_kind *kind = &KINDS[kind_of_call[number] - 1];
    if (kind->kind == THREAD_EVENT_KINDS) {
        call.cleared = arguments[0];
        call.sets_cleared = true;
        return;
    }
    if (kind->kind == THREAD_EVENT_CREATE)
        note_clone(arguments);
    struct thread_event *event = &call.event;
    if ((!plugin.threaded && kind->kind != THREAD_EVENT_CREATE) || plugin.slot == NO_SLOT)
        return;
    *event = (struct thread_event){.kind = kind->kind,
                                   .cause = kind->cause,
                                   .call = (uint32_t)number,
                                   .process = plugin.number,
                                   .asked_ns = THREAD_EVENT_FOREVER,
                                   .bitset = UINT32_MAX,
                                   .other = THREAD_EVENT_NO_THREAD};
    if (!thread_place(&event->thread, &event->position) || !describe(vcpu, kind, arguments))
        return;
    if (event->kind == THREAD_EVENT_WAIT || event->kind == THREAD_EVENT_BLOCK)
        wait_entered(event);
    const bool reads = kind->transfers && kind->cause == THREAD_CAUSE_INPUT;
    call.descriptor = reads ? (int)arguments[0] : -1;
    if (kind->transfers && !reads)
        channel_write((int)arguments[0], event->thread, event->position);
    call.under_way = true;
    call.began_ns = clock_ns(CLOCK_MONOTONIC);
    event->entry = event->exit = ticket();
    if (event->kind == THREAD_EVENT_EXIT) {
        event->exit = THREAD_EVENT_NO_TICKET;
        order_thread_ends(event->address, event->thread, event->position);
    }
    if (event->kind == THREAD_EVENT_EXIT || event->kind == THREAD_EVENT_EXIT_PROCESS)
        tell();
}

/* What a wait for events found after others whose time ran out, the thread reads next: then who
 * wrote that is told, for those others would not have been if it had come sooner. */
static void follow_waits(struct thread_event *event) {
    uint32_t writer;
    uint64_t written;
    if (thread_event_slept(event) && event->cause == THREAD_CAUSE_EVENT)
        call.waits = WAITED_IN_VAIN;
    else if (thread_event_found(event) && call.waits == WAITED_IN_VAIN)
        call.waits = FOUND_AT_LAST;
    else if (thread_event_found(event) && event->asked_ns)
        call.waits = WAITED;
    if (call.descriptor < 0 || event->result <= 0 || call.waits != FOUND_AT_LAST ||
        !channel_read(call.descriptor, event->thread, &writer, &written))
        return;
    event->value = writer + 1;
    event->address2 = written;
    call.waits = WAITED;
}

/* Whether a call of the kind, which has returned, is told. One with a time limit of 0 did not wait,
 * however long it took. */
static bool is_told(const struct thread_event *event) {
    switch (event->kind) {
    case THREAD_EVENT_CREATE:
        return false; /* event_created() did */
    case THREAD_EVENT_BLOCK:
        return event->cause == THREAD_CAUSE_TIME || thread_event_slept(event) || event->value ||
               (event->cause == THREAD_CAUSE_EVENT && call.waits == FOUND_AT_LAST) ||
               (event->asked_ns && event->duration_ns >= THREAD_EVENT_LEAST_NS);
    default:
        return true;
    }
}

void event_returned(int64_t result) {
    if (!call.under_way)
        return;
    struct thread_event *event = &call.event;
    wait_returned();
    event->exit = ticket();
    event->duration_ns = clock_ns(CLOCK_MONOTONIC) - call.began_ns;
    event->result = result;
    if (event->kind == THREAD_EVENT_BLOCK)
        follow_waits(event);
    uint32_t thread;
    uint64_t position;
    if (is_told(event) && thread_place(&thread, &position)) {
        if (thread_event_ran_out(event))
            poll_slept();
        tell();
    }
    call.under_way = false;
}

void event_forked(void) {
    wait_forked();
    call.waits = WAITED;
    call.under_way = false;
}
