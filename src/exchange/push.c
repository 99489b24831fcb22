/* libcurl is loaded when something is first sent, as few runs send anything. What servers answer is
 * as "OTLP/HTTP Response" of the specification has it: a partial success is no success here, 429,
 * 502, 503 and 504 ask to try again, a body is a Status, as protobuf, or text. */
#include "exchange/push.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "exchange/exchange.h"
#include "exchange/otlp.pb-c.h"
#include "util/text.h"

enum {
    ATTEMPTS = 4,
    WAIT_MOST_SECONDS = 30,
    TIMEOUT_MILLISECONDS = 10000, /* OTLP Exporter Configuration */
    ANSWER_BYTES = 1 << 16,
    URL_BYTES = 4096,
    SHOWN_BYTES = 200
};
static const char PATH[] = "/v1development/profiles";
static const char TYPE[] = "application/x-protobuf";

struct library {
    __typeof__(curl_easy_init) *init;
    __typeof__(curl_easy_setopt) *set;
    __typeof__(curl_easy_perform) *perform;
    __typeof__(curl_easy_getinfo) *get;
    __typeof__(curl_easy_strerror) *explain;
    __typeof__(curl_easy_cleanup) *cleanup;
    __typeof__(curl_slist_append) *append;
    __typeof__(curl_slist_free_all) *free_list;
};

struct answer {
    long status;
    bool protobuf;
    long wait_seconds; /* that it asks for; −1: it does not */
    char body[ANSWER_BYTES + 1];
    size_t size; /* what is beyond ANSWER_BYTES is left out */
};

bool push_is_url(const char *url) {
    const bool known = !strncasecmp(url, "http://", 7) || !strncasecmp(url, "https://", 8);
    return known && strchr(url, ':')[3] && strlen(url) < URL_BYTES - sizeof PATH &&
           strcspn(url, " \t\r\n") == strlen(url);
}

/* ---- the library ---- */

static bool load(struct library *library, struct error *error) {
    static const char *const NAMES[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *object = NULL;
    for (size_t i = 0; !object && i < sizeof NAMES / sizeof *NAMES; i++)
        object = dlopen(NAMES[i], RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return error_set(error, "libcurl cannot be loaded (Debian has it in libcurl4)");
    *(void **)&library->init = dlsym(object, "curl_easy_init");
    *(void **)&library->set = dlsym(object, "curl_easy_setopt");
    *(void **)&library->perform = dlsym(object, "curl_easy_perform");
    *(void **)&library->get = dlsym(object, "curl_easy_getinfo");
    *(void **)&library->explain = dlsym(object, "curl_easy_strerror");
    *(void **)&library->cleanup = dlsym(object, "curl_easy_cleanup");
    *(void **)&library->append = dlsym(object, "curl_slist_append");
    *(void **)&library->free_list = dlsym(object, "curl_slist_free_all");
    return (library->init && library->set && library->perform && library->get && library->explain &&
            library->cleanup && library->append && library->free_list) ||
           error_set(error, "libcurl is of no use");
}

/* ---- one request ---- */

static size_t take_body(char *data, size_t size, size_t count, void *context) {
    struct answer *answer = context;
    const size_t room = ANSWER_BYTES - answer->size, bytes = size * count;
    const size_t taken = bytes < room ? bytes : room;
    memcpy(answer->body + answer->size, data, taken);
    answer->size += taken;
    return bytes;
}

static size_t take_header(char *data, size_t size, size_t count, void *context) {
    static const char AFTER[] = "retry-after:", CONTENT[] = "content-type:";
    struct answer *answer = context;
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)(size * count < sizeof line ? size * count : 255),
             data);
    if (!strncasecmp(line, AFTER, sizeof AFTER - 1)) {
        char *end, *begin = line + sizeof AFTER - 1;
        const long seconds = strtol(begin, &end, 10);
        answer->wait_seconds = end > begin && seconds >= 0 ? seconds : -1; /* or it is a date */
    } else if (!strncasecmp(line, CONTENT, sizeof CONTENT - 1)) {
        answer->protobuf = strstr(line, TYPE);
    }
    return size * count;
}

static long timeout_milliseconds(void) {
    const char *set = getenv("OTEL_EXPORTER_OTLP_TIMEOUT");
    const long given = set ? strtol(set, NULL, 10) : 0;
    return given > 0 ? given : TIMEOUT_MILLISECONDS;
}

static bool prepare(const struct library *library, CURL *handle, const char *url,
                    struct curl_slist *headers, const void *request, size_t size,
                    struct answer *answer) {
    const long timeout = timeout_milliseconds();
    return !library->set(handle, CURLOPT_URL, url) &&
           !library->set(handle, CURLOPT_PROTOCOLS_STR, "http,https") &&
           !library->set(handle, CURLOPT_HTTPHEADER, headers) &&
           !library->set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size) &&
           !library->set(handle, CURLOPT_POSTFIELDS, request) &&
           !library->set(handle, CURLOPT_TIMEOUT_MS, timeout) &&
           !library->set(handle, CURLOPT_WRITEFUNCTION, take_body) &&
           !library->set(handle, CURLOPT_WRITEDATA, answer) &&
           !library->set(handle, CURLOPT_HEADERFUNCTION, take_header) &&
           !library->set(handle, CURLOPT_HEADERDATA, answer);
}

