/* Names of the commit states (paper A §2). */
#include "attribute/attribute.h"

const char *commit_state_name(enum commit_state state) {
    static const char *const names[STATE_COUNT] = {"computing", "stalled", "flushed", "drained"};
    return (unsigned)state < STATE_COUNT ? names[state] : "?";
}
