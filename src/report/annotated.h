/* A procedure annotated: its code from the file, its values from the store, a machine to compare
 * with, the analysis. */
#pragma once

#include "machine/choice.h"
#include "query/procedure_choice.h"
#include "report/annotation.h"

enum annotate_view { ANNOTATE_BY_EVENT, ANNOTATE_HEAD, ANNOTATE_TIP };

/* Whose schedule samples are compared with. */
struct annotate_machines {
    const char *asked;             /* --machine; NULL: not given */
    bool loaded, own;              /* `one` is; it ran the code */
    struct machine one;            /* asked for, or that of the simulation */
    struct machine_choice *choice; /* else by architecture; NULL: not loaded yet */
};
/* A procedure, read and analysed; all that its annotation refers to. */
struct annotated {
    struct program *program;
    uint32_t image;
    uint8_t *bytes;
    struct procedure_code code;
    struct procedure_profile profile;
    struct analysis analysis;
    struct annotation annotation;
};

/* What was read of builds of files: of several procedures many are in one. */
struct annotate_image {
    struct annotate_image *next;
    struct image_profiles profiles;
};

struct annotate_settings {
    const struct profile_set *set;
    const struct profile_event *event;
    struct program *program;
    struct annotate_machines machines;
    struct annotate_image *images;   /* the last one used first; NULL: none yet */
    struct scheduler *scheduler;     /* the last one used; NULL: none yet */
    const struct machine *scheduled; /* its machine, and view */
    enum schedule_view scheduled_view;
    enum annotate_view view;
    bool exact;  /* executions as they were counted */
    bool source; /* source lines are wanted */
};

/* Frees machines, schedulers and what was read of images. */
void annotate_settings_free(struct annotate_settings *settings);

/* False with an error; annotated_free() either way. The choice outlives it. */
bool annotate(struct annotated *annotated, struct annotate_settings *settings,
              const struct procedure_choice *choice, struct error *error);
void annotated_free(struct annotated *annotated);
