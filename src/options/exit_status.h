/* Exit statuses. Of a verb that runs a command it is the command's own, or STATUS_BROKEN. */
#pragma once

enum {
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_BROKEN = 125, /* culprit failed, not the command */
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127
};
