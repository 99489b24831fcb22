#include "live/live_code.h"

#include <stdlib.h>
#include <string.h>

#include "live/live.h"

const struct live_code *live_code_new(const struct live_code *code) {
    const size_t path = strlen(code->path) + 1, name = strlen(code->name) + 1;
    struct live_code *copy = malloc(sizeof *copy + path + name);
    if (!copy)
        return NULL;
    char *text = (char *)(copy + 1);
    *copy = *code;
    copy->holders = 1;
    copy->path = memcpy(text, code->path, path);
    copy->name = memcpy(text + path, code->name, name);
    for (size_t i = 0; i < path + name; i++)
        if ((text[i] > 0 && text[i] < ' ') || text[i] == 0x7f)
            text[i] = '?';
    return copy;
}

/* Only those of live_code_new() are held, and those may change. */
void live_code_hold(const struct live_code *code) {
    if (code && code->holders)
        ((struct live_code *)(uintptr_t)code)->holders++;
}

void live_code_release(const struct live_code *code) {
    if (code && code->holders && !--((struct live_code *)(uintptr_t)code)->holders)
        free((void *)(uintptr_t)code);
}

void live_frames_hold(const struct live_frame *frames, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (frames[i].place == PLACE_CODE)
            live_code_hold(frames[i].code);
}

void live_frames_release(const struct live_frame *frames, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (frames[i].place == PLACE_CODE)
            live_code_release(frames[i].code);
}
