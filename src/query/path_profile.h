/* Who called whom in a simulation, as query/call_profile.h has it of live samples. */
#pragma once

#include "query/call_profile.h"
#include "simulate/simulate.h"

/* Of a simulation with call paths; values are cycles. False, with an error; call_profile_free()
 * either way. */
bool path_profile_read(struct call_profile *profile, const struct simulation *simulation,
                       const struct code *code, struct program *program, struct error *error);

/* The frame that each of its paths has in a profile that was read of it, to be freed. NULL: out of
 * memory. */
uint32_t *path_profile_frames(struct call_profile *profile, const struct simulation *simulation,
                              const struct code *code, struct program *program);
