/* A thread is numbered, and told of, by the thread that makes it and before it runs.
 *
 * QEMU 7.2 calls for a new vCPU on the thread that makes it. Later versions call on the new thread,
 * as the first thing that it does: it waits there for its maker, whose call of clone returns the
 * number that the kernel has for the new thread. */
#include "trace/qemu/plugin.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 10 };

struct birth {
    struct birth *next;
    unsigned vcpu;
    pid_t tid;
    bool told;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER;
static struct birth *waiting; /* each on its thread's stack */
static bool begun;            /* the first thread is told of */

static THREAD_LOCAL enum { NOTHING, MAKES, HAS_MADE } maker; /* in the call that it is in */

/* QEMU translates everything anew when the guest makes its second thread, or when it first maps
 * shared memory (plugin_system.c). A translation left from before takes the slow path. */
static void tell(unsigned vcpu) {
    plugin.parallel |= thread_created(vcpu) > 0;
}

static struct timespec patience(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    return until;
}

static struct birth *find(pid_t tid) {
    struct birth *birth = waiting;
    while (birth && birth->tid != tid)
        birth = birth->next;
    return birth;
}

static void forget(const struct birth *birth) {
    struct birth **at = &waiting;
    while (*at && *at != birth)
        at = &(*at)->next;
    if (*at)
        *at = birth->next;
}

/* On the new thread. Its maker may be gone. */
static void wait_for_maker(unsigned vcpu) {
    struct birth own = {.vcpu = vcpu, .tid = gettid()};
    const struct timespec until = patience();
    pthread_mutex_lock(&lock);
    own.next = waiting;
    waiting = &own;
    pthread_cond_broadcast(&met);
    while (!own.told && pthread_cond_timedwait(&met, &lock, &until) == 0)
        ;
    forget(&own);
    if (!own.told)
        tell(vcpu);
    pthread_mutex_unlock(&lock);
}

void birth_of_vcpu(unsigned vcpu) {
    if (begun && maker == NOTHING) {
        wait_for_maker(vcpu);
        return;
    }
    begun = true;
    maker = maker == MAKES ? HAS_MADE : maker;
    tell(vcpu);
}

/* The emulator forks where vfork is asked for. */
void birth_begins(uint64_t flags) {
    maker = flags & CLONE_VM && !(flags & CLONE_VFORK) ? MAKES : NOTHING;
}

void birth_ends(int64_t result) {
    const bool waits = maker == MAKES && result > 0;
    maker = NOTHING;
    if (!waits)
        return;
    const struct timespec until = patience();
    struct birth *birth;
    pthread_mutex_lock(&lock);
    while (!(birth = find((pid_t)result)) && pthread_cond_timedwait(&met, &lock, &until) == 0)
        ;
    if (birth && !birth->told) {
        tell(birth->vcpu);
        birth->told = true;
        pthread_cond_broadcast(&met);
    }
    pthread_mutex_unlock(&lock);
}

void birth_forked(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&met, NULL);
    waiting = NULL;
    maker = NOTHING;
}
