/* The parent starts a child, which takes one kernel after the other and writes results to shared
 * memory. What goes wrong in one ends the child, with the reason in its result; the parent starts
 * the next child behind it. A child that neither ends nor goes on is killed.
 *
 * The child's own system calls (mapping data) are told from the code's by where they are made: the
 * filter lets nothing pass that is called from below 4 GiB, where only made code lies, and from
 * elsewhere just what the child needs. */
#include "host/child.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/place.h"
#include "util/clock.h"

enum { PATIENCE = 60 /* seconds without a kernel done, whatever the load is, times the limit */ };

/* ---- what parent and child share ---- */

struct shared {
    volatile uint64_t current; /* kernel that is run */
    size_t size;               /* of this */
    struct host_result results[];
};

struct job {
    const struct host_kernel *const *kernels;
    size_t count;
    const struct host_child_options *options;
    void (*work)(void *context, const struct host_placed *placed, struct host_result *result);
    void *context;
    struct shared *shared;
};

static void fail(struct host_result *result, const char *what) {
    result->state = HOST_FAILED;
    snprintf(result->failure, sizeof result->failure, "%s", what);
}

/* ---- the child ---- */

/* A signal finds what it is about at the top of its own stack. */
struct signal_stack {
    uint8_t room[64 << 10];
    struct shared *shared;
};

static const char *name_of(int number) {
    return number == SIGSEGV  ? "reads or writes memory that it does not have"
           : number == SIGBUS ? "reads or writes memory that is not there"
           : number == SIGILL ? "has an instruction that this processor does not know"
           : number == SIGFPE ? "divides by zero, or out of range"
           : number == SIGSYS ? "calls the system"
           : number == SIGVTALRM || number == SIGXCPU ? "does not come to its end in time"
                                                      : "ends in a trap";
}

/* Decimal and hexadecimal by hand: in a handler nothing else is safe. */
static void put_address(char *to, uint64_t address) {
    for (unsigned i = 16; i-- > 0; address >>= 4)
        to[i] = "0123456789abcdef"[address & 15];
}

static void report_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    stack_t own;
    static const char AT[] = " at 0x";
    if (sigaltstack(NULL, &own))
        _exit(1);
    struct shared *shared = ((struct signal_stack *)own.ss_sp)->shared;
    struct host_result *result = &shared->results[shared->current];
    const char *name = name_of(number);
    const size_t length = strlen(name);
    result->state = HOST_FAILED;
    memset(result->failure, 0, sizeof result->failure);
    memcpy(result->failure, name, length);
    if (number == SIGSEGV || number == SIGBUS) {
        result->faulted = true;
        result->fault = (uint64_t)(uintptr_t)info->si_addr;
        memcpy(result->failure + length, AT, sizeof AT - 1);
        put_address(result->failure + length + sizeof AT - 1, (uint64_t)(uintptr_t)info->si_addr);
    }
    _exit(1);
}

