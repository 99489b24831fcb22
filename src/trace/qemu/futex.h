/* Futexes on memory shared between processes. */
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `seen`, at most so long. False: the time is over. */
static inline bool futex_wait(_Atomic uint32_t *word, uint32_t seen, long nanoseconds) {
    struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0) == 0 || errno != ETIMEDOUT;
}

static inline void futex_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
