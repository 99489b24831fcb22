#include "store/address.h"

#include <stdio.h>
#include <string.h>

bool store_is_address(const char *path) {
    return !strncmp(path, "postgresql://", 13) || !strncmp(path, "postgres://", 11);
}

size_t store_other_scheme(const char *path) {
    const size_t length = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-.");
    const bool own = (length == 10 && !strncasecmp(path, "postgresql", length)) ||
                     (length == 8 && !strncasecmp(path, "postgres", length));
    const bool other = length && (own ? path[length] == ':' : !strncmp(path + length, "://", 3));
    return other && !store_is_address(path) ? length : 0;
}

/* Adds text of this length, as far as there is room. */
static void put(char shown[PATH_MAX], size_t *used, const char *text, size_t length) {
    if (length > PATH_MAX - 1 - *used)
        length = PATH_MAX - 1 - *used;
    memcpy(shown + *used, text, length);
    *used += length;
    shown[*used] = 0;
}

/* Of "user:password@": what stands before ':' and the '@'. The last '@' ends it, since a password
 * that was not encoded may have others. */
static const char *put_user(char shown[PATH_MAX], size_t *used, const char *at) {
    const char *last = memrchr(at, '@', strcspn(at, "/?"));
    /* A password may have '/' and '?' unencoded, too: nothing of it is shown then. */
    const char *beyond = strrchr(at, '@');
    if (!last && beyond && memchr(at, ':', (size_t)(beyond - at)))
        last = beyond;
    if (!last)
        return at;
    put(shown, used, at, strcspn(at, ":@"));
    put(shown, used, "@", 1);
    return last + 1;
}

static bool is_secret(const char *parameter, size_t length) {
    static const char *const SECRETS[] = {"password", "sslpassword"};
    for (size_t i = 0; i < sizeof SECRETS / sizeof *SECRETS; i++)
        if (length > strlen(SECRETS[i]) && !strncmp(parameter, SECRETS[i], strlen(SECRETS[i])) &&
            parameter[strlen(SECRETS[i])] == '=')
            return true;
    /* A name may be written with %70 for 'p': what cannot be told is not shown. */
    return memchr(parameter, '%', strcspn(parameter, "=&")) != NULL;
}

const char *store_shown_address(const char *path, char shown[PATH_MAX]) {
    size_t used = 0;
    shown[0] = 0;
    if (!store_is_address(path)) {
        put(shown, &used, path, strlen(path));
        return shown;
    }
    const char *at = strstr(path, "://") + 3;
    put(shown, &used, path, (size_t)(at - path));
    at = put_user(shown, &used, at);
    const char *parameters = at + strcspn(at, "?");
    put(shown, &used, at, (size_t)(parameters - at));
    for (const char *before = "?"; *parameters;) {
        const char *parameter = parameters + 1;
        const size_t length = strcspn(parameter, "&");
        if (!is_secret(parameter, length)) {
            put(shown, &used, before, 1);
            put(shown, &used, parameter, length);
            before = "&";
        }
        parameters = parameter + length;
    }
    return shown;
}
