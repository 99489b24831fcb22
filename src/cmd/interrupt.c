/* Global state, as in util/at_kill.c: a signal handler has no other way to find what to interrupt.
 */
#include "cmd/interrupt.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/at_kill.h"
#include "util/clock.h"
#include "util/text.h"

struct watch verb_watch = {.kept = KEPT_FILES_NONE};
static volatile sig_atomic_t begin_signal;

/* Signals this soon after the first belong to the same request: timeout(1) signals the command and
 * then the group that the command is in. */
#define SAME_REQUEST_SECONDS 0.25

/* As the signal would have ended it; held back while it is handled, so on the return from here. */
static void end_at_once(int signal) {
    at_kill_act();
    temporary_abandon(&verb_watch.temporaries);
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(signal);
}

static void handle(int signal) {
    static double asked_at; /* one handler at a time: the signals caught hold each other back */
    if (signal == SIGPIPE && verb_watch.signal)
        return; /* of what is said on the way out */
    if (asked_at && clock_monotonic() - asked_at < SAME_REQUEST_SECONDS)
        return; /* also when the first has been taken meanwhile */
    if (verb_watch.signal && verb_watch.waits_for_command) {
        verb_watch.signal_again = signal;
        return;
    }
    if (verb_watch.signal && verb_watch.finishes_file && !verb_watch.signal_again) {
        asked_at = clock_monotonic();
        verb_watch.signal_again = signal;
        return;
    }
    if (verb_watch.signal) {
        end_at_once(signal);
        return;
    }
    asked_at = clock_monotonic();
    watch_interrupt(&verb_watch, signal);
}

static void note_begin(int signal) {
    begin_signal = signal;
}

const volatile sig_atomic_t *interrupt_await(const struct input_options *input) {
    const int signal = input->on_signal;
    struct sigaction action = {.sa_handler = note_begin, .sa_flags = SA_RESTART};
    if (signal) {
        sigemptyset(&action.sa_mask);
        sigaction(signal, &action, NULL);
        fprintf(stderr, "culprit: the command starts uncaptured; waiting for SIG%s: kill -%s %d\n",
                sigabbrev_np(signal), sigabbrev_np(signal), (int)getpid());
    }
    if (input->seconds)
        fprintf(stderr,
                "culprit: the command runs for %s at most and is then asked to end (SIGTERM); a "
                "server answers some 4 to 6 times later meanwhile (measured with redis-server)\n",
                text_duration(input->seconds).s);
    return signal ? &begin_signal : NULL;
}

static const int HANDLED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
enum { HANDLED_COUNT = sizeof HANDLED / sizeof *HANDLED };

static struct sigaction handling(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < HANDLED_COUNT; i++)
        sigaddset(&action.sa_mask, HANDLED[i]);
    return action;
}

void interrupt_begin(void) {
    const struct sigaction action = handling(end_at_once);
    struct sigaction before;
    for (size_t i = 0; i < HANDLED_COUNT; i++)
        if (sigaction(HANDLED[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(HANDLED[i], &action, NULL);
}

void interrupt_catch_all(void) {
    const struct sigaction action = handling(handle);
    struct sigaction before;
    sigaction(SIGQUIT, &action, NULL);
    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGPIPE, &action, NULL);
}

static void tell(const char *text) {
    progress_clear(&verb_watch.progress);
    fprintf(stderr, "culprit: %s\n", text);
}

void interrupt_catch(void) {
    verb_watch.tell = tell;
    const struct sigaction action = handling(handle);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A terminal that goes away, unless nohup asked to outlive it. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

void interrupt_tell(uint64_t instructions) {
    fprintf(stderr,
            "culprit: interrupted after %s instructions, which are simulated now; another "
            "interrupt ends that too\n",
            text_count(instructions).s);
}
