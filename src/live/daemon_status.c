/* A table names each member once: writing and reading both follow from it. */
#include "live/daemon_status.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/json_text.h"

enum { ANSWER_MAX = 1 << 16, PATIENCE_MS = 5000 };

enum member_kind {
    MEMBER_TEXT,
    MEMBER_COUNT,
    MEMBER_UINT32,
    MEMBER_PID,
    MEMBER_SIGNED,
    MEMBER_REAL
};

struct member {
    const char *name;
    enum member_kind kind;
    size_t offset, size;
};

#define MEMBER(kind, name)                                                                         \
    { #name, kind, offsetof(struct daemon_status, name), sizeof((struct daemon_status *)0)->name }

static const struct member MEMBERS[] = {
    MEMBER(MEMBER_PID, pid),
    MEMBER(MEMBER_TEXT, store),
    MEMBER(MEMBER_TEXT, sampling),
    MEMBER(MEMBER_UINT32, processors),
    MEMBER(MEMBER_REAL, uptime),
    MEMBER(MEMBER_REAL, rate),
    MEMBER(MEMBER_REAL, budget),
    MEMBER(MEMBER_REAL, cost),
    MEMBER(MEMBER_REAL, interrupt_seconds),
    MEMBER(MEMBER_SIGNED, epoch),
    MEMBER(MEMBER_REAL, epoch_seconds),
    MEMBER(MEMBER_COUNT, samples),
    MEMBER(MEMBER_COUNT, hits),
    MEMBER(MEMBER_COUNT, evicted),
    MEMBER(MEMBER_COUNT, stacks_whole),
    MEMBER(MEMBER_COUNT, stacks_truncated),
    MEMBER(MEMBER_COUNT, stacks_failed),
    MEMBER(MEMBER_COUNT, python_samples),
    MEMBER(MEMBER_COUNT, python_whole),
    MEMBER(MEMBER_COUNT, python_partial),
    MEMBER(MEMBER_COUNT, dropped),
    MEMBER(MEMBER_COUNT, attributed),
    MEMBER(MEMBER_COUNT, unknown),
    MEMBER(MEMBER_COUNT, kernel),
    MEMBER(MEMBER_COUNT, entries),
    MEMBER(MEMBER_COUNT, entries_max),
    MEMBER(MEMBER_COUNT, unwritten),
    MEMBER(MEMBER_COUNT, processes),
    MEMBER(MEMBER_COUNT, images),
    MEMBER(MEMBER_COUNT, drains),
    MEMBER(MEMBER_COUNT, merges),
    MEMBER(MEMBER_COUNT, failed_merges),
    MEMBER(MEMBER_REAL, last_drain),
    MEMBER(MEMBER_REAL, last_merge),
    MEMBER(MEMBER_TEXT, problem),
    MEMBER(MEMBER_TEXT, push),
    MEMBER(MEMBER_COUNT, push_sent),
    MEMBER(MEMBER_COUNT, push_waiting),
    MEMBER(MEMBER_COUNT, push_waiting_bytes),
    MEMBER(MEMBER_COUNT, push_given_up),
    MEMBER(MEMBER_REAL, last_push),
    MEMBER(MEMBER_TEXT, push_problem),
    MEMBER(MEMBER_REAL, processor_seconds),
    MEMBER(MEMBER_REAL, program_seconds),
    MEMBER(MEMBER_COUNT, resident_bytes),
    MEMBER(MEMBER_COUNT, kernel_bytes),
    MEMBER(MEMBER_COUNT, store_bytes),
};
enum { MEMBERS_SIZE = sizeof MEMBERS / sizeof *MEMBERS };

static json_t *member_json(const struct member *member, const struct daemon_status *status) {
    const void *at = (const char *)status + member->offset;
    switch (member->kind) {
    case MEMBER_TEXT:
        return json_text(at);
    case MEMBER_COUNT:
        return json_integer((json_int_t) * (const uint64_t *)at);
    case MEMBER_UINT32:
        return json_integer(*(const uint32_t *)at);
    case MEMBER_PID:
        return json_integer(*(const pid_t *)at);
    case MEMBER_SIGNED:
        return json_integer(*(const int64_t *)at);
    default:
        return json_real(*(const double *)at);
    }
}

static bool member_read(const struct member *member, const json_t *value,
                        struct daemon_status *status) {
    void *at = (char *)status + member->offset;
    if (member->kind == MEMBER_TEXT ? !json_is_string(value) : !json_is_number(value))
        return false;
    switch (member->kind) {
    case MEMBER_TEXT:
        snprintf(at, member->size, "%s", json_string_value(value));
        return true;
    case MEMBER_COUNT:
        *(uint64_t *)at = (uint64_t)json_integer_value(value);
        return true;
    case MEMBER_UINT32:
        *(uint32_t *)at = (uint32_t)json_integer_value(value);
        return true;
    case MEMBER_PID:
        *(pid_t *)at = (pid_t)json_integer_value(value);
        return true;
    case MEMBER_SIGNED:
        *(int64_t *)at = json_integer_value(value);
        return true;
    default:
        *(double *)at = json_number_value(value);
        return true;
    }
}

static bool address_of(const char *path, struct sockaddr_un *address, struct error *error) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path)
        return error_set(error, "%s: too long a name for a socket", path);
    strcpy(address->sun_path, path);
    return true;
}

