#include "util/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"

json_t *json_text(const char *text) {
    if (!text)
        return json_null();
    const size_t size = strlen(text) + 1; /* what replaces a character is one byte */
    char *clean = malloc(size);
    json_t *value = clean ? json_string(text_clean_to_escape(clean, size, text)) : NULL;
    free(clean);
    return value;
}

bool json_text_write(const char *text, FILE *file) {
    json_t *value = json_text(text);
    const bool good = value && json_dumpf(value, file, JSON_ENCODE_ANY | JSON_COMPACT) == 0;
    json_decref(value);
    return good;
}
