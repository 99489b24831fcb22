#include "util/json_text.h"

#include "util/text.h"

json_t *json_text(const char *text) {
    char clean[4096];
    return text ? json_string(text_clean_to_escape(clean, sizeof clean, text)) : json_null();
}

bool json_text_write(const char *text, FILE *file) {
    json_t *value = json_text(text);
    const bool good = value && json_dumpf(value, file, JSON_ENCODE_ANY | JSON_COMPACT) == 0;
    json_decref(value);
    return good;
}
