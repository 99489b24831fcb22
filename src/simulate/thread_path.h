/* The critical path of a program with threads, over all of them: from thread to thread, by wait,
 * and by instruction. Found by study/thread_path.h. */
#pragma once

#include "simulate/simulate.h"

struct thread_path {
    bool known;                   /* else there is one thread, or it was interrupted */
    const char *apart;            /* why it is not: threads are not simulated together; NULL */
    struct simulation simulation; /* threads together; its cells are those of the path */
    struct trace *trace;          /* read to its end: for the code */
};
