/* GDB manual, "Debugging Information in Separate Files" and "MiniDebugInfo". */
#include "program/debug_file.h"

#include <libgen.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum {
    MINI_DEBUG_MAX_BYTES = 64 << 20, /* of decompressed .gnu_debugdata; real ones are under 1 MB */
    LZMA_MEMORY_BYTES = 128 << 20
};

static bool same_build_id(const struct elf_image *a, const struct elf_image *b) {
    return a->build_id_size && a->build_id_size == b->build_id_size &&
           !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Takes a file whose build id is the image's. */
static bool open_checked(struct elf_image *debug, const struct elf_image *image, const char *path) {
    struct error error;
    if (!elf_image_open(debug, path, &error))
        return false;
    if (same_build_id(debug, image))
        return true;
    elf_image_close(debug);
    return false;
}

static bool open_by_build_id(struct elf_image *debug, const struct elf_image *image) {
    char path[sizeof DEBUG_ROOT "/.build-id/xx/.debug" + 2 * BUILD_ID_MAX];
    if (image->build_id_size < 2)
        return false;
    int length = snprintf(path, sizeof path, DEBUG_ROOT "/.build-id/%02x/", image->build_id[0]);
    for (size_t i = 1; i < image->build_id_size; i++)
        length += snprintf(path + length, sizeof path - (size_t)length, "%02x", image->build_id[i]);
    snprintf(path + length, sizeof path - (size_t)length, ".debug");
    return open_checked(debug, image, path);
}

/* What was fetched from a server before. */
static bool open_kept(struct elf_image *debug, const struct elf_image *image) {
    char path[PATH_MAX];
    return debug_server_kept(DEBUG_SERVER_DEBUG_FILE, image->build_id, image->build_id_size,
                             path) &&
           open_checked(debug, image, path);
}

bool served_file_open(struct elf_image *image, enum debug_server_file file, const uint8_t *build_id,
                      size_t size) {
    char path[PATH_MAX];
    struct error error;
    if (!size || !debug_server_fetch(file, build_id, size, path))
        return false;
    if (elf_image_open(image, path, &error)) {
        if (image->build_id_size == size && !memcmp(image->build_id, build_id, size))
            return true;
        elf_image_close(image);
        error_set(&error, "it has another build id");
    }
    debug_server_refuse(path, error.message);
    return false;
}

/* The CRC-32 of zlib, bit by bit from a table of nibbles. */
static uint32_t checksum(const uint8_t *bytes, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        sum = (sum >> 4) ^ table[(sum ^ bytes[i]) & 15];
        sum = (sum >> 4) ^ table[(sum ^ (uint32_t)(bytes[i] >> 4)) & 15];
    }
    return ~sum;
}

/* The name and checksum in .gnu_debuglink; NULL: none. */
static const char *debug_link(const struct elf_image *image, uint32_t *sum) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section(image, ".gnu_debuglink", &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return NULL;
    const char *name = data->d_buf;
    size_t length = strnlen(name, data->d_size);
    size_t at = (length + 4) & ~(size_t)3;
    if (!length || at + 4 > data->d_size || strchr(name, '/'))
        return NULL;
    memcpy(sum, (const uint8_t *)data->d_buf + at, 4);
    return name;
}

static bool open_by_link(struct elf_image *debug, const struct elf_image *image, const char *path) {
    uint32_t sum;
    const char *name = debug_link(image, &sum);
    char directory_buffer[PATH_MAX], candidate[PATH_MAX];
    if (!name || strlen(path) >= sizeof directory_buffer)
        return false;
    strcpy(directory_buffer, path);
    const char *directory = dirname(directory_buffer);
    static const char *const patterns[] = {"%s/%s", "%s/.debug/%s", DEBUG_ROOT "%s/%s"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct error error;
        if (snprintf(candidate, sizeof candidate, patterns[i], directory, name) >=
                (int)sizeof candidate ||
            !elf_image_open(debug, candidate, &error))
            continue;
        if (image->build_id_size ? same_build_id(debug, image)
                                 : checksum(debug->bytes, debug->size) == sum)
            return true;
        elf_image_close(debug);
    }
    return false;
}

bool debug_file_open(struct elf_image *debug, const struct elf_image *image, const char *path,
                     bool ask_servers) {
    return open_by_build_id(debug, image) || open_kept(debug, image) ||
           open_by_link(debug, image, path) ||
           (ask_servers && served_file_open(debug, DEBUG_SERVER_DEBUG_FILE, image->build_id,
                                            image->build_id_size));
}

bool debug_data_open(struct elf_image *debug, const struct elf_image *image, const char *path) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section(image, ".gnu_debugdata", &header);
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return false;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, LZMA_MEMORY_BYTES, LZMA_CONCATENATED) != LZMA_OK)
        return false;
    stream.next_in = data->d_buf;
    stream.avail_in = data->d_size;
    uint8_t *bytes = NULL;
    size_t size = 0, room = 0;
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK && room < MINI_DEBUG_MAX_BYTES) {
        room = room ? room * 2 : 1 << 16;
        uint8_t *moved = realloc(bytes, room);
        if (!moved)
            break;
        bytes = moved;
        stream.next_out = bytes + size;
        stream.avail_out = room - size;
        status = lzma_code(&stream, LZMA_FINISH);
        size = room - stream.avail_out;
    }
    lzma_end(&stream);
    struct error error;
    if (status == LZMA_STREAM_END)
        return elf_image_open_memory(debug, bytes, size, path, &error);
    free(bytes);
    return false;
}
