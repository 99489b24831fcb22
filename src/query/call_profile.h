/* Who called whom: the calling context trees of a set of epochs, by procedure. A frame is a
 * procedure in one chain of callers. Recursion, of one procedure or of several that call each other
 * in turn, is folded: of a repeated run of frames there is one. What is called again from elsewhere
 * has a frame of its own. */
#pragma once

#include "program/program.h"
#include "query/profile_set.h"
#include "util/hash_index.h"
#include "util/intern.h"

struct call_procedure {
    const char *name;  /* "longest_match", "gzip+0x4f20", "[no symbols]" */
    const char *image; /* path; "" of a cut */
    uint32_t cut;      /* enum store_cut: no procedure, but why outermost frames are not known; 0 */
    bool nameless;     /* code of an image of which no procedure is known: maybe several */
    double self, total; /* values of it alone, and of it and what it called: each stack once */
    double self_instructions, instructions; /* likewise; of simulations */
};

#define CALL_NONE_FRAME UINT32_MAX

struct call_frame {
    uint32_t parent;    /* index; CALL_NONE_FRAME of the first frame, which is everything */
    uint32_t procedure; /* index; of the first frame of no meaning */
    double self, total; /* likewise */
    double self_instructions, instructions;
    double calls;          /* times that it was entered; of simulations */
    uint32_t first, count; /* its children: in `order` */
};

struct call_frames {
    struct call_frame *items; /* parents before children */
    size_t count, capacity;
    uint32_t *order; /* frames by parent, those with the largest total first */
    struct hash_index index;
};

/* Values of a frame itself, of a simulation, by their events. */
struct call_cell {
    uint32_t frame, psv;
    double value;
};

struct call_profile {
    struct call_procedure *procedures;
    size_t procedure_count, procedure_capacity;
    struct intern names;       /* of procedures: image and name; numbers are those of procedures */
    struct call_frames frames; /* from the outermost down */
    double truncated, failed;  /* values of stacks that are cut */
    struct call_cell *cells;   /* by frame, then psv; of simulations */
    size_t cell_count;
    bool simulated; /* values are cycles */
};

struct call_query {
    const char *process;               /* as in struct profile_table_options */
    const struct profile_event *event; /* of the set */
};

/* False, with an error: there are none in the set, the store cannot be read, or memory is out.
 * call_profile_free() either way. */
bool call_profile_read(struct call_profile *profile, const struct profile_set *set,
                       const struct call_query *query, struct program *program,
                       struct error *error);
void call_profile_free(struct call_profile *profile);

/* The procedures by their own values, largest first: indices, to be freed. NULL: out of memory. */
uint32_t *call_profile_sorted(const struct call_profile *profile);

/* The procedure that a person names ("f", "Class::f", with parameters or without; with an image
 * before it, "gzip:f"), that with the largest total where several are; UINT32_MAX with an error
 * that names some that are near. */
uint32_t call_profile_find(const struct call_profile *profile, const char *name,
                           struct error *error);

/* The callers of a procedure: a tree upside down, in which the first frame is the procedure and
 * each frame's children are its callers. Values are those of the procedure itself, or, `inclusive`,
 * also of what it called. False: out of memory. call_frames_free() either way. */
bool call_profile_callers(const struct call_profile *profile, uint32_t procedure, bool inclusive,
                          struct call_frames *callers);
void call_frames_free(struct call_frames *frames);
