/* Inside of this room: how a struct call_profile is made, whatever the calls come from. */
#pragma once

#include "query/call_profile.h"

/* With its first frame. False: out of memory. */
bool call_profile_begin(struct call_profile *profile);
/* The procedure of this name in an image, of either 4095 bytes at most; UINT32_MAX: out of memory.
 */
uint32_t call_profile_add_procedure(struct call_profile *profile, const char *image,
                                    const char *name, uint32_t cut);
/* The frame of a procedure called by that of another frame, recursion folded. CALL_NONE_FRAME: out
 * of memory. */
uint32_t call_profile_frame(struct call_profile *profile, uint32_t caller, uint32_t procedure);
/* By frame and events, each once. */
void call_profile_sort_cells(struct call_profile *profile);
/* Sums what callers and procedures have, once all frames have what they have themselves. False: out
 * of memory. */
bool call_profile_settle(struct call_profile *profile);
