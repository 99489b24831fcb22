#include "query/image_name.h"

#include <string.h>

bool image_name_next(struct image_name *reading, const char *text) {
    const char *colon = strchr(reading->name ? reading->name : text, ':');
    while (colon) {
        const size_t length = (size_t)(colon - text), run = strspn(colon, ":");
        if (run == 1 && length && length < sizeof reading->image) {
            memcpy(reading->image, text, length);
            reading->image[length] = 0;
            reading->name = colon + 1;
            return true;
        }
        colon = strchr(colon + run, ':');
    }
    return false;
}
