#include "report/data_names.h"

#include "attribute/memory_objects.h"

const char *object_kind_name(uint8_t kind) {
    static const char *const NAMES[OBJECT_KINDS] = {
        [OBJECT_UNKNOWN] = "unknown", [OBJECT_SYMBOL] = "variable",   [OBJECT_SECTION] = "section",
        [OBJECT_HEAP] = "heap",       [OBJECT_ALLOCATOR] = "heap",    [OBJECT_STACK] = "frame",
        [OBJECT_MAPPED] = "file",     [OBJECT_ANONYMOUS] = "mapping", [OBJECT_CODE] = "code"};
    return NAMES[kind];
}
