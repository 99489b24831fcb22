/* The critical path of a program with threads, over all of them: from thread to thread, by wait,
 * and by instruction. */
#pragma once

#include "simulate/simulate.h"

struct watch;
struct thread_path {
    bool known;                   /* else there is one thread, or it was interrupted */
    const char *apart;            /* why it is not: threads are not simulated together; NULL */
    struct simulation simulation; /* threads together; its cells are those of the path */
    struct trace *trace;          /* read to its end: for the code */
};

/* Of the whole trace in a file, simulated twice on this machine. thread_path_free() either way. */
bool thread_path_find(struct watch *watch, const char *file, const struct machine *machine,
                      const struct selection *selection, struct thread_path *path,
                      struct error *error);
void thread_path_free(struct thread_path *path);
