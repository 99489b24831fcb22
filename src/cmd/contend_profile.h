/* culprit contend --profile: measures one program, a command or a trace, and saves what it is like
 * in a file that contend and throughput take in place of it. */
#ifndef CULPRIT_CMD_CONTEND_PROFILE_H
#define CULPRIT_CMD_CONTEND_PROFILE_H

#include "cmd/sharing_options.h"
#include "model/locality.h"

struct contend_profile_request {
    const struct sharing_options_given *given; /* words: the trace, when there is no command */
    char *const *command;                      /* NULL: a trace */
    const char *path;                          /* of the profile */
    bool stop;                                 /* kill the command at the limit */
    bool frames;
    struct cache_shape shapes[LOCALITY_MAX_LEVELS]; /* beside the machine's own */
    uint32_t shape_count;
};

/* The exit status. */
int contend_profile(const struct contend_profile_request *request, struct error *error);

/* "4096x12,1024x8": adds sets × ways of shared caches. */
bool contend_shapes_add(struct contend_profile_request *request, const char *text,
                        struct error *error);

#endif
