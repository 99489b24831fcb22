/* A thread waits once in each call that waits for events, until its time limit runs out, and once
 * with no limit, until another writes to a pipe. In between, each looks only, with a limit of 0. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int pipe_ends[2], told[2], queue;

/* The calls themselves: the C library may make one of another. Their sum: of events. */
static long wait_in_each(int limit_ms) {
    const struct timespec given = {.tv_nsec = limit_ms * 1000000L};
    struct timespec time[] = {given, given};
    struct timeval interval = {.tv_usec = limit_ms * 1000L};
    struct pollfd polled = {.fd = pipe_ends[0], .events = POLLIN};
    struct epoll_event event;
    long events = 0;
#ifdef SYS_poll
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe_ends[0], &set);
    events += syscall(SYS_poll, &polled, 1, limit_ms);
    events += syscall(SYS_select, pipe_ends[0] + 1, &set, NULL, NULL, &interval);
    events += syscall(SYS_epoll_wait, queue, &event, 1, limit_ms);
#endif
    events += syscall(SYS_ppoll, &polled, 1, &time[0], NULL, 0);
    events += syscall(SYS_pselect6, 0, NULL, NULL, NULL, &time[1], NULL);
    events += syscall(SYS_epoll_pwait, queue, &event, 1, limit_ms, NULL, 0);
    return events;
}

static void *wait(void *context) {
    struct pollfd polled = {.fd = pipe_ends[0], .events = POLLIN};
    (void)context;
    if (wait_in_each(0) || wait_in_each(2) || wait_in_each(0) || write(told[1], "", 1) != 1)
        return &queue;
    return poll(&polled, 1, -1) == 1 ? NULL : &queue;
}

int main(void) {
    struct epoll_event event = {.events = EPOLLIN};
    pthread_t thread;
    void *failed;
    queue = epoll_create1(0);
    if (pipe(pipe_ends) || pipe(told) || epoll_ctl(queue, EPOLL_CTL_ADD, pipe_ends[0], &event) ||
        pthread_create(&thread, NULL, wait, NULL))
        return 1;
    char limits_are_over;
    if (read(told[0], &limits_are_over, 1) != 1 || write(pipe_ends[1], "", 1) != 1 ||
        pthread_join(thread, &failed))
        return 1;
    return failed != NULL;
}
