/* What can happen to the file of a store: writers at the same time, one that is killed, a disk that
 * is full, a file of another version or of nothing, and bytes that are not what they were. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "store/sqlite_schema.h"
#include "store_fixture.h"

static const struct store_value ONE = {.offset = 16, .value = 1};

/* A session with one sample in each of `images` images; false at the first failure. */
static bool add_epoch(struct store *store, const char *name, size_t images, struct error *error) {
    struct store_session session = {.name = name, .weight = 1, .start = 1, .end = 2};
    struct store_event event = {.name = "cycles", .unit = "samples"};
    struct store_process process = {.command = "gzip"};
    bool good = store_begin(store, error) &&
                store_add_session(store, &session, &session.id, error) &&
                store_add_event(store, session.id, &event, &event.id, error) &&
                store_process(store, session.id, &process, &process.id, error);
    for (size_t i = 0; good && i < images; i++) {
        char path[64];
        snprintf(path, sizeof path, "/usr/lib/a-library-with-a-name-%zu.so", i);
        struct store_image image = {.path = path};
        good = store_image(store, &image, &image.id, error) &&
               store_add_values(store, session.id, process.id, image.id, event.id, &ONE, 1, error);
    }
    if (good)
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

static bool count_session(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    (void)session, (void)events, (void)event_count;
    ++*(size_t *)context;
    return true;
}

static size_t session_count(struct store *store) {
    size_t count = 0;
    GOOD(store_each_session(store, count_session, &count, &error));
    return count;
}

static pid_t start_writer(const char *path, int epochs) {
    pid_t child = fork();
    if (child)
        return child;
    struct error error;
    struct store *store = store_open(path, STORE_WRITE, &error);
    bool good = store != NULL;
    for (int i = 0; good && i < epochs; i++)
        good = add_epoch(store, "writer", 20, &error);
    store_close(store);
    if (!good)
        fprintf(stderr, "%s\n", error.message);
    _exit(!good);
}

/* Four make the file together and write it together; nothing is lost. */
static void many_writers(void **state) {
    struct fixture *fixture = *state;
    enum { WRITERS = 4, EPOCHS = 25 };
    char path[160];
    pid_t writers[WRITERS];
    snprintf(path, sizeof path, "%s/shared.db", fixture->folder);
    for (int i = 0; i < WRITERS; i++)
        writers[i] = start_writer(path, EPOCHS);
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0);
    }
    struct store *store = open_or_fail(path, STORE_READ);
    assert_int_equal(session_count(store), WRITERS * EPOCHS);
    GOOD(store_check(store, &error));
    store_close(store);
}

/* Killed again and again while it writes: each epoch is there wholly or not at all. It may be
 * killed before it wrote anything, but not for ever. */
static void killed_writer(void **state) {
    struct fixture *fixture = *state;
    size_t before = 0;
    for (int round = 0; round < 10 || (round < 100 && !before); round++) {
        pid_t writer = start_writer(fixture->path, 1000000);
        usleep((useconds_t)(20000 + 7000 * round));
        kill(writer, SIGKILL);
        assert_int_equal(waitpid(writer, NULL, 0), writer);
        struct store *store = open_or_fail(fixture->path, STORE_READ);
        size_t count = session_count(store);
        assert_true(count >= before);
        before = count;
        GOOD(store_check(store, &error));
        store_close(store);
    }
    assert_true(before > 0);
}

/* A reader sees what was committed, also while a transaction is open. */
static void reader_beside_writer(void **state) {
    struct fixture *fixture = *state;
    struct store *reader = open_or_fail(fixture->path, STORE_READ);
    GOOD(add_epoch(fixture->store, "first", 1, &error));
    assert_int_equal(session_count(reader), 1);
    GOOD(store_begin(fixture->store, &error));
    add_session(fixture->store, "second", 3, 4);
    assert_int_equal(session_count(reader), 1);
    GOOD(store_commit(fixture->store, &error));
    assert_int_equal(session_count(reader), 2);
    int64_t id;
    FAILS("opened for reading",
          store_add_session(reader, &(struct store_session){.name = "x"}, &id, &error));
    store_close(reader);
}

