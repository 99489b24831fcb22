#include "util/at_kill.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

enum { FREE, TAKEN, READY }; /* taken: not yet, or no longer, to be done */

static struct place {
    _Atomic int state;
    void (*act)(const void *context);
    const void *context;
    pid_t process;
} places[AT_KILL_PLACES];

void at_kill_add(void (*act)(const void *context), const void *context) {
    for (size_t i = 0; i < AT_KILL_PLACES; i++) {
        int free = FREE;
        if (!atomic_compare_exchange_strong(&places[i].state, &free, TAKEN))
            continue;
        places[i].act = act;
        places[i].context = context;
        places[i].process = getpid();
        atomic_store(&places[i].state, READY);
        return;
    }
}

void at_kill_remove(const void *context) {
    for (size_t i = 0; i < AT_KILL_PLACES; i++)
        if (atomic_load(&places[i].state) == READY && places[i].context == context)
            atomic_store(&places[i].state, FREE);
}

void at_kill_act(void) {
    for (size_t i = 0; i < AT_KILL_PLACES; i++)
        if (atomic_load(&places[i].state) == READY && places[i].process == getpid())
            places[i].act(places[i].context);
}
