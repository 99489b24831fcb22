/* A command run on this machine, again and again: what the kernel accounts of each run. */
#pragma once

#include "live/usage.h"
#include "study/study.h"

struct usage_request {
    struct watch *watch;
    char **command;
    const int *descriptors; /* its standard streams, as of command_start(); NULL: the caller's */
    uint32_t runs;          /* ≥ 1 */
    const char *events;     /* to be counted, too; NULL: none */
};

/* Runs it until all runs are done, one fails (its figures count), or a signal comes, which is
 * passed on: the run that it ends counts when it is the first. *exec_status becomes 126 or 127 when
 * the command cannot be run or found. usages_free() either way. */
bool usage_measure(const struct usage_request *request, struct usages *usages, int *exec_status,
                   struct error *error);
void usages_free(struct usages *usages);
