#include "live/daemon_push.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "store/address.h"
#include "store/push.h"
#include "util/clock.h"
#include "util/text.h"

enum { FIRST_RETRY_SECONDS = 1, LAST_RETRY_SECONDS = 300, PATIENCE_SECONDS = 10, NICE = 5 };

struct daemon_push {
    const struct daemon_options *options;
    const char *host;
    char address[PATH_MAX]; /* as it may be shown */
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    bool woken, ending, ended;
    struct store *server; /* NULL: not connected */
    struct daemon_push_status status;
    bool told_of_others; /* the thread's own */
};

static double now(void) {
    return clock_seconds(CLOCK_BOOTTIME);
}

__attribute__((format(printf, 2, 3))) static void say(const struct daemon_push *push,
                                                      const char *format, ...) {
    char line[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    push->options->say(line);
}

/* ---- sending ---- */

static void set_server(struct daemon_push *push, struct store *server) {
    pthread_mutex_lock(&push->mutex);
    push->server = server;
    pthread_mutex_unlock(&push->mutex);
}

static void note_queue(struct daemon_push *push, uint64_t waiting, uint64_t bytes) {
    pthread_mutex_lock(&push->mutex);
    push->status.waiting = waiting;
    push->status.waiting_bytes = bytes;
    pthread_mutex_unlock(&push->mutex);
}

static void note_sent(struct daemon_push *push, uint64_t bytes) {
    pthread_mutex_lock(&push->mutex);
    struct daemon_push_status *status = &push->status;
    status->sent++;
    status->last = now();
    status->waiting -= status->waiting > 0;
    status->waiting_bytes -= bytes < status->waiting_bytes ? bytes : status->waiting_bytes;
    pthread_mutex_unlock(&push->mutex);
}

static void tell_of_others(struct daemon_push *push, const struct push *sender) {
    if (!sender->others || push->told_of_others)
        return;
    push->told_of_others = true;
    say(push,
        "%s: host name %s is in use by %s other machine%s as well: their epochs stand under one "
        "name",
        push->address, push->host, text_grouped(sender->others).s, text_plural(sender->others));
}

/* To a server that was not sent to before, other epochs may wait than were known until now. */
static bool send_queue(struct daemon_push *push, struct store *file, struct store *server,
                       struct error *error) {
    struct push sender;
    struct push_queue queue = {0};
    bool good = push_begin(&sender, file, server, error) &&
                push_queue_read(file, push->host, &queue, error);
    if (good)
        note_queue(push, queue.count, queue.bytes);
    for (size_t i = 0; good && i < queue.count; i++) {
        bool present;
        good = push_session(&sender, queue.epochs[i].session, &present, error);
        if (!good)
            break;
        note_sent(push, queue.epochs[i].bytes);
        tell_of_others(push, &sender);
    }
    push_queue_free(&queue);
    push_end(&sender);
    return good;
}

static bool send_to_server(struct daemon_push *push, struct store *file, struct error *error) {
    struct store *server = store_open(push->options->push, STORE_WRITE, error);
    if (!server)
        return false;
    set_server(push, server);
    const bool good = send_queue(push, file, server, error);
    set_server(push, NULL);
    store_close(server);
    return good;
}

/* What waits; connects only if something does. */
static bool send_all(struct daemon_push *push, struct error *error) {
    struct push_queue queue = {0};
    struct store *file = store_open(push->options->store, STORE_WRITE, error);
    bool good = file && push_queue_read(file, push->host, &queue, error);
    if (good)
        note_queue(push, queue.count, queue.bytes);
    if (good && queue.count)
        good = send_to_server(push, file, error);
    push_queue_free(&queue);
    store_close(file);
    return good;
}

/* A failure is said once, not each time. */
static bool try_to_send(struct daemon_push *push) {
    struct error error = {0};
    const bool good = send_all(push, &error);
    pthread_mutex_lock(&push->mutex);
    char *problem = push->status.problem;
    const bool had_problem = problem[0];
    const bool changed = strcmp(problem, good ? "" : error.message) != 0;
    snprintf(problem, sizeof push->status.problem, "%s", good ? "" : error.message);
    pthread_mutex_unlock(&push->mutex);
    if (!good && changed)
        say(push, "cannot send: %s; epochs wait, and it tries again", error.message);
    else if (good && had_problem)
        say(push, "sends to %s again; all that waited is there", push->address);
    return good;
}

/* ---- the thread ---- */

/* Until there is something to send, or so many seconds have passed. True: it is to end. */
static bool wait_for_work(struct daemon_push *push, double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (isfinite(seconds)) {
        until.tv_sec += (time_t)seconds;
        until.tv_nsec += (long)(fmod(seconds, 1) * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    pthread_mutex_lock(&push->mutex);
    while (!push->woken && !push->ending) {
        const int state = isfinite(seconds)
                              ? pthread_cond_timedwait(&push->changed, &push->mutex, &until)
                              : pthread_cond_wait(&push->changed, &push->mutex);
        if (state == ETIMEDOUT)
            break;
    }
    push->woken = false;
    const bool ending = push->ending;
    pthread_mutex_unlock(&push->mutex);
    return ending;
}

/* Many hosts whose server comes back do not ask it all at once. */
static double spread(double seconds, unsigned *seed) {
    return seconds * (0.75 + 0.5 * rand_r(seed) / RAND_MAX);
}

static void *work(void *context) {
    struct daemon_push *push = context;
    unsigned seed = (unsigned)clock_since_1970();
    double retry = 0, wait = 0;
    setpriority(PRIO_PROCESS, 0, NICE); /* of this thread, in Linux */
    for (bool ending = false; !ending;) {
        ending = wait_for_work(push, wait);
        if (try_to_send(push)) {
            retry = 0;
            wait = INFINITY;
        } else {
            retry = retry ? fmin(2 * retry, LAST_RETRY_SECONDS) : FIRST_RETRY_SECONDS;
            wait = spread(retry, &seed);
        }
    }
    pthread_mutex_lock(&push->mutex);
    push->ended = true;
    pthread_cond_broadcast(&push->changed);
    pthread_mutex_unlock(&push->mutex);
    return NULL;
}

/* ---- for the daemon ---- */

struct daemon_push *daemon_push_begin(const struct daemon_options *options, const char *host,
                                      struct error *error) {
    struct daemon_push *push = calloc(1, sizeof *push);
    if (!push)
        return error_null(error, "out of memory");
    push->options = options;
    push->host = host;
    push->status.last = -1;
    store_shown_address(options->push, push->address);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&push->mutex, NULL);
    pthread_cond_init(&push->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if ((errno = pthread_create(&push->thread, NULL, work, push)) != 0) {
        error_errno(error, "cannot begin a thread that sends epochs");
        free(push);
        return NULL;
    }
    return push;
}

void daemon_push_wake(struct daemon_push *push, uint64_t waiting, uint64_t bytes,
                      uint64_t given_up) {
    pthread_mutex_lock(&push->mutex);
    push->status.waiting = waiting;
    push->status.waiting_bytes = bytes;
    push->status.given_up += given_up;
    push->woken |= waiting > 0;
    pthread_cond_broadcast(&push->changed);
    pthread_mutex_unlock(&push->mutex);
}

void daemon_push_read(struct daemon_push *push, struct daemon_push_status *status) {
    pthread_mutex_lock(&push->mutex);
    *status = push->status;
    pthread_mutex_unlock(&push->mutex);
}

void daemon_push_end(struct daemon_push *push) {
    if (!push)
        return;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&push->mutex);
    push->ending = true;
    pthread_cond_broadcast(&push->changed);
    while (!push->ended &&
           pthread_cond_timedwait(&push->changed, &push->mutex, &until) != ETIMEDOUT)
        ;
    if (!push->ended && push->server)
        store_interrupt(push->server);
    pthread_mutex_unlock(&push->mutex);
    pthread_join(push->thread, NULL);
    pthread_cond_destroy(&push->changed);
    pthread_mutex_destroy(&push->mutex);
    free(push);
}
