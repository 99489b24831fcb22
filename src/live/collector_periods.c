/* DCPI draws the distance to the next sample anew at every sample, uniformly in 60K to 64K cycles
 * (§4.1.1), so that no periodic behaviour is met always in the same phase. A BPF program cannot
 * re-arm its event. A thread draws a new period for each event and processor every 50 to 150 ms
 * instead, which also starts the distance over: phases of processors are unrelated, and a program
 * that happens to run in step with one period is out of step with the next. */
#include "live/collector_parts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "live/event.h"

enum { STRETCH_MIN_MS = 50, STRETCH_SPREAD_MS = 101 };

/* xorshift64* (Vigna 2016) */
static uint64_t draw(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static void draw_periods(struct collector *collector, uint64_t *random) {
    for (size_t event = 0; event < collector->event_count; event++)
        for (size_t i = 0; i < collector->configuration.processors; i++) {
            const struct collector_counter *counter =
                &collector->counters[event * collector->configuration.processors + i];
            uint64_t period = live_event_period(&collector->events[event], draw(random));
            /* Fails only when the processor has just gone off line. */
            if (counter->link)
                ioctl(counter->descriptor, PERF_EVENT_IOC_PERIOD, &period);
        }
}

void collector_set_periods(struct collector *collector, const struct live_event *events) {
    pthread_mutex_lock(&collector->lock);
    for (size_t i = 0; i < collector->event_count; i++)
        collector->events[i].period = events[i].period;
    uint64_t random = collector->configuration.seed ^ events->period;
    random |= 1;
    draw_periods(collector, &random);
    pthread_mutex_unlock(&collector->lock);
}

static void *keep_drawing(void *context) {
    struct collector *collector = context;
    uint64_t random = collector->configuration.seed | 1;
    pthread_mutex_lock(&collector->lock);
    while (!collector->stopping) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(STRETCH_MIN_MS + draw(&random) % STRETCH_SPREAD_MS) * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&collector->stop, &collector->lock, &until) == ETIMEDOUT)
            draw_periods(collector, &random);
    }
    pthread_mutex_unlock(&collector->lock);
    return NULL;
}

bool collector_start_periods(struct collector *collector, struct error *error) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->stop, &attributes);
    pthread_condattr_destroy(&attributes);
    /* Signals are the other threads' affair. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&collector->periods, NULL, keep_drawing, collector);
    collector->thread_started = errno == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!collector->thread_started) {
        pthread_cond_destroy(&collector->stop);
        return error_errno(error, "a thread");
    }
    return true;
}

void collector_stop_periods(struct collector *collector) {
    if (!collector->thread_started)
        return;
    pthread_mutex_lock(&collector->lock);
    collector->stopping = true;
    pthread_cond_signal(&collector->stop);
    pthread_mutex_unlock(&collector->lock);
    pthread_join(collector->periods, NULL);
    pthread_cond_destroy(&collector->stop);
}
