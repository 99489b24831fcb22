/* A priority queue in an array of structs of 72 bytes: what is smallest is taken out and put back
 * with a later time, so that elements move along a path of the tree. -DREMEDY: the time and the
 * number of the rest are in the queue, the rest stands still. */
#include <stdlib.h>

enum { COUNT = 1 << 15, STEPS = 20000 };

struct rest {
    long owner;
    char what[48];
    long flags;
};
#ifdef REMEDY
struct event {
    unsigned long time;
    struct rest *rest;
};
struct rest rests[COUNT];
#else
struct event {
    unsigned long time;
    struct rest rest;
};
#endif
struct event events[COUNT];

__attribute__((noinline)) static unsigned long earliest_child(const struct event *all,
                                                              unsigned long at) {
    unsigned long best = 2 * at + 1;
    if (best + 1 < COUNT && all[best + 1].time < all[best].time)
        best++;
    return best;
}

/* How deep an event of this time would sink. */
__attribute__((noinline)) static unsigned long sink(const struct event *all, unsigned long time) {
    unsigned long at = 0, depth = 0;
    while (2 * at + 1 < COUNT) {
        const unsigned long child = earliest_child(all, at);
        if (all[child].time >= time)
            break;
        at = child;
        depth++;
    }
    return depth;
}

int main(void) {
    unsigned long random = 9, depth = 0;
    for (long i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        events[i].time = (unsigned long)i * 4 + (random >> 62);
#ifdef REMEDY
        events[i].rest = &rests[i];
        events[i].rest->owner = i;
#else
        events[i].rest.owner = i;
#endif
    }
    for (long i = 0; i < STEPS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        depth += sink(events, (random >> 33) % (4 * COUNT));
    }
    return depth == 0;
}