int daemon_status_listen(const char *path, struct error *error) {
    struct sockaddr_un address;
    if (!address_of(path, &address, error))
        return -1;
    unlink(path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, 0666) != 0 || listen(descriptor, 8) != 0) {
        error_errno(error, "%s: cannot listen there for who asks for the status", path);
        if (descriptor >= 0)
            close(descriptor);
        return -1;
    }
    return descriptor;
}

bool daemon_status_answer(int socket, const struct daemon_status *status) {
    int connection = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0)
        return false;
    json_t *object = json_object();
    for (unsigned i = 0; object && i < MEMBERS_SIZE; i++)
        json_object_set_new(object, MEMBERS[i].name, member_json(&MEMBERS[i], status));
    char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
    /* It fits the socket's buffer: who does not read it holds nobody up. */
    if (text)
        send(connection, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    free(text);
    json_decref(object);
    close(connection);
    return true;
}

/* Reads until the other side closes. */
char *daemon_status_receive(int connection, int patience_ms, struct error *error) {
    char *text = malloc(ANSWER_MAX + 1);
    size_t used = 0;
    struct pollfd wait = {.fd = connection, .events = POLLIN};
    while (text && used < ANSWER_MAX && poll(&wait, 1, patience_ms) > 0) {
        ssize_t got = recv(connection, text + used, ANSWER_MAX - used, 0);
        if (got < 0)
            break;
        used += (size_t)got;
        text[used] = 0;
        if (got == 0 && used)
            return text;
        if (got == 0)
            break;
    }
    free(text);
    return error_null(error, "the daemon does not answer");
}

int daemon_status_connect(const char *path, struct error *error) {
    struct sockaddr_un address;
    if (!address_of(path, &address, error))
        return -1;
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) {
        error_errno(error, "cannot make a socket");
        return -1;
    }
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0)
        return connection;
    if (errno == ENOENT || errno == ECONNREFUSED)
        error_set(error, "no daemon runs (nobody answers at %s); to start one: culprit daemon",
                  path);
    else
        error_errno(error, "%s: cannot ask the daemon", path);
    close(connection);
    return -1;
}

char *daemon_status_ask(const char *path, struct error *error) {
    int connection = daemon_status_connect(path, error);
    if (connection < 0)
        return NULL;
    char *answer = daemon_status_receive(connection, PATIENCE_MS, error);
    close(connection);
    return answer;
}

bool daemon_status_read(const char *json, struct daemon_status *status, struct error *error) {
    memset(status, 0, sizeof *status);
    json_error_t where;
    json_t *object = json_loads(json, 0, &where);
    bool read = json_is_object(object);
    for (unsigned i = 0; read && i < MEMBERS_SIZE; i++)
        read = member_read(&MEMBERS[i], json_object_get(object, MEMBERS[i].name), status);
    json_decref(object);
    return read || error_set(error, "the daemon's answer is not understood: is it of another "
                                    "version of culprit?");
}
