/* A folder with a store and a file, a session filled by hand, and what a store holds as text: for
 * tests of exchange/. */
#pragma once

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "exchange/exchange.h"
#include "image_kinds.h"

/* ---- a folder with stores and files ---- */

struct fixture {
    char folder[64], path[128];
    struct store *store;
};

static inline struct store *open_store(const struct fixture *fixture, const char *name) {
    char path[128];
    struct error error;
    snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
    struct store *store = store_open(path, STORE_WRITE, &error);
    if (!store)
        fail_msg("%s", error.message);
    return store;
}

static inline int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    /* In memory where that can be had: a store waits for its disk at each import. */
    snprintf(fixture->folder, sizeof fixture->folder, "%s/test_exchange.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->path, sizeof fixture->path, "%s/file", fixture->folder);
    fixture->store = open_store(fixture, "store.db");
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state) {
    struct fixture *fixture = *state;
    char command[128];
    store_close(fixture->store);
    snprintf(command, sizeof command, "rm -rf %s", fixture->folder);
    int status = system(command);
    free(fixture);
    return status;
}

static inline void write_file(const struct fixture *fixture, const void *bytes, size_t size) {
    int file = open(fixture->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
}

static inline char *read_file(const struct fixture *fixture, size_t *size) {
    static char bytes[1 << 16];
    FILE *file = fopen(fixture->path, "r");
    *size = fread(bytes, 1, sizeof bytes - 1, file);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

static inline struct exchange_imported import_text(const struct fixture *fixture,
                                                   const char *text) {
    struct exchange_imported imported;
    struct error error = {0};
    write_file(fixture, text, strlen(text));
    if (!exchange_import(fixture->store, fixture->path, EXCHANGE_FORMATS, &imported, &error))
        fail_msg("%s", error.message);
    return imported;
}

static inline void assert_import_fails(const struct fixture *fixture, const void *bytes,
                                       size_t size, const char *message) {
    struct exchange_imported imported;
    struct error error = {0};
    write_file(fixture, bytes, size);
    assert_false(
        exchange_import(fixture->store, fixture->path, EXCHANGE_FORMATS, &imported, &error));
    assert_null(strchr(error.message, '\n'));
    if (!strstr(error.message, message))
        fail_msg("\"%s\" is not in \"%s\"", message, error.message);
}

/* ---- what a store holds, as text ---- */

static inline int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct dump {
    char *lines[4096];
    size_t count;
};

static inline bool dump_profile(void *context, const struct store_profile *profile) {
    struct dump *dump = context;
    char build_id[2 * BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < profile->image->build_id_size; i++)
        sprintf(build_id + 2 * i, "%02x", profile->image->build_id[i]);
    for (size_t i = 0; i < profile->count && dump->count < 4096; i++)
        assert_true(asprintf(&dump->lines[dump->count++],
                             "%s(%s) %s %s<%s>+0x%" PRIx64 "/%u %s %" PRIu64 " %s every %" PRIu64
                             " %s",
                             profile->process->command, profile->process->executable,
                             KINDS[profile->image->kind], profile->image->path, build_id,
                             profile->values[i].offset, profile->values[i].signature,
                             profile->event->name, profile->values[i].value, profile->event->unit,
                             profile->event->period, profile->event->period_unit) > 0);
    return true;
}

/* Lines of one session, sorted; the caller's. */
static inline char *dump_session(struct store *store, int64_t session) {
    struct dump dump = {0};
    struct error error;
    char *text = NULL;
    size_t size;
    assert_true(store_each_profile(store,
                                   &(struct store_filter){.sessions = &session, .session_count = 1},
                                   dump_profile, &dump, &error));
    qsort(dump.lines, dump.count, sizeof *dump.lines, by_text);
    FILE *memory = open_memstream(&text, &size);
    for (size_t i = 0; i < dump.count; i++) {
        fprintf(memory, "%s\n", dump.lines[i]);
        free(dump.lines[i]);
    }
    fclose(memory);
    return text;
}

static inline void assert_session(struct store *store, int64_t session, const char *expected) {
    char *text = dump_session(store, session);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- a session by hand ---- */

static inline int64_t begin_session(struct store *store, double weight) {
    struct error error;
    int64_t id;
    struct store_session session = {.kind = SESSION_LIVE,
                                    .name = "by hand",
                                    .weight = weight,
                                    .start = INT64_C(1700000000123456789),
                                    .end = INT64_C(1700000001123456789)};
    assert_true(store_add_session(store, &session, &id, &error));
    session.id = id;
    assert_true(store_update_session(store, &session, &error));
    return id;
}

static inline int64_t add_event(struct store *store, int64_t session, const char *name,
                                const char *unit, uint64_t period, const char *period_unit) {
    struct error error;
    int64_t id;
    struct store_event event = {
        .name = name, .unit = unit, .period = period, .period_unit = period_unit};
    assert_true(store_add_event(store, session, &event, &id, &error));
    return id;
}

/* The cycles of a simulation that is estimated from two regions. */
static inline int64_t add_estimated(struct store *store, int64_t session) {
    struct error error;
    int64_t id;
    struct store_event event = {.name = "cycles",
                                .unit = "1/840 cycles",
                                .period = 1,
                                .period_unit = "cycles",
                                .estimate = {2, false, 0.5, 0.025}};
    assert_true(store_add_event(store, session, &event, &id, &error));
    return id;
}

static inline int64_t add_image(struct store *store, enum image_kind kind, const char *path,
                                uint8_t build_id) {
    struct error error;
    int64_t id;
    struct store_image image = {.kind = kind, .path = path, .root = ""};
    if (build_id) {
        image.build_id_size = 20;
        memset(image.build_id, build_id, 20);
    }
    assert_true(store_image(store, &image, &id, &error));
    return id;
}

static inline int64_t add_process(struct store *store, int64_t session, const char *command,
                                  const char *executable) {
    struct error error;
    int64_t id;
    struct store_process process = {.command = command, .executable = executable};
    assert_true(store_process(store, session, &process, &id, &error));
    return id;
}

static inline void add_value(struct store *store, int64_t session, int64_t process, int64_t image,
                             int64_t event, struct store_value value) {
    struct error error;
    assert_true(store_add_values(store, session, process, image, event, &value, 1, &error));
}

/* Two processes, two events, a file, the kernel with symbols, JIT code; names as hostile as names
 * may be. */
static inline int64_t fill(struct store *store) {
    struct error error;
    int64_t session = begin_session(store, 1);
    int64_t clock = add_event(store, session, "cpu-clock", "samples", 192000, "ns");
    int64_t misses = add_event(store, session, "imiss", "samples", 5000, "events");
    int64_t gzip = add_image(store, IMAGE_FILE, "/nowhere/bin/gz;ip", 0xab);
    int64_t kernel = add_image(store, IMAGE_KERNEL, "[kernel]", 0xcd);
    int64_t jit = add_image(store, IMAGE_JIT, "[jit] node 42", 0);
    int64_t shell = add_process(store, session, "my shell", "/bin/sh");
    int64_t node = add_process(store, session, "node", "");
    struct code_symbol symbols[] = {{0x1000, 0x100, "do_one"},
                                    {0x1100, 0x200, "do_two(int, char)"}};
    struct code_symbol code = {0x7f0000001000, 0x40, "LazyCompile:*f; x.js:1"};
    assert_true(store_set_symbols(store, kernel, symbols, 2, &error));
    assert_true(store_set_symbols(store, jit, &code, 1, &error));
    add_value(store, session, shell, gzip, clock, (struct store_value){0x4000, 0, 3});
    add_value(store, session, shell, gzip, clock, (struct store_value){0x4010, 0, 1});
    add_value(store, session, shell, gzip, misses, (struct store_value){0x4010, 0, 7});
    add_value(store, session, shell, kernel, clock, (struct store_value){0x1010, 0, 10});
    add_value(store, session, node, kernel, clock, (struct store_value){0x1180, 0, 4});
    add_value(store, session, node, jit, clock, (struct store_value){0x7f0000001008, 0, 5});
    return session;
}

static const char FILLED[] =
    "my shell(/bin/sh) file /nowhere/bin/"
    "gz;ip<abababababababababababababababababababab>+0x4000/0 cpu-clock 3 samples every 192000 ns\n"
    "my shell(/bin/sh) file /nowhere/bin/"
    "gz;ip<abababababababababababababababababababab>+0x4010/0 cpu-clock 1 samples every 192000 ns\n"
    "my shell(/bin/sh) file /nowhere/bin/"
    "gz;ip<abababababababababababababababababababab>+0x4010/0 imiss 7 samples every 5000 events\n"
    "my shell(/bin/sh) kernel [kernel]<cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd>+0x1010/0 "
    "cpu-clock "
    "10 samples every 192000 ns\n"
    "node() jit [jit] node 42<>+0x7f0000001008/0 cpu-clock 5 samples every 192000 ns\n"
    "node() kernel [kernel]<cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd>+0x1180/0 cpu-clock 4 samples "
    "every 192000 ns\n";

static inline void export_to_file(const struct fixture *fixture, int64_t session,
                                  enum exchange_format format, const char *event) {
    struct error error = {0};
    FILE *file = fopen(fixture->path, "w");
    const struct store_filter filter = {.sessions = &session, .session_count = 1, .event = event};
    if (!exchange_export(fixture->store, &filter, format, file, NULL, &error))
        fail_msg("%s", error.message);
    assert_int_equal(fclose(file), 0);
}
