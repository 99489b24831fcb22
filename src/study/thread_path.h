/* Finds the critical path of a program with threads. */
#pragma once

#include "simulate/thread_path.h"

struct watch;

/* Of the whole trace in a file, simulated twice on this machine. thread_path_free() either way. */
bool thread_path_find(struct watch *watch, const char *file, const struct machine *machine,
                      const struct selection *selection, struct thread_path *path,
                      struct error *error);
void thread_path_free(struct thread_path *path);
