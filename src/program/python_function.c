/* Every object's type is compared with that of the interpreter's image before anything else of it
 * is believed, and sizes are bounded. Names are kept without control characters. */
#include "program/python_function.h"

#include <stdlib.h>
#include <string.h>

#include "util/little_endian.h"

enum {
    /* As much as is read of an object: all are larger. */
    CODE_BYTES = 160,
    TEXT_BYTES = 40,
    BYTES_BYTES = 32,
    NAME_CHARACTERS_MAX = 256,
    PATH_CHARACTERS_MAX = 1024,
    TABLE_BYTES_MAX = 1 << 20
};

struct reading {
    const struct python_memory *memory;
    const struct python_image *image;
    uint64_t bias;
};

static bool read_memory(const struct reading *reading, uint64_t address, void *bytes, size_t size) {
    return reading->memory->read(reading->memory->context, address, bytes, size);
}

/* Reads the first `size` bytes of an object of a type. */
static bool read_object(const struct reading *reading, uint64_t address, uint64_t type, void *bytes,
                        size_t size) {
    return address && read_memory(reading, address, bytes, size) &&
           get_u64(bytes + reading->image->layout.object_type) == type + reading->bias;
}

/* ---- strings ---- */

/* UTF-8 of one character; what is none, or would control a terminal, is a question mark. */
static size_t put_character(char *to, uint32_t c) {
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = '?';
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(FIRST[more] | c >> (6 * more));
    for (unsigned i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

static uint32_t character_at(const uint8_t *data, unsigned width, size_t i) {
    uint32_t c = 0;
    memcpy(&c, data + i * width, width);
    return c;
}

/* A string object as UTF-8, to be freed, cut off after `most` characters; NULL: it is none, or
 * there is no memory. */
static char *read_text(const struct reading *reading, uint64_t address, size_t most) {
    enum { KIND_SHIFT = 2, COMPACT = 1 << 5, ASCII = 1 << 6 };
    const struct python_layout *layout = &reading->image->layout;
    uint8_t head[TEXT_BYTES], data[4 * PATH_CHARACTERS_MAX];
    if (layout->text_length > TEXT_BYTES - 8 || layout->text_state > TEXT_BYTES - 4 ||
        !read_object(reading, address, reading->image->text_type, head, sizeof head))
        return NULL;
    const uint64_t length = get_u64(head + layout->text_length);
    const uint32_t state = get_u32(head + layout->text_state), width = state >> KIND_SHIFT & 7;
    const size_t kept = length < most ? length : most;
    if (!(state & COMPACT) || (width != 1 && width != 2 && width != 4) ||
        !read_memory(reading, address + (state & ASCII ? layout->text_ascii : layout->text_data),
                     data, kept * width))
        return NULL;
    static const char CUT[] = "…";
    char *text = malloc(4 * kept + sizeof CUT);
    size_t size = 0;
    for (size_t i = 0; text && i < kept; i++)
        size += put_character(text + size, character_at(data, width, i));
    if (text)
        memcpy(text + size, kept < length ? CUT : "", kept < length ? sizeof CUT : 1);
    return text;
}

/* ---- code objects ---- */

/* Of a table that cannot be read there are none. False: out of memory. */
static bool read_lines(const struct reading *reading, uint64_t address, uint32_t first_line,
                       struct python_lines *lines) {
    const struct python_layout *layout = &reading->image->layout;
    uint8_t head[BYTES_BYTES];
    if (layout->bytes_size > BYTES_BYTES - 8 ||
        !read_object(reading, address, reading->image->bytes_type, head, sizeof head))
        return true;
    const uint64_t size = get_u64(head + layout->bytes_size);
    if (size > TABLE_BYTES_MAX)
        return true;
    uint8_t *table = malloc(size + 1);
    const bool good = table && (!read_memory(reading, address + layout->bytes_data, table, size) ||
                                python_lines_read(lines, table, size, first_line));
    free(table);
    return good;
}

bool python_function_read(const struct python_memory *memory, const struct python_image *image,
                          uint64_t bias, uint64_t address, uint64_t identity,
                          struct python_function *function) {
    const struct reading reading = {memory, image, bias};
    const struct python_layout *layout = &image->layout;
    uint8_t object[CODE_BYTES];
    *function = (struct python_function){0};
    if (layout->code_filename > CODE_BYTES - 8 || layout->code_linetable > CODE_BYTES - 8 ||
        layout->code_qualname > CODE_BYTES - 8 || layout->code_first_line > CODE_BYTES - 8 ||
        !read_object(&reading, address, image->code_type, object, sizeof object))
        return false;
    const uint64_t qualname = get_u64(object + layout->code_qualname);
    const uint64_t table = get_u64(object + layout->code_linetable);
    if (python_identity(qualname, table) != identity)
        return false;
    function->first_line = get_u32(object + layout->code_first_line);
    function->name = read_text(&reading, qualname, NAME_CHARACTERS_MAX);
    function->path =
        read_text(&reading, get_u64(object + layout->code_filename), PATH_CHARACTERS_MAX);
    if (function->name && function->path &&
        read_lines(&reading, table, function->first_line, &function->lines))
        return true;
    python_function_free(function);
    return false;
}

void python_function_free(struct python_function *function) {
    free(function->name);
    free(function->path);
    python_lines_free(&function->lines);
    *function = (struct python_function){0};
}

uint32_t python_function_line(const struct python_function *function, uint64_t instruction) {
    const uint64_t unit = instruction / 2;
    const uint32_t line =
        unit <= UINT32_MAX ? python_lines_find(&function->lines, (uint32_t)unit) : 0;
    return line ? line : function->first_line;
}
