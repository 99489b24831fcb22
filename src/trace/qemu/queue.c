/* Items wait in an array until they are handed out, in the order in which they came. What an item
 * refers to is looked up only then, since tables may move while it waits. */
#include "trace/qemu/capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

struct queued *capture_queue(struct capture *capture, enum item_kind kind) {
    if (!array_room(capture->queue, capture->queue_capacity, capture->queue_count + 1)) {
        capture->out_of_memory = true;
        return &capture->spare;
    }
    struct queued *item = &capture->queue[capture->queue_count++];
    *item = (struct queued){.kind = kind};
    return item;
}

void capture_note(struct capture *capture, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct queued *item = capture_queue(capture, ITEM_NOTE);
    if (vasprintf(&item->text, format, arguments) < 0)
        item->text = NULL;
    va_end(arguments);
}

static void keep_until_next(struct capture *capture, const char *text) {
    if (text && array_room(capture->texts, capture->text_capacity, capture->text_count + 1))
        capture->texts[capture->text_count++] = (char *)text;
}

void queue_forget_texts(struct capture *capture) {
    for (size_t i = 0; i < capture->text_count; i++)
        free(capture->texts[i]);
    capture->text_count = 0;
}

static void give_image(const struct capture *capture, const struct queued *queued,
                       struct item *item) {
    const struct image *image = &capture->images.items[queued->mapping.image];
    item->image = (struct item_image){.process = queued->process,
                                      .image = queued->mapping.image,
                                      .path = image->path,
                                      .kind = image->kind,
                                      .build_id_size = image->build_id_size,
                                      .start = queued->mapping.start,
                                      .end = queued->mapping.end,
                                      .file_offset = queued->mapping.file_offset};
    memcpy(item->image.build_id, image->build_id, sizeof image->build_id);
}

static void release_queued(struct queued *queued) {
    symbol_cover_free(&queued->symbols);
    if (queued->kind == ITEM_CODE)
        blocks_release(queued->blocks);
}

void queue_give(struct capture *capture, struct item *item) {
    struct queued *queued = &capture->queue[capture->queue_first++];
    item->kind = queued->kind;
    switch (queued->kind) {
    case ITEM_PROCESS:
        item->process = queued->described;
        keep_until_next(capture, queued->described.command);
        keep_until_next(capture, queued->described.executable);
        break;
    case ITEM_IMAGE:
        give_image(capture, queued, item);
        break;
    case ITEM_CODE:
        item->code = kept_code_item(&queued->blocks->code, queued->definition, queued->process,
                                    queued->number);
        break;
    case ITEM_DATA:
        item->data = queued->data;
        break;
    case ITEM_THREAD_END:
        item->thread_ended = queued->number;
        break;
    case ITEM_SYMBOLS:
        item->symbols = (struct item_symbols){.process = queued->process,
                                              .count = (uint32_t)queued->symbols.count,
                                              .symbols = queued->symbols.symbols};
        break;
    case ITEM_THREAD_EVENT:
        item->event = queued->event;
        break;
    case ITEM_PYTHON:
        item->python = queued->python;
        item->python.name = item->python.name ? item->python.name : "?";
        item->python.path = item->python.path ? item->python.path : "?";
        keep_until_next(capture, queued->python.name);
        keep_until_next(capture, queued->python.path);
        break;
    case ITEM_MARKER:
        item->marker = queued->marker;
        break;
    case ITEM_EFFECT:
        item->effect = (struct item_effect){.thread = queued->number,
                                            .position = queued->position,
                                            .what = queued->text ? queued->text : "?"};
        keep_until_next(capture, queued->text);
        break;
    case ITEM_CHILD:
        item->child = (struct item_child){queued->process, queued->seconds};
        break;
    default:
        item->note = queued->text ? queued->text : "out of memory";
        keep_until_next(capture, queued->text);
    }
}

void queue_rewind(struct capture *capture) {
    for (size_t i = 0; i < capture->queue_count; i++)
        release_queued(&capture->queue[i]);
    capture->queue_first = capture->queue_count = 0;
}
