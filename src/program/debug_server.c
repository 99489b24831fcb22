/* libdebuginfod is loaded when a server is first asked: an HTTP client is much for a program that
 * mostly needs none. Its progress function, which it calls at least once a second, ends what takes
 * too long; libdebuginfod takes that for an answer, and keeps an empty file to remember that there
 * is none, which is removed again. */
#include "program/debug_server.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/elf_image.h"
#include "util/clock.h"
#include "util/error.h"

enum {
    SILENCE_SECONDS = 5, /* without $DEBUGINFOD_TIMEOUT */
    RUN_SECONDS = 60,    /* spent with servers, or as long as they may be silent */
    URLS_SHOWN = 200     /* bytes */
};
static const long FILE_MAX_BYTES = 4L << 30; /* debug files of browsers have over 1 GB */

static const char NO_ANSWER[] = "no answer";

struct library {
    debuginfod_client *client;
    __typeof__(debuginfod_begin) *begin;
    __typeof__(debuginfod_set_progressfn) *set_progress;
    __typeof__(debuginfod_find_debuginfo) *find_debug_file;
    __typeof__(debuginfod_find_executable) *find_program;
    __typeof__(debuginfod_get_url) *get_url;
};

/* The one request that is under way. */
struct request {
    double start, changed; /* monotonic; changed: when bytes last came */
    long bytes;
    const char *ended; /* why it was ended; NULL: it was not */
};

static struct {
    pthread_mutex_t lock;
    struct library library;
    struct request request;
    bool asked, closed;
    double waited; /* seconds */
    struct error closing, refusal;
    unsigned refused;
} servers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double silence_allowed(void) {
    const char *set = getenv(DEBUGINFOD_TIMEOUT_ENV_VAR);
    double seconds = set ? strtod(set, NULL) : 0;
    return seconds > 0 ? seconds : SILENCE_SECONDS;
}

static double wait_allowed(void) {
    double silence = silence_allowed();
    return silence > RUN_SECONDS ? silence : RUN_SECONDS;
}

/* `bytes` counts rounds of waiting as long as no server has answered. */
static int watch(debuginfod_client *client, long bytes, long size) {
    struct request *request = &servers.request;
    double now = clock_monotonic();
    if (servers.library.get_url(client) && bytes != request->bytes) {
        request->bytes = bytes;
        request->changed = now;
    }
    if (bytes > FILE_MAX_BYTES || size > FILE_MAX_BYTES)
        request->ended = "a file of more than 4 GB";
    else if (now - request->changed > silence_allowed())
        request->ended = NO_ANSWER;
    else if (servers.waited + (now - request->start) > wait_allowed())
        request->ended = "too much time was spent with it";
    return request->ended != NULL;
}

static bool load(struct library *library, struct error *error) {
    void *object = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return error_set(error, "%s cannot be loaded (Debian has it in libdebuginfod1)",
                         DEBUGINFOD_SONAME);
    *(void **)&library->begin = dlsym(object, "debuginfod_begin");
    *(void **)&library->set_progress = dlsym(object, "debuginfod_set_progressfn");
    *(void **)&library->find_debug_file = dlsym(object, "debuginfod_find_debuginfo");
    *(void **)&library->find_program = dlsym(object, "debuginfod_find_executable");
    *(void **)&library->get_url = dlsym(object, "debuginfod_get_url");
    if (!library->begin || !library->set_progress || !library->find_debug_file ||
        !library->find_program || !library->get_url || !(library->client = library->begin()))
        return error_set(error, "%s is of no use", DEBUGINFOD_SONAME);
    library->set_progress(library->client, watch);
    return true;
}

/* No server is asked any more. */
static void close_servers(const char *why) {
    servers.closed = true;
    error_set(&servers.closing,
              "DEBUGINFOD_URLS (%.*s): %s; no more debug files are asked for in this run",
              URLS_SHOWN, getenv(DEBUGINFOD_URLS_ENV_VAR), why);
}

static void forget_absence(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && status.st_size == 0)
        unlink(path);
}

/* A descriptor, or −errno as libdebuginfod has it. */
static int find(enum debug_server_file file, const uint8_t *build_id, size_t size, char **path) {
    struct library *library = &servers.library;
    double now = clock_monotonic();
    servers.request = (struct request){.start = now, .changed = now};
    int found = (file == DEBUG_SERVER_PROGRAM ? library->find_program : library->find_debug_file)(
        library->client, build_id, (int)size, path);
    servers.waited += clock_monotonic() - now;
    return found;
}

/* `path`: where it is expected, then where it is. */
static bool fetch(enum debug_server_file file, const uint8_t *build_id, size_t size,
                  char path[PATH_MAX]) {
    struct error error;
    char *kept = NULL;
    if (!servers.asked && !load(&servers.library, &error))
        close_servers(error.message);
    servers.asked = true;
    if (servers.closed)
        return false;
    int found = find(file, build_id, size, &kept);
    if (found >= 0) {
        bool named = kept && snprintf(path, PATH_MAX, "%s", kept) < PATH_MAX;
        free(kept);
        close(found);
        return named;
    }
    if (servers.request.ended) {
        close_servers(servers.request.ended);
        forget_absence(path);
    } else if (found != -ENOENT) {
        close_servers(found == -ETIME ? NO_ANSWER : strerror(-found));
    }
    return false;
}

bool debug_server_kept(enum debug_server_file file, const uint8_t *build_id, size_t size,
                       char path[PATH_MAX]) {
    const char *cache = getenv(DEBUGINFOD_CACHE_PATH_ENV_VAR), *user = getenv("XDG_CACHE_HOME");
    const char *below = "";
    char id[2 * BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < size && i < BUILD_ID_MAX; i++)
        snprintf(id + 2 * i, 3, "%02x", build_id[i]);
    if (!cache || !cache[0]) {
        bool own = user && user[0];
        cache = own ? user : getenv("HOME");
        below = own ? "/debuginfod_client" : "/.cache/debuginfod_client";
    }
    return id[0] && cache && cache[0] &&
           snprintf(path, PATH_MAX, "%s%s/%s/%s", cache, below, id,
                    file == DEBUG_SERVER_PROGRAM ? "executable" : "debuginfo") < PATH_MAX;
}

bool debug_server_fetch(enum debug_server_file file, const uint8_t *build_id, size_t size,
                        char path[PATH_MAX]) {
    const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
    if (!urls || !urls[strspn(urls, " ")] || !debug_server_kept(file, build_id, size, path))
        return false;
    pthread_mutex_lock(&servers.lock);
    bool good = fetch(file, build_id, size, path);
    pthread_mutex_unlock(&servers.lock);
    return good;
}

void debug_server_refuse(const char *path, const char *why) {
    pthread_mutex_lock(&servers.lock);
    unlink(path);
    if (!servers.refused++)
        error_set(&servers.refusal, "DEBUGINFOD_URLS: what came as %s is refused: %s", path, why);
    pthread_mutex_unlock(&servers.lock);
}

const char *debug_server_complaint(unsigned number) {
    const struct error *const all[] = {&servers.closing, &servers.refusal};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->message[0] && !number--)
            return all[i]->message;
    return NULL;
}