/* A reader that cannot write beside the file assumes that nobody writes; if somebody does after
 * all, that is told from damage. Reads its turns from a pipe. */
static int read_while_written(const struct fixture *fixture, int ready, int go) {
    struct error error = {0};
    char byte = 0;
    if (setresuid(65534, 65534, 65534) != 0)
        return 2;
    struct store *store = store_open(fixture->path, STORE_READ, &error);
    if (!store || session_count(store) != 1)
        return 3;
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
        return 4;
    bool good = store_check(store, &error);
    store_close(store);
    return !good && strstr(error.message, "was written while it was read") ? 0 : 5;
}

static void no_folder_to_write(void **state) {
    struct fixture *fixture = *state;
    static const uint8_t zeros[16384];
    if (geteuid() != 0) {
        print_message("another user cannot be tried: not root\n");
        skip();
    }
    GOOD(add_epoch(fixture->store, "daemon", 500, &error));
    store_close(fixture->store);
    fixture->store = NULL;
    int ready[2], go[2], status;
    char byte = 0;
    assert_int_equal(chmod(fixture->folder, 0755), 0);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    pid_t reader = fork();
    if (reader == 0) {
        close(ready[0]);
        close(go[1]);
        _exit(read_while_written(fixture, ready[1], go[0]));
    }
    close(ready[1]);
    close(go[0]);
    bool began = read(ready[0], &byte, 1) == 1;
    int file = open(fixture->path, O_WRONLY);
    assert_int_equal(pwrite(file, zeros, sizeof zeros, 8192), sizeof zeros);
    close(file);
    assert_int_equal(write(go[1], &byte, 1), 1);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    assert_true(began);
    close(ready[0]);
    close(go[1]);
}

/* ---- no room ---- */

static void fill_and_recover(const char *folder, void make_room(void *context), void *context) {
    char path[160];
    snprintf(path, sizeof path, "%s/profiles.db", folder);
    struct store *store = open_or_fail(path, STORE_WRITE);
    struct error error = {0};
    size_t good = 0;
    while (good < 1000 && add_epoch(store, "daemon", 1000, &error))
        good++;
    assert_true(good < 1000);
    if (!strstr(error.message, "no space") && !strstr(error.message, "cannot read or write"))
        fail_msg("%s", error.message);
    assert_int_equal(session_count(store), good);
    assert_false(add_epoch(store, "daemon", 1000, &error));
    make_room(context);
    GOOD(add_epoch(store, "daemon", 1000, &error));
    assert_int_equal(session_count(store), good + 1);
    GOOD(store_check(store, &error));
    store_close(store);
    store = open_or_fail(path, STORE_READ);
    GOOD(store_check(store, &error));
    store_close(store);
}

static void remove_file(void *context) {
    assert_int_equal(unlink(context), 0);
}

/* A file system of 2 MB, half of it taken by another file, which then goes. */
static void full_disk(void **state) {
    struct fixture *fixture = *state;
    char folder[TEMPORARY_BYTES + 32], filler[TEMPORARY_BYTES + 64];
    snprintf(folder, sizeof folder, "%s/small", fixture->folder);
    snprintf(filler, sizeof filler, "%s/filler", folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=2m") != 0) {
        print_message("a small file system cannot be mounted: %s\n", strerror(errno));
        skip();
    }
    int file = open(filler, O_WRONLY | O_CREAT, 0600);
    bool filled = file >= 0 && posix_fallocate(file, 0, 1 << 20) == 0;
    close(file);
    if (filled)
        fill_and_recover(folder, remove_file, filler);
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
    assert_true(filled);
}

static void raise_limit(void *context) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = *(rlim_t *)context;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The same by a limit on the size of files, which needs no privileges. */
static void file_too_large(void **state) {
    struct fixture *fixture = *state;
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t whole = limit.rlim_cur;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    limit.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    store_close(fixture->store);
    fill_and_recover(fixture->folder, raise_limit, &whole);
    raise_limit(&whole);
    signal(SIGXFSZ, before);
    fixture->store = open_or_fail(fixture->path, STORE_READ);
}

/* ---- versions ---- */