static bool send_once(const struct library *library, const char *url, const void *request,
                      size_t size, struct answer *answer, struct error *error) {
    CURL *handle = library->init();
    char type[64];
    snprintf(type, sizeof type, "Content-Type: %s", TYPE);
    struct curl_slist *headers = library->append(NULL, type);
    *answer = (struct answer){.wait_seconds = -1};
    bool good = handle && headers && prepare(library, handle, url, headers, request, size, answer);
    if (!good) {
        error_set(error, "%s: out of memory", url);
    } else {
        const CURLcode code = library->perform(handle);
        if (code == CURLE_OPERATION_TIMEDOUT)
            good = error_set(error, "%s: no answer within %.10g s (OTEL_EXPORTER_OTLP_TIMEOUT)",
                             url, (double)timeout_milliseconds() / 1000);
        else if (code)
            good = error_set(error, "%s: %s", url, library->explain(code));
        else
            library->get(handle, CURLINFO_RESPONSE_CODE, &answer->status);
    }
    library->free_list(headers);
    if (handle)
        library->cleanup(handle);
    return good;
}

/* ---- answers ---- */

/* The first line of what the server says, as it can be shown. */
static void find_message(const struct answer *answer, char *text, size_t size) {
    const uint8_t *body = (const uint8_t *)answer->body;
    Otlp__Status *status = answer->protobuf ? otlp__status__unpack(NULL, answer->size, body) : NULL;
    char line[SHOWN_BYTES + 1];
    snprintf(line, sizeof line, "%.*s", SHOWN_BYTES,
             status             ? status->message
             : answer->protobuf ? ""
                                : answer->body);
    line[strcspn(line, "\r\n")] = 0;
    text_clean(text, size, line);
    if (status)
        otlp__status__free_unpacked(status, NULL);
}

static bool refuse(const char *url, const struct answer *answer, struct error *error) {
    char message[4 * SHOWN_BYTES];
    find_message(answer, message, sizeof message);
    return error_set(error, "%s: the server answered %ld%s%s", url, answer->status,
                     *message ? ": " : "", message);
}

/* It may have taken a part. */
static bool take_success(const char *url, const struct answer *answer, struct error *error) {
    Otlp__ExportProfilesServiceResponse *response = NULL;
    bool good = true;
    if (answer->protobuf)
        response = otlp__export_profiles_service_response__unpack(NULL, answer->size,
                                                                  (const uint8_t *)answer->body);
    if (response && response->partial_success && response->partial_success->rejected_profiles) {
        char message[4 * SHOWN_BYTES], line[SHOWN_BYTES + 1];
        snprintf(line, sizeof line, "%.*s", SHOWN_BYTES, response->partial_success->error_message);
        text_clean(message, sizeof message, line);
        good =
            error_set(error, "%s: the server rejected %" PRId64 " profiles%s%s", url,
                      response->partial_success->rejected_profiles, *message ? ": " : "", message);
    }
    if (response)
        otlp__export_profiles_service_response__free_unpacked(response, NULL);
    return good;
}

static bool is_busy(long status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void wait_before(unsigned attempt, const struct answer *answer) {
    const long asked = answer->wait_seconds >= 0 ? answer->wait_seconds : 1L << attempt;
    const struct timespec time = {.tv_sec = asked < WAIT_MOST_SECONDS ? asked : WAIT_MOST_SECONDS};
    nanosleep(&time, NULL);
}

static void complete_url(char *to, size_t size, const char *url) {
    size_t length = strlen(url);
    if (text_ends_with(url, PATH)) {
        snprintf(to, size, "%s", url);
        return;
    }
    while (length && url[length - 1] == '/')
        length--;
    snprintf(to, size, "%.*s%s", (int)length, url, PATH);
}

bool push_profiles(const char *url, const void *request, size_t size, struct error *error) {
    struct library library = {0};
    struct answer *answer = malloc(sizeof *answer);
    char address[URL_BYTES];
    bool sent = false;
    complete_url(address, sizeof address, url);
    if (!answer)
        return error_set(error, "%s: out of memory", address);
    if (load(&library, error)) {
        for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (attempt)
                wait_before(attempt - 1, answer);
            sent = send_once(&library, address, request, size, answer, error);
            if (!sent || !is_busy(answer->status))
                break;
        }
    }
    if (sent)
        sent = answer->status / 100 == 2 ? take_success(address, answer, error)
                                         : refuse(address, answer, error);
    free(answer);
    return sent;
}

bool push_store(struct store *store, const struct store_filter *filter, const char *url,
                struct error *error) {
    char *request = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&request, &size);
    bool good = memory || error_set(error, "out of memory for the profile");
    good = good && exchange_export(store, filter, EXCHANGE_OTLP, memory, NULL, error);
    if (memory && fclose(memory) && good)
        good = error_set(error, "out of memory for the profile");
    good = good && push_profiles(url, request, size, error);
    free(request);
    return good || error_prefix(error, "--push");
}
