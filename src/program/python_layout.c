/* The symbols are exported: a stripped file has them too. Releases of one minor version do not
 * change what is used here; versions before a release did, and are not known. */
#include "program/python_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/array.h"
#include "util/file_name.h"

/* offsetof() in Python 3.11.2 and 3.11.7, x86-64. */
static const struct python_layout LAYOUT_3_11 = {.interpreters = 40,
                                                 .holder = 576,
                                                 .interpreter_next = 0,
                                                 .threads = 16,
                                                 .thread_next = 8,
                                                 .thread_id = 160,
                                                 .thread_frame = 56,
                                                 .has_c_frames = 1,
                                                 .c_frame_frame = 8,
                                                 .c_frame_previous = 16,
                                                 .frame_code = 32,
                                                 .frame_previous = 48,
                                                 .frame_instruction = 56,
                                                 .frame_owner = 69,
                                                 .frame_entry = 68,
                                                 .code_filename = 112,
                                                 .code_qualname = 128,
                                                 .code_linetable = 136,
                                                 .code_first_line = 72,
                                                 .code_instructions = 184,
                                                 .object_type = 8,
                                                 .bytes_size = 16,
                                                 .bytes_data = 32,
                                                 .text_length = 16,
                                                 .text_state = 32,
                                                 .text_ascii = 48,
                                                 .text_data = 72};

/* In Python 3.12.1. */
static const struct python_layout LAYOUT_3_12 = {.interpreters = 40,
                                                 .holder = 1048,
                                                 .holder_is_inner = 1,
                                                 .interpreter_next = 0,
                                                 .threads = 72,
                                                 .thread_next = 8,
                                                 .thread_id = 144,
                                                 .thread_frame = 56,
                                                 .has_c_frames = 1,
                                                 .c_frame_frame = 0,
                                                 .c_frame_previous = 8,
                                                 .frame_code = 0,
                                                 .frame_previous = 8,
                                                 .frame_instruction = 56,
                                                 .frame_owner = 70,
                                                 .code_filename = 112,
                                                 .code_qualname = 128,
                                                 .code_linetable = 136,
                                                 .code_first_line = 68,
                                                 .code_instructions = 192,
                                                 .object_type = 8,
                                                 .bytes_size = 16,
                                                 .bytes_data = 32,
                                                 .text_length = 16,
                                                 .text_state = 32,
                                                 .text_ascii = 40,
                                                 .text_data = 56};

/* ---- 3.13: _Py_DebugOffsets ---- */

/* Where the struct of 3.13 has them, in words of 8 bytes. */
enum told {
    TOLD_COOKIE,
    TOLD_VERSION,
    TOLD_FREE_THREADED,
    TOLD_INTERPRETERS = 5,
    TOLD_INTERPRETER_NEXT = 8,
    TOLD_THREADS,
    TOLD_HOLDER = 18,
    TOLD_THREAD_NEXT = 21,
    TOLD_THREAD_FRAME = 23,
    TOLD_THREAD_ID = 25,
    TOLD_FRAME_PREVIOUS = 29,
    TOLD_FRAME_CODE,
    TOLD_FRAME_INSTRUCTION,
    TOLD_FRAME_OWNER = 33,
    TOLD_CODE_FILENAME = 35,
    TOLD_CODE_QUALNAME = 37,
    TOLD_CODE_LINETABLE,
    TOLD_CODE_FIRST_LINE,
    TOLD_CODE_INSTRUCTIONS = 43,
    TOLD_OBJECT_TYPE = 45,
    TOLD_BYTES_SIZE = 65,
    TOLD_BYTES_DATA,
    TOLD_TEXT_STATE = 68,
    TOLD_TEXT_LENGTH,
    TOLD_TEXT_ASCII,
    TOLD_WORDS
};
enum { OFFSET_MAX = 1 << 24, FRAME_WORD_MAX = 56, CODE_MAX = 1 << 10 };

/* The structures that are copied as a whole are small. */
static bool is_plausible(const struct python_layout *layout) {
    const uint32_t frame[] = {layout->frame_code, layout->frame_previous,
                              layout->frame_instruction};
    const uint32_t code[] = {
        layout->code_filename,   layout->code_qualname,     layout->code_linetable,
        layout->code_first_line, layout->code_instructions, layout->object_type,
        layout->bytes_size,      layout->bytes_data,        layout->text_length,
        layout->text_state,      layout->text_ascii};
    return all_where(i, sizeof frame / sizeof *frame, frame[i] <= FRAME_WORD_MAX) &&
           all_where(i, sizeof code / sizeof *code, code[i] <= CODE_MAX) &&
           layout->frame_owner < PYTHON_FRAME_BYTES &&
           layout->code_linetable == layout->code_qualname + 8;
}

