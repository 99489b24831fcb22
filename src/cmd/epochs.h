/* What the files of culprit epochs share. */
#pragma once

#include "cmd/verb.h"
#include "options/store_options.h"

enum epochs_action {
    EPOCHS_LIST,
    EPOCHS_NEW,
    EPOCHS_MERGE,
    EPOCHS_REMOVE,
    EPOCHS_PRUNE,
    EPOCHS_COMPACT,
    EPOCHS_SUM,
    EPOCHS_CHECK,
    EPOCHS_EXPORT,
    EPOCHS_IMPORT,
    EPOCHS_INIT,
    EPOCHS_ACTIONS
};

struct epochs_request {
    struct verb_run verb;
    enum epochs_action action;
    struct store_options store;
    struct epoch_choice choice;
    const char *argument; /* a list of epochs, or a file; NULL: none */
    const char *format;   /* of export and import; NULL: a store, and whatever the file is */
    const char *push;     /* address of a collector to export to; NULL: none */
    const char *event;    /* the only one to export; NULL: all */
    double older_seconds; /* 0: none for age */
    uint64_t size_bytes;  /* 0: no limit */
};

/* Each does its part, prints what it did, and tells failures in *error. */
bool epochs_new(struct epochs_request *request, struct error *error);
bool epochs_merge(struct epochs_request *request, struct error *error);
bool epochs_remove(struct epochs_request *request, struct error *error);
bool epochs_prune(struct epochs_request *request, struct error *error);
bool epochs_compact(struct epochs_request *request, struct error *error);
bool epochs_sum(struct epochs_request *request, struct error *error);
bool epochs_check(struct epochs_request *request, struct error *error);
bool epochs_export(struct epochs_request *request, struct error *error);
bool epochs_import(struct epochs_request *request, struct error *error);
/* export --push of an address of PostgreSQL. */
bool epochs_push(struct epochs_request *request, struct error *error);
bool epochs_init(struct epochs_request *request, struct error *error);
