/* What the files of culprit epochs share. */
#ifndef CULPRIT_CMD_EPOCHS_H
#define CULPRIT_CMD_EPOCHS_H

#include "cmd/options.h"
#include "cmd/store_options.h"

enum epochs_action {
    EPOCHS_LIST,
    EPOCHS_NEW,
    EPOCHS_MERGE,
    EPOCHS_REMOVE,
    EPOCHS_PRUNE,
    EPOCHS_COMPACT,
    EPOCHS_CHECK,
    EPOCHS_EXPORT,
    EPOCHS_IMPORT,
    EPOCHS_ACTIONS
};

struct epochs_request {
    enum epochs_action action;
    struct store_options store;
    const char *argument; /* a list of epochs, or a file; NULL: none */
    struct output_options output;
    const char *format;   /* of export and import; NULL: a store, and whatever the file is */
    const char *event;    /* the only one to export; NULL: all */
    double older_seconds; /* 0: none for age */
    uint64_t size_bytes;  /* 0: no limit */
};

/* Each does its part, prints what it did, and tells failures in *error. */
bool epochs_list(const struct epochs_request *request, struct error *error);
bool epochs_new(const struct epochs_request *request, struct error *error);
bool epochs_merge(const struct epochs_request *request, struct error *error);
bool epochs_remove(const struct epochs_request *request, struct error *error);
bool epochs_prune(const struct epochs_request *request, struct error *error);
bool epochs_compact(const struct epochs_request *request, struct error *error);
bool epochs_check(const struct epochs_request *request, struct error *error);
bool epochs_export(const struct epochs_request *request, struct error *error);
bool epochs_import(const struct epochs_request *request, struct error *error);

/* The store that --store names or that 'culprit epochs' lists; it is not made when there is none,
 * whatever the access. */
struct store *epochs_open(const struct epochs_request *request, enum store_access access,
                          struct error *error);

#endif
