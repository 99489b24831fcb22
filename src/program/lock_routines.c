#include "program/lock_routines.h"

#include <stddef.h>
#include <string.h>

#include "program/function_name.h"
#include "util/array.h"

enum { SHARED = 1, MAY_FAIL = 2, AT_ONCE = 4 };

static const struct row {
    const char *name;
    enum lock_action action;
    enum lock_object object;
    unsigned flags;
} ROUTINES[] = {
    {"pthread_mutex_lock", LOCK_ACQUIRE, LOCK_OF_MUTEX, 0},
    {"pthread_mutex_trylock", LOCK_ACQUIRE, LOCK_OF_MUTEX, MAY_FAIL | AT_ONCE},
    {"pthread_mutex_timedlock", LOCK_ACQUIRE, LOCK_OF_MUTEX, MAY_FAIL},
    {"pthread_mutex_clocklock", LOCK_ACQUIRE, LOCK_OF_MUTEX, MAY_FAIL},
    {"pthread_mutex_unlock", LOCK_RELEASE, LOCK_OF_MUTEX, 0},
    {"mtx_lock", LOCK_ACQUIRE, LOCK_OF_MUTEX, 0},
    {"mtx_trylock", LOCK_ACQUIRE, LOCK_OF_MUTEX, MAY_FAIL | AT_ONCE},
    {"mtx_timedlock", LOCK_ACQUIRE, LOCK_OF_MUTEX, MAY_FAIL},
    {"mtx_unlock", LOCK_RELEASE, LOCK_OF_MUTEX, 0},
    {"pthread_spin_lock", LOCK_ACQUIRE, LOCK_OF_SPIN_LOCK, 0},
    {"pthread_spin_trylock", LOCK_ACQUIRE, LOCK_OF_SPIN_LOCK, MAY_FAIL | AT_ONCE},
    {"pthread_spin_unlock", LOCK_RELEASE, LOCK_OF_SPIN_LOCK, 0},
    {"pthread_spin_init", LOCK_RELEASE, LOCK_OF_SPIN_LOCK, 0}, /* the same code, in glibc */
    {"pthread_rwlock_rdlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, SHARED},
    {"pthread_rwlock_tryrdlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK,
     SHARED | MAY_FAIL | AT_ONCE},
    {"pthread_rwlock_timedrdlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, SHARED | MAY_FAIL},
    {"pthread_rwlock_clockrdlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, SHARED | MAY_FAIL},
    {"pthread_rwlock_wrlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, 0},
    {"pthread_rwlock_trywrlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, MAY_FAIL | AT_ONCE},
    {"pthread_rwlock_timedwrlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, MAY_FAIL},
    {"pthread_rwlock_clockwrlock", LOCK_ACQUIRE, LOCK_OF_READ_WRITE_LOCK, MAY_FAIL},
    {"pthread_rwlock_unlock", LOCK_RELEASE, LOCK_OF_READ_WRITE_LOCK, 0},
    {"pthread_cond_wait", LOCK_WAIT, LOCK_OF_CONDITION, 0},
    {"pthread_cond_timedwait", LOCK_WAIT, LOCK_OF_CONDITION, MAY_FAIL},
    {"pthread_cond_clockwait", LOCK_WAIT, LOCK_OF_CONDITION, MAY_FAIL},
    {"pthread_cond_signal", LOCK_SIGNAL, LOCK_OF_CONDITION, 0},
    {"pthread_cond_broadcast", LOCK_BROADCAST, LOCK_OF_CONDITION, 0},
    {"cnd_wait", LOCK_WAIT, LOCK_OF_CONDITION, 0},
    {"cnd_timedwait", LOCK_WAIT, LOCK_OF_CONDITION, MAY_FAIL},
    {"cnd_signal", LOCK_SIGNAL, LOCK_OF_CONDITION, 0},
    {"cnd_broadcast", LOCK_BROADCAST, LOCK_OF_CONDITION, 0},
    {"pthread_barrier_wait", LOCK_MEET, LOCK_OF_BARRIER, 0},
    {"sem_wait", LOCK_ACQUIRE, LOCK_OF_SEMAPHORE, 0},
    {"sem_trywait", LOCK_ACQUIRE, LOCK_OF_SEMAPHORE, MAY_FAIL | AT_ONCE},
    {"sem_timedwait", LOCK_ACQUIRE, LOCK_OF_SEMAPHORE, MAY_FAIL},
    {"sem_clockwait", LOCK_ACQUIRE, LOCK_OF_SEMAPHORE, MAY_FAIL},
    {"sem_post", LOCK_RELEASE, LOCK_OF_SEMAPHORE, 0},
    {"pthread_join", LOCK_JOIN, LOCK_OF_THREAD, 0},
    {"pthread_tryjoin_np", LOCK_JOIN, LOCK_OF_THREAD, MAY_FAIL | AT_ONCE},
    {"pthread_timedjoin_np", LOCK_JOIN, LOCK_OF_THREAD, MAY_FAIL},
    {"pthread_clockjoin_np", LOCK_JOIN, LOCK_OF_THREAD, MAY_FAIL},
    {"thrd_join", LOCK_JOIN, LOCK_OF_THREAD, 0},
    /* inside of glibc */
    {"pthread_mutex_lock_full", LOCK_ACQUIRE, LOCK_OF_MUTEX, 0},
    {"pthread_mutex_cond_lock", LOCK_ACQUIRE, LOCK_OF_MUTEX, 0},
    {"pthread_mutex_unlock_usercnt", LOCK_RELEASE, LOCK_OF_MUTEX, 0},
    {"pthread_mutex_unlock_full", LOCK_RELEASE, LOCK_OF_MUTEX, 0},
    {"new_sem_wait", LOCK_ACQUIRE, LOCK_OF_SEMAPHORE, 0},
    {"new_sem_trywait", LOCK_ACQUIRE, LOCK_OF_SEMAPHORE, MAY_FAIL | AT_ONCE},
    {"new_sem_post", LOCK_RELEASE, LOCK_OF_SEMAPHORE, 0},
    {"pthread_clockjoin_ex", LOCK_JOIN, LOCK_OF_THREAD, 0},
    {"lll_lock_wait", LOCK_SLEEP, LOCK_OF_MUTEX, 0},
    {"lll_lock_wait_private", LOCK_SLEEP, LOCK_OF_MUTEX, 0},
    {"lll_timedlock_wait", LOCK_SLEEP, LOCK_OF_MUTEX, MAY_FAIL},
    {"lll_clocklock_wait", LOCK_SLEEP, LOCK_OF_MUTEX, MAY_FAIL},
    {"new_sem_wait_slow64", LOCK_SLEEP, LOCK_OF_SEMAPHORE, 0},
    {"futex_abstimed_wait_cancelable64", LOCK_SLEEP, LOCK_OF_NOTHING, MAY_FAIL},
    {"futex_abstimed_wait64", LOCK_SLEEP, LOCK_OF_NOTHING, MAY_FAIL},
    {"futex_lock_pi64", LOCK_SLEEP, LOCK_OF_MUTEX, MAY_FAIL},
};

/* Rust's, by the ends of their scoped names: what comes before differs between versions
 * (std::sys::unix::locks::futex_mutex::, std::sys::sync::mutex::futex::). */
static const struct row RUST[] = {
    {"Mutex::lock_contended", LOCK_SLEEP, LOCK_OF_MUTEX, 0},
    {"Mutex::wake", LOCK_RELEASE, LOCK_OF_MUTEX, 0},
    {"RwLock::read_contended", LOCK_SLEEP, LOCK_OF_READ_WRITE_LOCK, SHARED},
    {"RwLock::write_contended", LOCK_SLEEP, LOCK_OF_READ_WRITE_LOCK, 0},
    {"RwLock::wake_writer_or_readers", LOCK_RELEASE, LOCK_OF_READ_WRITE_LOCK, 0},
    {"Condvar::wait", LOCK_WAIT, LOCK_OF_CONDITION, 0},
    {"Condvar::wait_optional_timeout", LOCK_WAIT, LOCK_OF_CONDITION, MAY_FAIL},
    {"Condvar::notify_one", LOCK_SIGNAL, LOCK_OF_CONDITION, 0},
    {"Condvar::notify_all", LOCK_BROADCAST, LOCK_OF_CONDITION, 0},
};

static struct lock_routine routine(const struct row *row) {
    return (struct lock_routine){row->action, row->object, (row->flags & SHARED) != 0,
                                 (row->flags & MAY_FAIL) != 0, (row->flags & AT_ONCE) != 0};
}

static const char *without_prefixes(const char *symbol) {
    if (strncmp(symbol, "__GI_", 5) == 0)
        symbol += 5;
    while (*symbol == '_')
        symbol++;
    return symbol;
}

static const struct row *find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof ROUTINES / sizeof *ROUTINES; i++)
        if (strncmp(ROUTINES[i].name, name, length) == 0 && !ROUTINES[i].name[length])
            return &ROUTINES[i];
    return NULL;
}

static const struct row *find_rust(const char *symbol) {
    if (strncmp(symbol, "std::sys", 8) != 0 || !strstr(symbol, "futex"))
        return NULL;
    for (size_t i = 0; i < sizeof RUST / sizeof *RUST; i++)
        if (function_ends_in(symbol, RUST[i].name, strlen(RUST[i].name)))
            return &RUST[i];
    return NULL;
}

struct lock_routine lock_routine_of(const char *symbol) {
    const char *name = without_prefixes(symbol), *version = strchr(name, '@');
    size_t length = version ? (size_t)(version - name) : strlen(name);
    const struct row *row = find(name, length);
    if (version && strcmp(version, "@plt") == 0)
        row = NULL;
    else if (!row)
        row = find_rust(symbol);
    return row ? routine(row) : (struct lock_routine){.action = LOCK_NONE};
}

/* What Go's run-time system does for memory: allocation, sweeping and marking. By the beginnings of
 * names. */
static bool is_memory_of_go(const char *symbol) {
    static const char *const BEGINNINGS[] = {
        "(*activeSweep).", "(*fixalloc).", "(*gcBitsArena).", "(*gcControllerState).",
        "(*gcWork).",      "(*lfstack).",  "(*mcache).",      "(*mcentral).",
        "(*mheap).",       "(*mspan).",    "(*pageAlloc).",   "(*pallocBits).",
        "(*pageCache).",   "(*spanSet).",  "(*sweepLocked).", "(*sweepLocker).",
        "(*wbBuf).",       "bgscavenge",   "bgsweep",         "deductSweepCredit",
        "gcAssistAlloc",   "gcDrain",      "gcFlushBgCredit", "gcParkAssist",
        "gcmarknewobject", "getempty",     "greyobject",      "heapBits",
        "mallocgc",        "markroot",     "newAllocBits",    "newMarkBits",
        "putempty",        "putfull",      "scanblock",       "scanobject",
        "scanstack",       "stackalloc",   "stackcache",      "stackfree",
        "stackpool",       "sweepone",     "trygetfull",      "wbBufFlush",
    };
    static const char PACKAGE[] = "runtime.";
    if (strncmp(symbol, PACKAGE, sizeof PACKAGE - 1) != 0)
        return false;
    symbol += sizeof PACKAGE - 1;
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof *BEGINNINGS; i++)
        if (strncmp(symbol, BEGINNINGS[i], strlen(BEGINNINGS[i])) == 0)
            return true;
    return false;
}

bool lock_routine_is_internal(const char *symbol) {
    static const char *const INTERNAL[] = {"pthread_create",
                                           "pthread_create_2_1",
                                           "pthread_exit",
                                           "start_thread",
                                           "nptl_deallocate_stack",
                                           "nptl_free_tcb",
                                           "malloc",
                                           "calloc",
                                           "realloc",
                                           "free",
                                           "memalign",
                                           "aligned_alloc",
                                           "posix_memalign",
                                           "libc_malloc",
                                           "libc_calloc",
                                           "libc_realloc",
                                           "libc_free",
                                           "libc_memalign",
                                           "int_malloc",
                                           "int_free",
                                           "int_realloc",
                                           "int_memalign",
                                           "arena_get2",
                                           "arena_get_retry",
                                           "arena_thread_freeres",
                                           "malloc_arena_thread_freeres",
                                           "detach_arena",
                                           "get_free_list",
                                           "int_new_arena",
                                           "tcache_init",
                                           "sysmalloc",
                                           "systrim",
                                           "malloc_consolidate"};
    if (is_memory_of_go(symbol))
        return true;
    const char *name = without_prefixes(symbol);
    const size_t length = strcspn(name, "@."); /* before a version, ".part.0", ".constprop.0" */
    if (strcmp(name + length, "@plt") == 0)
        return false;
    for (size_t i = 0; i < sizeof INTERNAL / sizeof *INTERNAL; i++)
        if (strncmp(INTERNAL[i], name, length) == 0 && !INTERNAL[i][length])
            return true;
    return false;
}

bool lock_routine_is_for_caller(const char *symbol) {
    static const char *const OF_GO[] = {
        "futex.abi0", "futexsleep", "futexwakeup", "lock2",       "lockWithRank",
        "mPark",      "notesleep",  "notetsleep",  "notetsleepg", "notetsleep_internal",
        "notewakeup", "semasleep",  "semawakeup",  "unlock2",
    };
    if (strncmp(symbol, "runtime.", 8) == 0)
        return any_where(i, sizeof OF_GO / sizeof *OF_GO, strcmp(symbol + 8, OF_GO[i]) == 0);
    return lock_routine_of(symbol).action == LOCK_SLEEP;
}

bool lock_routine_is_monitor(const char *symbol) {
    return strcmp(symbol, "runtime.sysmon") == 0;
}