static const char *const STEPS[] = {"CREATE TABLE t(a); INSERT INTO t VALUES(7)",
                                    "ALTER TABLE t ADD COLUMN b; UPDATE t SET b = a + 1"};
static const char *const BAD_STEPS[] = {"", "",
                                        "INSERT INTO t VALUES(1, 2); INSERT INTO gone VALUES(1)"};

static int query(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* Step by step from nothing, from a version between, and back to where it was when a step fails. */
static void migrations(void **state) {
    (void)state;
    const struct schema first = {STEPS, 1, 1}, second = {STEPS, 2, 2}, third = {BAD_STEPS, 3, 3};
    sqlite3 *database;
    int version;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    assert_int_equal(schema_state(&first, database, &version), SCHEMA_EMPTY);
    assert_int_equal(schema_upgrade(&first, database), SQLITE_OK);
    assert_int_equal(schema_state(&first, database, &version), SCHEMA_GOOD);
    assert_int_equal(schema_state(&second, database, &version), SCHEMA_OLDER);
    assert_int_equal(schema_upgrade(&second, database), SQLITE_OK);
    assert_int_equal(query(database, "SELECT b FROM t"), 8);
    assert_int_equal(schema_upgrade(&second, database), SQLITE_OK); /* somebody else was first */
    assert_int_equal(schema_state(&first, database, &version), SCHEMA_NEWER);
    assert_int_equal(version, 2);
    assert_int_not_equal(schema_upgrade(&third, database), SQLITE_OK);
    assert_int_equal(schema_state(&second, database, &version), SCHEMA_GOOD);
    assert_int_equal(query(database, "SELECT count(*) FROM t"), 1);
    sqlite3_close(database);
}

static void change(struct fixture *fixture, const char *sql) {
    sqlite3 *database;
    store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void not_a_store(void **state) {
    struct fixture *fixture = *state;
    change(fixture, "PRAGMA user_version=6");
    FAILS("is a store of version 6; this culprit knows versions up to 5",
          store_open(fixture->path, STORE_READ, &error));
    FAILS("version 6", store_open(fixture->path, STORE_WRITE, &error));
    change(fixture, "PRAGMA user_version=5; PRAGMA application_id=3");
    FAILS("some other program's", store_open(fixture->path, STORE_WRITE, &error));
    FAILS("not a regular file", store_open(fixture->folder, STORE_READ, &error));
    FAILS("empty", store_open("", STORE_READ, &error));
    FAILS("cannot", store_open("/proc/self/status/x/profiles.db", STORE_WRITE, &error));
    FAILS("cannot", store_open("/proc/profiles.db", STORE_WRITE, &error));
}

/* A store of version 1 has no trees of calls, and like version 2 no slices of processes. */
static void first_version(void **state) {
    struct fixture *fixture = *state;
    struct error error;
    assert_true(add_epoch(fixture->store, "before", 1, &error));
    change(fixture, "DROP INDEX session_days; DROP TABLE calls; DROP TABLE calls_image;"
                    "CREATE TABLE whole(id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
                    " command TEXT NOT NULL, executable TEXT NOT NULL) STRICT;"
                    "INSERT INTO whole SELECT id, session, command, executable FROM process;"
                    "DROP TABLE process; ALTER TABLE whole RENAME TO process;"
                    "DROP TABLE identity; DROP TABLE sent; DROP TABLE sent_symbols;"
                    "PRAGMA user_version=1");
    FAILS("is a store of version 1", store_open(fixture->path, STORE_READ, &error));
    fixture->store = open_or_fail(fixture->path, STORE_WRITE);
    GOOD(store_check(fixture->store, &error));
    assert_holds(fixture->store, "before/cycles /usr/lib/a-library-with-a-name-0.so gzip 10:0=1\n");
    reopen(fixture, STORE_READ);
}

/* Tables that lie: of other columns, views in their place, impossible kinds, nothing at all. */
static void lying_tables(void **state) {
    static const char *const LIES[] = {
        "DROP TABLE session; CREATE TABLE session(id)",
        "DROP TABLE session; CREATE VIEW session AS SELECT 1 AS id",
        "DROP TABLE profile",
        "UPDATE session SET kind = 77",
        "UPDATE session SET unknown = -1",
        "UPDATE event SET period = -1",
        "UPDATE image SET kind = -3",
        "UPDATE image SET build_id = zeroblob(65)",
        "UPDATE profile SET event = 99",
        "UPDATE profile SET process = 99",
        "UPDATE profile SET image = 99",
        "UPDATE profile SET total = 2",
        "UPDATE profile SET data = zeroblob(0)",
        "UPDATE profile SET data = zeroblob(100)",
        "INSERT INTO symbols VALUES(1, x'00')",
        "INSERT INTO symbols VALUES(50, x'00')",
        "INSERT INTO calls VALUES(1, 1, 1, 1, 0, zeroblob(100))",
        "INSERT INTO calls VALUES(1, 1, 99, 1, 0, x'')",
        "INSERT INTO calls_image VALUES(1, 99)",
        "PRAGMA foreign_keys=0; DELETE FROM session",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) {
        store_close(fixture->store);
        unlink(fixture->path);
        fixture->store = open_or_fail(fixture->path, STORE_WRITE);
        GOOD(add_epoch(fixture->store, "daemon", 1, &error));
        change(fixture, LIES[i]);
        fixture->store = open_or_fail(fixture->path, STORE_READ);
        struct error error = {0};
        if (store_check(fixture->store, &error))
            fail_msg("%s: passes the check", LIES[i]);
        if (!strstr(error.message, "damaged") && !strstr(error.message, "there is no image 99"))
            fail_msg("%s: %s", LIES[i], error.message);
        struct dump dump = {.length = 0};
        store_each_profile(fixture->store, NULL, dump_profile, &dump, &error); /* no crash */
    }
}

/* ---- damage ---- */

static void write_file(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Whatever a file holds, using it ends with an error of one line or none. */
static void use(const char *path, enum store_access access, size_t *refused) {
    struct error error = {0};
    struct store *store = store_open(path, access, &error);
    if (!store) {
        assert_null(strchr(error.message, '\n'));
        ++*refused;
        return;
    }
    if (!store_check(store, &error)) {
        assert_true(error.message[0] && !strchr(error.message, '\n'));
        ++*refused;
    }
    static struct dump dump;
    dump.length = 0;
    store_each_profile(store, NULL, dump_profile, &dump, &error);
    if (access == STORE_WRITE)
        add_epoch(store, "after", 3, &error);
    store_close(store);
}

static void damaged_bytes(void **state) {
    struct fixture *fixture = *state;
    char copy[160];
    static uint8_t bytes[1 << 18];
    snprintf(copy, sizeof copy, "%s/copy.db", fixture->folder);
    for (int i = 0; i < 3; i++)
        GOOD(add_epoch(fixture->store, "daemon", 200, &error));
    store_close(fixture->store);
    FILE *file = fopen(fixture->path, "r");
    size_t size = fread(bytes, 1, sizeof bytes, file), refused = 0, tries = 0;
    assert_true(size > 20000 && size < sizeof bytes);
    fclose(file);
    fixture->store = NULL;
    for (size_t cut = 0; cut < size; cut += 4096 + 511, tries++) {
        write_file(copy, bytes, cut);
        use(copy, STORE_READ, &refused);
        unlink(copy);
    }
    assert_int_equal(refused, tries);
    uint64_t random = 5;
    for (tries = 0; tries < 300; tries++) {
        static uint8_t changed[sizeof bytes];
        memcpy(changed, bytes, size);
        for (size_t i = 0; i < 1 + tries % 20; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            changed[(random >> 20) % size] ^= (uint8_t)(1 + (random >> 60));
        }
        write_file(copy, changed, size);
        use(copy, tries % 2 ? STORE_READ : STORE_WRITE, &refused);
        unlink(copy);
    }
}

int main(void) {
#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        WITH_STORE(many_writers),       WITH_STORE(killed_writer), WITH_STORE(reader_beside_writer),
        WITH_STORE(no_folder_to_write), WITH_STORE(full_disk),     WITH_STORE(file_too_large),
        cmocka_unit_test(migrations),   WITH_STORE(not_a_store),   WITH_STORE(first_version),
        WITH_STORE(lying_tables),       WITH_STORE(damaged_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
