/* The functions of code that a process compiled at run time, as its jitdump names them
 * (program/jitdump.h). */
#pragma once

#include "live/live.h"
#include "live/proc_files.h"

struct dumped_code;

/* The dump of a process that has this file mapped. While the process runs it is opened as the
 * process sees it, and must be its user's or root's; `user` and `command` do not count then. When
 * it has ended, only a dump of its number counts, which must be of `user` or root. NULL: there is
 * none, or memory is out. */
struct dumped_code *dumped_code_open(const struct live_roots *roots, uint32_t pid, const char *path,
                                     uid_t user, const char *command);
void dumped_code_free(struct dumped_code *dumped);

/* As of struct jitdump. */
bool dumped_code_read(struct dumped_code *dumped);
uint64_t dumped_code_time(const struct dumped_code *dumped);

/* The function that was at the address of an anonymous frame at a time, in place of the address.
 * The frame holds its function then. Other frames, and those of which the dump does not tell, stay
 * as they are. False: out of memory. */
bool dumped_code_name(struct dumped_code *dumped, uint64_t time, struct live_frame *frame);
/* The same without a time: only where no other function ever was. */
bool dumped_code_name_only(struct dumped_code *dumped, struct live_frame *frame);
