#include "study/command_signals.h"

#include <stdio.h>
#include <unistd.h>

#include "util/clock.h"

static const double TELL_SECONDS = 1; /* of going on after a signal, before a line says so */
static const double KILL_SECONDS = 2; /* between SIGTERM and SIGKILL */

struct command_signals command_signals_begin(struct watch *watch, pid_t pid) {
    watch->signal_again = 0;
    watch->waits_for_command = 1;
    return (struct command_signals){.watch = watch, .pid = pid};
}

/* A terminal tells all of its foreground, the command included; others tell culprit alone. */
static bool terminal_tells(int signal) {
    return (signal == SIGINT || signal == SIGQUIT) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void pass_first(struct command_signals *signals, double now) {
    signals->passed_at = now;
    if (!terminal_tells(signals->watch->signal))
        kill(signals->pid, signals->watch->signal);
}

static void tell(struct command_signals *signals) {
    signals->told = true;
    if (signals->watch->tell)
        signals->watch->tell("the command goes on; another signal ends it");
}

void command_signals_pass(struct command_signals *signals) {
    const struct watch *watch = signals->watch;
    if (!watch->signal || signals->killed)
        return;
    const double now = clock_monotonic();
    if (!signals->passed_at)
        pass_first(signals, now);
    if (watch->signal_again && !signals->ended_at) {
        signals->ended_at = now;
        kill(signals->pid, SIGTERM);
    } else if (signals->ended_at && now - signals->ended_at >= KILL_SECONDS) {
        signals->killed = true;
        kill(signals->pid, SIGKILL);
    } else if (!signals->told && now - signals->passed_at >= TELL_SECONDS) {
        tell(signals);
    }
}

void command_signals_end(struct command_signals *signals) {
    if (signals->watch)
        signals->watch->waits_for_command = 0;
}