static bool catch_signals(struct shared *shared) {
    static const int NUMBERS[] = {SIGSEGV, SIGBUS, SIGILL,    SIGFPE,
                                  SIGTRAP, SIGSYS, SIGVTALRM, SIGXCPU};
    struct signal_stack *stack =
        mmap(NULL, sizeof *stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return false;
    stack->shared = shared;
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack->room};
    struct sigaction action = {.sa_sigaction = report_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigset_t none;
    sigfillset(&action.sa_mask);
    sigemptyset(&none);
    bool good = !sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        good &= !sigaction(NUMBERS[i], &action, NULL);
    /* The terminal's interrupt is for the parent, which ends the child. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    return good && !sigprocmask(SIG_SETMASK, &none, NULL);
}

static void limit(int resource, rlim_t most) {
    const struct rlimit limits = {most, most};
    setrlimit(resource, &limits);
}

/* Memory needs no limit of its own: nothing but the child itself can map any. */
static void limit_resources(const struct job *job) {
    const double all = (job->options->seconds + 1) * (double)job->count;
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, (rlim_t)all + 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Only calls of x86-64 from at or above 4 GiB, and of them only what place.c and this file need. */
static bool filter_calls(void) {
#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define PASS_IF(number)                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 (uint32_t)offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET, SECCOMP_RET_TRAP),
        LOAD(nr),
        PASS_IF(SYS_mmap),
        PASS_IF(SYS_munmap),
        PASS_IF(SYS_mremap),
        PASS_IF(SYS_brk),
        PASS_IF(SYS_mprotect),
        PASS_IF(SYS_madvise),
        PASS_IF(SYS_clock_gettime),
        PASS_IF(SYS_setitimer),
        PASS_IF(SYS_sigaltstack),
        PASS_IF(SYS_rt_sigreturn),
        PASS_IF(SYS_exit_group),
        BPF_STMT(BPF_RET, SECCOMP_RET_TRAP),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Bytes that are a system call, or could be one: syscall, sysenter, int n. */
static bool could_call(const struct host_kernel *kernel) {
    for (size_t i = 0; i + 1 < kernel->code_size; i++) {
        const uint8_t first = kernel->code[i], second = kernel->code[i + 1];
        if (first == 0xcd || (first == 0x0f && (second == 0x05 || second == 0x34)))
            return true;
    }
    return false;
}

static void start_timer(double seconds) {
    const struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void run_kernel(const struct job *job, struct place *place, size_t number, bool filtered) {
    const struct host_kernel *kernel = job->kernels[number];
    struct host_result *result = &job->shared->results[number];
    struct host_placed placed = {.kernel = kernel};
    job->shared->current = number;
    if (!filtered && could_call(kernel)) {
        fail(result, "may call the system, and this system cannot prevent it");
        return;
    }
    start_timer(job->options->seconds);
    if (place_kernel(place, kernel, &placed.run))
        job->work(job->context, &placed, result);
    else
        fail(result, "cannot have the memory that it needs");
    start_timer(0);
}

static void be_child(const struct job *job, size_t first) {
    struct place place;
    const bool placed = place_init(&place); /* before files can have no size */
    limit_resources(job);
    if (!catch_signals(job->shared) || !placed) {
        fail(&job->shared->results[first], "its address is taken in this process");
        _exit(1);
    }
    const bool filtered = !job->options->unfiltered && filter_calls();
    for (size_t i = first; i < job->count; i++)
        if (job->shared->results[i].state == HOST_NOT_RUN)
            run_kernel(job, &place, i, filtered);
    job->shared->current = job->count;
    _exit(0);
}

/* ---- the parent ---- */

/* Waits until the child's end of the pipe is closed. False: the child had to be ended. */
static bool await_child(const struct job *job, int pipe, pid_t child) {
    const struct host_child_options *options = job->options;
    uint64_t seen = job->shared->current;
    double deadline = clock_monotonic() + PATIENCE * options->seconds;
    struct pollfd ends = {.fd = pipe};
    while (poll(&ends, 1, 50) <= 0) {
        const uint64_t current = job->shared->current;
        watcher_tell(&options->watcher, options->done + current);
        if (current != seen)
            deadline = clock_monotonic() + PATIENCE * options->seconds;
        seen = current;
        if (watcher_stops(&options->watcher) || clock_monotonic() > deadline)
            return kill(child, SIGKILL), false;
    }
    return true;
}

/* What became of the kernel that the child ended in, if it did not say. */
static void judge(const struct job *job, bool ended, int status) {
    const size_t current = (size_t)job->shared->current;
    if (current >= job->count || watcher_stops(&job->options->watcher))
        return;
    struct host_result *result = &job->shared->results[current];
    if (result->state == HOST_FAILED)
        return;
    if (!ended)
        fail(result, name_of(SIGXCPU));
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        fail(result, "was killed from outside");
    else
        fail(result, "destroyed what it runs in");
}

static bool run_child(const struct job *job, size_t first, struct error *error) {
    int ends[2], status = 0;
    if (pipe(ends))
        return error_errno(error, "cannot make a pipe");
    job->shared->current = first;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(job, first);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return error_errno(error, "cannot start a process");
    }
    const bool ended = await_child(job, ends[0], child);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    judge(job, ended, status);
    return true;
}

bool host_child_run(const struct host_kernel *const *kernels, size_t count,
                    const struct host_child_options *options,
                    void (*work)(void *context, const struct host_placed *placed,
                                 struct host_result *result),
                    void *context, struct host_result *results, struct error *error) {
    const size_t bytes = sizeof(struct shared) + count * sizeof *results;
    struct shared *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_errno(error, "cannot share memory with a process");
    const struct job job = {kernels, count, options, work, context, shared};
    memcpy(shared->results, results, count * sizeof *results);
    bool good = true;
    for (size_t next = 0; good && next < count && !watcher_stops(&options->watcher);)
        if (shared->results[next].state != HOST_NOT_RUN)
            next++;
        else if ((good = run_child(&job, next, error)))
            next = (size_t)shared->current + (shared->current < count);
    memcpy(results, shared->results, count * sizeof *results);
    munmap(shared, bytes);
    return good;
}
