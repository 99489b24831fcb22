/* Files that debuginfod servers have of a build id, when $DEBUGINFOD_URLS names servers; without it
 * nothing is asked for. They are kept where libdebuginfod keeps them ($DEBUGINFOD_CACHE_PATH and
 * what else debuginfod_find_debuginfo(3) describes).
 *
 * Waiting is bounded: a server from which nothing comes for $DEBUGINFOD_TIMEOUT seconds (5 without
 * it), that refuses the connection, or with which all of this run has waited for a minute is asked
 * no more in this run. What is known of the servers belongs to the process, since several parts of
 * a run ask them. Any thread may ask. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum debug_server_file {
    DEBUG_SERVER_DEBUG_FILE, /* of a stripped program: its symbols and debugging information */
    DEBUG_SERVER_PROGRAM     /* itself */
};

/* Where libdebuginfod keeps such a file, whether or not it is there. False: nowhere. */
bool debug_server_kept(enum debug_server_file file, const uint8_t *build_id, size_t size,
                       char path[PATH_MAX]);

/* Fetches a file, unless it is kept already. What comes is not to be trusted: see whether it has
 * the build id, and debug_server_refuse() it otherwise. False: none to be had. */
bool debug_server_fetch(enum debug_server_file file, const uint8_t *build_id, size_t size,
                        char path[PATH_MAX]);

/* Removes a file that was fetched, and remembers why. */
void debug_server_refuse(const char *path, const char *why);

/* What went wrong so far, a line each, number 0 first; NULL: no more. Valid until the next call of
 * a function of this header. */
const char *debug_server_complaint(unsigned number);
