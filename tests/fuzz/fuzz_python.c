/* Any bytes as an interpreter's file, as the memory that a code object lies in, as its table of
 * lines, and as the frames of a stack. */
#include <string.h>

#include "input.h"
#include "live/python_code.h"
#include "live/python_weave.h"
#include "python_3_11.h"
#include "store/source_place.h"

static const uint8_t *memory;
static size_t memory_size;

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size) {
    (void)context;
    return address <= memory_size && size <= memory_size - address &&
           memcpy(bytes, memory + address, size);
}

static bool find_frame(void *context, const struct python_item *item, struct live_frame *frame) {
    static const struct live_code CODE = {.path = "p", .name = "n"};
    (void)context;
    *frame = (struct live_frame){.place = PLACE_CODE, .code = item->code & 1 ? &CODE : NULL};
    return true;
}

static void weave(const uint8_t *data, size_t size) {
    static struct python_stack python;
    static struct live_stack stack;
    bool lacking;
    memset(&python, 0, sizeof python);
    memcpy(&python, data, size < sizeof python ? size : sizeof python);
    python.count %= PYTHON_ITEMS_MAX + 1;
    stack.count = size % (LIVE_FRAMES_MAX + 1);
    stack.end = LIVE_STACK_WHOLE;
    for (size_t i = 0; i <= stack.count; i++)
        stack.tops[i] = 16 * i;
    require(python_weave(&python, find_frame, NULL, &stack, &lacking));
    require(stack.count <= LIVE_FRAMES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct python_lines lines = {0};
    require(python_lines_read(&lines, data, size, 1));
    for (uint32_t unit = 0; unit < 64; unit++)
        python_lines_find(&lines, unit);
    python_lines_free(&lines);

    memory = data;
    memory_size = size;
    uint64_t words[2] = {0};
    if (size >= 192)
        memcpy(words, data + 128 + 8, sizeof words);
    struct python_code code;
    const struct python_memory readable = {.read = read_memory};
    if (python_code_read(&readable, &PYTHON_3_11, 0, 8, python_identity(words[0], words[1]),
                         &code)) {
        require(source_line(python_code_place(&code, 6)) < 1u << SOURCE_LINE_BITS);
        python_code_free(&code);
    }
    weave(data, size);

    struct elf_image elf = {0};
    struct python_image image;
    struct error error;
    uint8_t *copy = malloc(size + 1);
    require(copy != NULL);
    memcpy(copy, data, size);
    if (elf_image_open_memory(&elf, copy, size, "input", &error))
        python_image_read(&elf, &image);
    elf_image_close(&elf);
    return 0;
}
