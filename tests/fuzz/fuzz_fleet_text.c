/* Text about fleets that comes from others: the first byte tells whether the rest is the name of a
 * sum of a day, as a server has it, or a build as --build takes it. */
#include <math.h>
#include <string.h>

#include "input.h"
#include "store/build_choice.h"
#include "store/day_sums.h"

static void try_sum(const char *name) {
    const struct store_session session = {.kind = SESSION_SUM, .name = name, .host = ""};
    const struct store_session live = {.kind = SESSION_LIVE, .name = name, .host = ""};
    struct day_sum sum = {.own = 1}, again;
    if (!day_sum_read(&session, &sum)) {
        require(sum.own == 1 && !sum.epochs.count);
        return;
    }
    require(isfinite(sum.seconds) && sum.seconds >= 0);
    require(day_sum_read(&session, &again) && day_epochs_same(&sum.epochs, &again.epochs));
    require(!day_sum_read(&live, &again));
    require(strspn(name, "0123456789., abcdefghijklmnopqrstuvwxyz") == strlen(name));
}

/* What is taken ends in hexadecimal digits, four at least, and has something before its last @. */
static void try_build(const char *text) {
    struct error error;
    if (!build_text_check(text, &error)) {
        require(!strchr(error.message, '\n'));
        return;
    }
    const char *at = strrchr(text, '@'), *digits = at ? at + 1 : text;
    require(at != text && strlen(digits) >= 4);
    require(strspn(digits, "0123456789abcdefABCDEF") == strlen(digits));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    (*data == 's' ? try_sum : try_build)(text);
    free(text);
    return 0;
}
