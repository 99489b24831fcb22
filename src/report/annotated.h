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
/* The processor that the epochs were sampled on; of one whose kind is not told, the name, or
 * nothing. False with an error: they are of several. */
bool annotate_processor_of(const struct profile_set *set, struct processor *processor,
                           struct error *error);
/* Whether it is of this host's kind, as far as is told. */
bool annotate_is_here(const struct processor *processor);

/* For code of `isa` that the set's samples are of: asked for; that of the simulation; else that of
 * the processor that was sampled, this host's if it is of the same kind, or if the epochs do not
 * tell; machine->chosen says why. NULL with an error. */
const struct machine *annotate_machine_of(struct annotate_machines *machines,
                                          const struct profile_set *set, enum isa isa,
                                          struct error *error);

/* A procedure, read and analysed; all that its annotation refers to. */
struct annotated {
    struct program *program;
    uint32_t image;
    uint8_t *bytes;
    struct procedure_code code;
    struct procedure_profile profile;
    struct procedure_profile simulated_profile;
    struct annotation_simulated simulated;
    double *executions; /* of all epochs, as simulated */
    struct analysis analysis;
    struct annotation annotation;
};

/* What was read of builds of files: of several procedures many are in one. */
struct annotate_image {
    struct annotate_image *next;
    struct image_profiles profiles;
};

/* A simulation of what was sampled: its epoch, of whichever store. */
struct annotate_simulation {
    const struct profile_set *set; /* NULL: there is none */
    struct annotate_image *images; /* as below */
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
    struct annotation_skid skid;
    bool skid_known; /* it was looked for */
    struct annotate_simulation simulation;
    enum annotate_view view;
    bool exact;  /* executions as they were counted */
    bool source; /* source lines are wanted */
};

/* The event to annotate by, of the settings' set: the one of this name, or (NULL) the default. What
 * a simulation counted exactly is no event to sample; what is no time goes with no `picture`, exact
 * executions, machine or view. NULL with an error. */
const struct profile_event *annotate_choose_event(const struct annotate_settings *settings,
                                                  const char *name, bool picture,
                                                  struct error *error);

/* The skid of the event's samples, as measured on this host; not known of those of another. */
const struct annotation_skid *annotate_skid_of(struct annotate_settings *settings);

/* Frees machines, schedulers and what was read of images. */
void annotate_settings_free(struct annotate_settings *settings);

/* False with an error; annotated_free() either way. The choice outlives it. */
bool annotate(struct annotated *annotated, struct annotate_settings *settings,
              const struct procedure_choice *choice, struct error *error);
void annotated_free(struct annotated *annotated);
