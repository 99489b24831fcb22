/* A store in a folder of its own, and short ways to fill it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

#include "store/store.h"
#include "temporary.h"

struct fixture {
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 32];
    struct store *store;
};

static inline int remove_entry(const char *path, const struct stat *status, int kind,
                               struct FTW *walk) {
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static inline struct store *open_or_fail(const char *path, enum store_access access) {
    struct error error = {0};
    struct store *store = store_open(path, access, &error);
    if (!store)
        fail_msg("%s", error.message);
    return store;
}

static inline int fixture_setup(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(mkdtemp(temporary_name(fixture->folder, "store")));
    snprintf(fixture->path, sizeof fixture->path, "%s/profiles.db", fixture->folder);
    fixture->store = open_or_fail(fixture->path, STORE_WRITE);
    *state = fixture;
    return 0;
}

static inline int fixture_teardown(void **state) {
    struct fixture *fixture = *state;
    store_close(fixture->store);
    nftw(fixture->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(fixture);
    return 0;
}

static inline void reopen(struct fixture *fixture, enum store_access access) {
    store_close(fixture->store);
    fixture->store = open_or_fail(fixture->path, access);
}

/* Asserts that a call succeeds; `error` names what it says else. */
#define GOOD(call)                                                                                 \
    do {                                                                                           \
        struct error error = {0};                                                                  \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

/* Asserts that a call fails and says one line in which `text` occurs. */
#define FAILS(text, call)                                                                          \
    do {                                                                                           \
        struct error error = {0};                                                                  \
        if (call)                                                                                  \
            fail_msg("%s succeeds", #call);                                                        \
        if (!strstr(error.message, text) || strchr(error.message, '\n'))                           \
            fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

static inline int64_t add_session(struct store *store, const char *name, int64_t start,
                                  int64_t end) {
    const struct store_session session = {
        .name = name, .host = "vm", .weight = 1, .start = start, .end = end};
    int64_t id = 0;
    GOOD(store_add_session(store, &session, &id, &error));
    return id;
}

static inline int64_t add_event(struct store *store, int64_t session, const char *name) {
    const struct store_event event = {
        .name = name, .unit = "samples", .period = 62000, .period_unit = "cycles"};
    int64_t id = 0;
    GOOD(store_add_event(store, session, &event, &id, &error));
    return id;
}

static inline int64_t add_image(struct store *store, const char *path) {
    const struct store_image image = {.path = path, .build_id = {1, 2, 3}, .build_id_size = 3};
    int64_t id = 0;
    GOOD(store_image(store, &image, &id, &error));
    return id;
}

static inline int64_t add_process(struct store *store, int64_t session, const char *command) {
    const struct store_process process = {.command = command, .executable = "/bin/x"};
    int64_t id = 0;
    GOOD(store_process(store, session, &process, &id, &error));
    return id;
}

/* All of a store as text, one value a line: "session/event image process offset:signature=value".
 */
struct dump {
    char text[65536];
    size_t length;
};

static inline bool dump_profile(void *context, const struct store_profile *profile) {
    struct dump *dump = context;
    for (size_t i = 0; i < profile->count; i++)
        dump->length += (size_t)snprintf(
            dump->text + dump->length, sizeof dump->text - dump->length,
            "%s/%s %s %s %llx:%x=%llu\n", profile->session->name, profile->event->name,
            profile->image->path, profile->process->command,
            (unsigned long long)profile->values[i].offset, profile->values[i].signature,
            (unsigned long long)profile->values[i].value);
    assert_true(dump->length < sizeof dump->text);
    return true;
}

static inline void assert_holds(struct store *store, const char *expected) {
    struct dump dump = {.length = 0};
    GOOD(store_each_profile(store, NULL, dump_profile, &dump, &error));
    assert_string_equal(dump.text, expected);
}