static bool read_debug_offsets(const uint64_t *told, uint32_t version,
                               struct python_layout *layout) {
    if (memcmp(told, "xdebugpy", 8) != 0 || told[TOLD_VERSION] != version ||
        told[TOLD_FREE_THREADED] ||
        any_where(i, TOLD_WORDS, i > TOLD_FREE_THREADED && told[i] > OFFSET_MAX))
        return false;
    *layout =
        (struct python_layout){.interpreters = (uint32_t)told[TOLD_INTERPRETERS],
                               .holder = (uint32_t)told[TOLD_HOLDER],
                               .holder_is_inner = 1,
                               .interpreter_next = (uint32_t)told[TOLD_INTERPRETER_NEXT],
                               .threads = (uint32_t)told[TOLD_THREADS],
                               .thread_next = (uint32_t)told[TOLD_THREAD_NEXT],
                               .thread_id = (uint32_t)told[TOLD_THREAD_ID],
                               .thread_frame = (uint32_t)told[TOLD_THREAD_FRAME],
                               .frame_code = (uint32_t)told[TOLD_FRAME_CODE],
                               .frame_previous = (uint32_t)told[TOLD_FRAME_PREVIOUS],
                               .frame_instruction = (uint32_t)told[TOLD_FRAME_INSTRUCTION],
                               .frame_owner = (uint32_t)told[TOLD_FRAME_OWNER],
                               .code_filename = (uint32_t)told[TOLD_CODE_FILENAME],
                               .code_qualname = (uint32_t)told[TOLD_CODE_QUALNAME],
                               .code_linetable = (uint32_t)told[TOLD_CODE_LINETABLE],
                               .code_first_line = (uint32_t)told[TOLD_CODE_FIRST_LINE],
                               .code_instructions = (uint32_t)told[TOLD_CODE_INSTRUCTIONS],
                               .object_type = (uint32_t)told[TOLD_OBJECT_TYPE],
                               .bytes_size = (uint32_t)told[TOLD_BYTES_SIZE],
                               .bytes_data = (uint32_t)told[TOLD_BYTES_DATA],
                               .text_length = (uint32_t)told[TOLD_TEXT_LENGTH],
                               .text_state = (uint32_t)told[TOLD_TEXT_STATE],
                               .text_ascii = (uint32_t)told[TOLD_TEXT_ASCII],
                               /* PyCompactUnicodeObject has two words more than PyASCIIObject. */
                               .text_data = (uint32_t)told[TOLD_TEXT_ASCII] + 16};
    return is_plausible(layout);
}

/* ---- symbols ---- */

struct wanted {
    const char *name;
    uint64_t *address;
};

static void find_symbols(const struct elf_image *elf, uint32_t type, const struct wanted *wanted,
                         size_t count) {
    GElf_Shdr header;
    Elf_Scn *section = elf_image_section_of_type(elf, type, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = symbol.st_shndx == SHN_UNDEF
                               ? NULL
                               : elf_strptr(elf->elf, header.sh_link, symbol.st_name);
        for (size_t k = 0; name && k < count; k++)
            if (!strcmp(name, wanted[k].name))
                *wanted[k].address = symbol.st_value;
    }
}

static bool read_at(const struct elf_image *elf, uint64_t address, void *bytes, size_t size) {
    uint64_t offset;
    return elf_image_address_to_offset(elf, address, &offset) && offset <= elf->size &&
           size <= elf->size - offset && memcpy(bytes, (const uint8_t *)elf->bytes + offset, size);
}

bool python_image_read(const struct elf_image *elf, struct python_image *image) {
    enum { FINAL = 0xf0 };
    uint64_t version_at = 0, version = 0, told[TOLD_WORDS];
    *image = (struct python_image){0};
    const struct wanted wanted[] = {
        {"_PyRuntime", &image->runtime},      {"Py_Version", &version_at},
        {"PyCode_Type", &image->code_type},   {"PyUnicode_Type", &image->text_type},
        {"PyBytes_Type", &image->bytes_type}, {PYTHON_LOOP, &image->loop},
    };
    if (!elf->elf || elf->header.e_machine != EM_X86_64)
        return false;
    find_symbols(elf, SHT_DYNSYM, wanted, sizeof wanted / sizeof *wanted);
    if (!image->runtime)
        find_symbols(elf, SHT_SYMTAB, wanted, sizeof wanted / sizeof *wanted);
    if (!image->runtime)
        return false;
    /* Before 3.11 there is no such variable. */
    if (version_at && read_at(elf, version_at, &version, sizeof version))
        image->version = (uint32_t)version;
    const bool complete = image->code_type && image->text_type && image->bytes_type &&
                          (image->version & FINAL) == FINAL;
    image->known = complete;
    switch (complete ? image->version >> 16 : 0) {
    case 0x030b:
        image->layout = LAYOUT_3_11;
        return true;
    case 0x030c:
        image->layout = LAYOUT_3_12;
        return true;
    case 0x030d:
        image->known = read_at(elf, image->runtime, told, sizeof told) &&
                       read_debug_offsets(told, image->version, &image->layout);
        return true;
    default:
        image->known = false;
        return true;
    }
}

bool python_may_be_in(const char *path) {
    return strstr(file_base_name(path), "python");
}

void python_image_say_unknown(const struct python_image *image, const char *path, char *text,
                              size_t size) {
    if (image->version)
        snprintf(
            text, size,
            "the functions of Python %" PRIu32 ".%" PRIu32
            " are not shown (%.200s): those of releases of 3.11 to 3.13 with a global lock are",
            image->version >> 24, image->version >> 16 & 0xff, path);
    else
        snprintf(text, size, "the functions of a Python before 3.11 are not shown (%.200s)", path);
}
