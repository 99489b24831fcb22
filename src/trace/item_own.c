#include "trace/item_own.h"

#include <string.h>

static bool own_text(const char **text, struct arena *arena) {
    return !*text || (*text = arena_copy(arena, *text, strlen(*text)));
}

static bool own_symbols(struct item_symbols *symbols, struct arena *arena) {
    const size_t size = symbols->count * sizeof *symbols->symbols;
    struct code_symbol *copy = arena_alloc(arena, size ? size : 1);
    if (!copy)
        return false;
    for (uint32_t i = 0; i < symbols->count; i++) {
        copy[i] = symbols->symbols[i];
        if (!own_text(&copy[i].name, arena))
            return false;
    }
    symbols->symbols = copy;
    return true;
}

bool item_own(struct item *item, struct arena *arena) {
    switch (item->kind) {
    case ITEM_HEADER:
        return own_text(&item->header.command, arena) && own_text(&item->header.host, arena);
    case ITEM_PROCESS:
        return own_text(&item->process.command, arena) &&
               own_text(&item->process.executable, arena) &&
               own_text(&item->process.untraced_reason, arena);
    case ITEM_IMAGE:
        return own_text(&item->image.path, arena);
    case ITEM_CODE:
        item->code.bytes = (const uint8_t *)arena_copy(arena, (const char *)item->code.bytes,
                                                       item_code_bytes(&item->code));
        return item->code.bytes;
    case ITEM_SYMBOLS:
        return own_symbols(&item->symbols, arena);
    case ITEM_PYTHON:
        return own_text(&item->python.name, arena) && own_text(&item->python.path, arena);
    case ITEM_NOTE:
    case ITEM_CUT:
        return own_text(&item->note, arena);
    case ITEM_EFFECT:
        return own_text(&item->effect.what, arena);
    case ITEM_DATA:
    case ITEM_THREAD_END:
    case ITEM_THREAD_EVENT:
    case ITEM_MARKER:
    case ITEM_CHILD:
    case ITEM_END:
        return true;
    }
    return true;
}
