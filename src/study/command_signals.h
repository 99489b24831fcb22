/* What a user's signals do to a command that a study runs on this machine. The first is passed on,
 * and the study goes on to the command's end. The second ends the command, which may have ignored
 * the first: by SIGTERM, and by SIGKILL two seconds later. The study then ends in order. */
#pragma once

#include <sys/types.h>

#include "study/study.h"

struct command_signals {
    struct watch *watch;
    pid_t pid;
    double passed_at, ended_at; /* of the monotonic clock; 0: not yet */
    bool told, killed;
};

/* The command runs from now on: signals of the watch are about it. */
struct command_signals command_signals_begin(struct watch *watch, pid_t pid);
/* To be called ten times a second or so, until the command has ended. */
void command_signals_pass(struct command_signals *signals);
/* The command has ended, and a second signal kills culprit as in other studies. */
void command_signals_end(struct command_signals *signals);
