/* Images by number, and the order in which sources of names are asked. Symbols are read when the
 * image is added, and its files are then released, so that later changes to them do not matter;
 * DWARF is read at the first lookup that needs it. */
#include "program/program.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/code_identity.h"
#include "program/compiled.h"
#include "program/contents.h"
#include "program/data_symbols.h"
#include "program/debug_file.h"
#include "program/elf_image.h"
#include "program/function.h"
#include "program/go_table.h"
#include "program/kept_files.h"
#include "program/linked.h"
#include "program/source.h"
#include "program/type_store.h"
#include "util/arena.h"
#include "util/array.h"

struct image {
    const char *path, *name; /* in the arena */
    const char *note;        /* in the arena; NULL: all well */
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size;        /* as the caller gave it */
    struct elf_image binary;     /* closed when the file cannot be used, else released */
    struct elf_image debug;      /* separate debug file, else closed */
    struct elf_image *described; /* whichever of them has DWARF; NULL: neither */
    struct function_table functions;
    struct contents contents;
    struct data_symbols data;       /* read when first asked for */
    struct program_memory memory;   /* of code that is in no file: its reader; else all zero */
    struct go_table *go;            /* of a stripped Go program; NULL: none */
    struct source *source;          /* over `described`; NULL: none, or not looked for yet */
    struct types *types;            /* likewise */
    enum program_language language; /* of code that no unit of the DWARF covers */
    bool source_sought, types_sought;
    bool stripped; /* see program_image_is_stripped() */
};

struct program {
    struct image **images; /* by number */
    size_t count, capacity;
    bool asks_servers;
    struct kept_files *kept; /* NULL: none */
    struct arena arena;
};

struct program *program_new_local(void) {
    return calloc(1, sizeof(struct program));
}

struct program *program_new(void) {
    struct program *program = program_new_local();
    if (program)
        program->asks_servers = true;
    return program;
}

void program_keep(struct program *program, struct kept_files *kept) {
    program->kept = kept;
}

static void image_free(struct image *image) {
    if (image->memory.release)
        image->memory.release(image->memory.context);
    source_free(image->source);
    types_free(image->types);
    go_table_free(image->go);
    contents_free(&image->contents);
    data_symbols_free(&image->data);
    function_table_free(&image->functions);
    elf_image_close(&image->debug);
    elf_image_close(&image->binary);
    free(image);
}

void program_free(struct program *program) {
    if (!program)
        return;
    for (size_t i = 0; i < program->count; i++)
        image_free(program->images[i]);
    free(program->images);
    arena_free(&program->arena);
    free(program);
}

__attribute__((format(printf, 3, 4))) static void
image_note(struct program *program, struct image *image, const char *format, ...) {
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    image->note = arena_copy(&program->arena, text,
                             length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

static bool is_file_path(const char *path) {
    return path[0] && path[0] != '[' && strncmp(path, "//", 2) && strncmp(path, "anon_inode:", 11);
}

static bool any_named(const struct function_table *table) {
    return any_where(i, table->list.count,
                     table->list.items[i].symbol && !table->list.items[i].linkage);
}

/* Go's linker leaves a section of its own, rustc its name among those of the compilers. */
static enum program_language language_of(const struct elf_image *binary) {
    static const char RUSTC[] = "rustc version ";
    GElf_Shdr header;
    if (elf_image_section(binary, ".go.buildinfo", &header))
        return LANGUAGE_GO;
    Elf_Scn *section = elf_image_section(binary, ".comment", &header);
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    return data && data->d_buf && memmem(data->d_buf, data->d_size, RUSTC, strlen(RUSTC))
               ? LANGUAGE_RUST
               : LANGUAGE_OTHER;
}

/* Reads the functions of an image whose file is open, from wherever its symbols are. */
static void image_load_functions(struct program *program, struct image *image) {
    GElf_Shdr header;
    struct elf_image *binary = &image->binary, mini = {0};
    bool symbols = elf_image_section_of_type(binary, SHT_SYMTAB, &header);
    bool dwarf = source_available(binary);
    if (!symbols || !dwarf)
        debug_file_open(&image->debug, binary, image->path, program->asks_servers);
    if (!symbols && !image->debug.elf)
        debug_data_open(&mini, binary, image->path);
    if (!symbols && !image->debug.elf && !mini.elf)
        image->go = go_table_read(binary);
    if (dwarf)
        image->described = binary;
    else if (image->debug.elf && source_available(&image->debug))
        image->described = &image->debug;
    image->language = language_of(binary);
    const struct elf_image *const files[] = {binary, &image->debug, &mini};
    image->stripped = !symbols && !image->debug.elf && !mini.elf && !image->go;
    if (!function_table_build(&image->functions, binary, files, sizeof files / sizeof *files,
                              image->go)) {
        function_table_free(&image->functions);
        image_note(program, image, "%s: not enough memory for its symbols", image->path);
    } else if (!any_named(&image->functions)) {
        image_note(program, image, "%s: stripped: no function names", image->path);
    }
    elf_image_close(&mini);
}

/* Whether the file is the one that is meant: by its build id, or, where it has none, its code. */
static bool is_same_build(const struct image *image) {
    const struct elf_image *binary = &image->binary;
    uint8_t id[CODE_IDENTITY_BYTES];
    if (!image->build_id_size)
        return true;
    if (binary->build_id_size || !is_code_identity(image->build_id, image->build_id_size))
        return image->build_id_size == binary->build_id_size &&
               !memcmp(image->build_id, binary->build_id, image->build_id_size);
    int file = open(binary->path, O_RDONLY | O_CLOEXEC);
    bool same = file >= 0 && code_identity(file, id) && !memcmp(id, image->build_id, sizeof id);
    if (file >= 0)
        close(file);
    return same;
}

/* Opens the image's file, as it was kept, here or from a server; else its note says what is wrong
 * with that here.
 */
static bool open_binary(struct program *program, struct image *image) {
    struct error error;
    char kept[KEPT_FILE_PATH_BYTES];
    bool of_code = is_code_identity(image->build_id, image->build_id_size);
    if (kept_files_find(program->kept, image->path, image->build_id, image->build_id_size, kept) &&
        elf_image_open(&image->binary, kept, &error)) {
        if (is_same_build(image))
            return true;
        elf_image_close(&image->binary);
    }
    if (elf_image_open(&image->binary, image->path, &error)) {
        if (is_same_build(image))
            return true;
        elf_image_close(&image->binary);
        error_set(&error,
                  "%s: the file's %s differs from that of the code that ran (it was replaced "
                  "since): no symbols",
                  image->path, of_code ? "code" : "build id");
    }
    if (program->asks_servers && !of_code &&
        served_file_open(&image->binary, DEBUG_SERVER_PROGRAM, image->build_id,
                         image->build_id_size))
        return true;
    image_note(program, image, "%s", error.message);
    return false;
}

/* Opens an image's files and reads what is needed at once; what goes wrong becomes its note. */
static void image_load(struct program *program, struct image *image) {
    struct elf_image *binary = &image->binary;
    if (!is_file_path(image->path)) {
        image_note(program, image, "%s: code without a file has no symbols",
                   image->path[0] ? image->path : "anonymous memory");
        return;
    }
    if (!open_binary(program, image))
        return;
    if (!binary->segment_count) {
        image_note(program, image, "%s: no loadable segments: no symbols", image->path);
        elf_image_close(binary);
        return;
    }
    image_load_functions(program, image);
    elf_image_release(binary);
    elf_image_release(&image->debug);
}

static const struct image *image_at(const struct program *program, uint32_t number) {
    return number < program->count ? program->images[number] : NULL;
}

/* The number of an image; UINT32_MAX: there is none of this path and build id yet. */
static uint32_t find_image(const struct program *program, const char *path, const uint8_t *build_id,
                           size_t size) {
    for (size_t i = 0; i < program->count; i++) {
        const struct image *image = program->images[i];
        if (!strcmp(image->path, path) && image->build_id_size == size &&
            !memcmp(image->build_id, build_id ? build_id : image->build_id, size))
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

/* Adds an image of which nothing is read yet; NULL: out of memory. */
static struct image *new_image(struct program *program, const char *path, const uint8_t *build_id,
                               size_t size) {
    struct image *image = calloc(1, sizeof *image);
    const char *copy = arena_copy(&program->arena, path, strlen(path));
    if (!image || !copy || program->count >= UINT32_MAX ||
        !array_room(program->images, program->capacity, program->count + 1)) {
        free(image);
        return NULL;
    }
    const char *slash = strrchr(copy, '/');
    image->path = copy;
    image->name = slash && slash[1] ? slash + 1 : copy;
    image->build_id_size = size;
    if (size)
        memcpy(image->build_id, build_id, size);
    program->images[program->count++] = image;
    return image;
}

uint32_t program_add_image(struct program *program, const char *path, const uint8_t *build_id,
                           size_t build_id_size) {
    size_t size = build_id && build_id_size <= BUILD_ID_MAX ? build_id_size : 0;
    uint32_t number = find_image(program, path, build_id, size);
    if (number != UINT32_MAX)
        return number;
    struct image *image = new_image(program, path, build_id, size);
    if (!image)
        return UINT32_MAX;
    image_load(program, image);
    return (uint32_t)program->count - 1;
}

/* Its one segment and its machine, as if a file had them. */
static bool describe_memory(struct image *image, const struct program_memory *memory) {
    struct elf_image *binary = &image->binary;
    if (!(binary->segments = malloc(sizeof *binary->segments)))
        return false;
    *binary->segments = (struct elf_segment){
        .address = memory->address, .file_size = memory->size, .executable = true};
    binary->segment_count = 1;
    binary->header.e_ident[EI_CLASS] = ELFCLASS64;
    binary->header.e_machine = memory->isa == ISA_RISCV64 ? EM_RISCV : EM_X86_64;
    image->memory = *memory;
    image->source_sought = true;
    return function_table_of_symbols(&image->functions, memory->symbols, memory->symbol_count,
                                     memory->address);
}

uint32_t program_add_memory(struct program *program, const struct program_memory *memory) {
    uint32_t number = find_image(program, memory->name, memory->build_id, memory->build_id_size);
    struct image *image = NULL;
    if (number == UINT32_MAX &&
        (image = new_image(program, memory->name, memory->build_id, memory->build_id_size))) {
        if (describe_memory(image, memory))
            return (uint32_t)program->count - 1;
        image->memory = (struct program_memory){0};
        image_free(image);
        program->count--;
    }
    memory->release(memory->context);
    return number;
}

const char *program_image_path(const struct program *program, uint32_t image) {
    const struct image *found = image_at(program, image);
    return found ? found->path : "";
}

const char *program_image_name(const struct program *program, uint32_t image) {
    const struct image *found = image_at(program, image);
    return found ? found->name : "";
}

const char *program_image_note(const struct program *program, uint32_t image) {
    const struct image *found = image_at(program, image);
    return found ? found->note : "no such image";
}

bool program_image_is_stripped(const struct program *program, uint32_t image) {
    const struct image *found = image_at(program, image);
    return found && found->stripped;
}

static void find_source(struct program *program, struct image *image) {
    struct error error;
    image->source_sought = true;
    if (!image->described)
        return;
    if (elf_image_reopen(image->described, &error))
        image->source = source_new(image->described);
    else
        image_note(program, image, "%s: no source lines", error.message);
}

/* Fills in the function. False: the offset is in no segment, so it has no address. */
static bool locate_function(struct program *program, uint32_t number, uint64_t file_offset,
                            uint64_t *address, struct location *location) {
    memset(location, 0, sizeof *location);
    if (number >= program->count ||
        !elf_image_offset_to_address(&program->images[number]->binary, file_offset, address))
        return false;
    struct image *image = program->images[number];
    uint64_t until;
    struct function *function = function_table_find(&image->functions, *address, &until);
    if (function) {
        location->function = function_name(function, &program->arena);
        elf_image_address_to_offset(&image->binary, function->start, &location->function_offset);
        location->function_size = function->end - function->start;
        location->function_rest = until - *address;
    }
    return true;
}

bool program_locate_function(struct program *program, uint32_t image, uint64_t file_offset,
                             struct location *location) {
    uint64_t address;
    return locate_function(program, image, file_offset, &address, location) && location->function;
}

bool program_locate(struct program *program, uint32_t number, uint64_t file_offset,
                    struct location *location) {
    uint64_t address;
    if (!locate_function(program, number, file_offset, &address, location))
        return false;
    struct image *image = program->images[number];
    if (!image->source_sought)
        find_source(program, image);
    if (image->source)
        source_locate(image->source, address, &program->arena, location);
    else if (image->go)
        go_table_locate(image->go, address, location);
    return location->function;
}

enum program_language program_language(struct program *program, uint32_t number,
                                       uint64_t file_offset) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    uint64_t address;
    if (!image || !elf_image_offset_to_address(&image->binary, file_offset, &address))
        return LANGUAGE_OTHER;
    if (!image->source_sought)
        find_source(program, image);
    return image->source ? source_language(image->source, address, image->language)
                         : image->language;
}

bool program_find_function(struct program *program, uint32_t number, const char *name,
                           uint64_t *file_offset, uint64_t *size) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    const struct function *found =
        image && name[0] ? function_table_find_name(&image->functions, name, &program->arena)
                         : NULL;
    if (!found || !elf_image_address_to_offset(&image->binary, found->start, file_offset))
        return false;
    *size = found->end - found->start;
    return true;
}

void program_each_named(struct program *program, uint32_t number, const char *name,
                        bool (*visit)(void *context, uint64_t file_offset), void *context) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    for (size_t i = 0; image && i < image->functions.list.count; i++) {
        struct function *function = &image->functions.list.items[i];
        uint64_t offset;
        if (function_is_called(function, name, &program->arena) &&
            elf_image_address_to_offset(&image->binary, function->start, &offset) &&
            !visit(context, offset))
            return;
    }
}

/* Whether a function owns the address where it begins: one known from unwind tables alone may begin
 * within a named one. */
static bool is_visible(const struct image *image, const struct function *function) {
    uint64_t until;
    return function->symbol ||
           function_table_find(&image->functions, function->start, &until) == function;
}

void program_each_function(struct program *program, uint32_t number,
                           bool (*visit)(void *context, const struct program_function *function),
                           void *context) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    size_t count = image ? image->functions.list.count - image->functions.alias_count : 0;
    for (size_t i = 0; i < count; i++) {
        struct function *function = &image->functions.list.items[i];
        struct program_function visited = {.address = function->start,
                                           .size = function->end - function->start};
        if (function->end <= function->start || !is_visible(image, function) ||
            !elf_image_address_to_offset(&image->binary, function->start, &visited.file_offset))
            continue;
        visited.name = function_name(function, &program->arena);
        if (!visit(context, &visited))
            return;
    }
}

bool program_read(struct program *program, uint32_t number, uint64_t address, void *bytes,
                  size_t size) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    if (image && image->memory.read)
        return image->memory.read(image->memory.context, address, bytes, size);
    return image && contents_read(&image->contents, &image->binary, address, bytes, size);
}

struct types *program_types(struct program *program, uint32_t number) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    enum isa isa;
    if (!image || !image->described || !program_image_isa(program, number, &isa))
        return NULL;
    if (!image->source_sought)
        find_source(program, image); /* opens the file */
    if (image->source && !image->types_sought)
        image->types = types_new(image->described, isa);
    image->types_sought = true;
    return image->types;
}

bool program_each_piece(struct program *program, uint32_t number, program_touched *touched,
                        program_piece_visitor *visit, void *context, bool *lines) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    if (image && !image->source_sought)
        find_source(program, image); /* opens the file */
    *lines = image && image->source;
    return *lines && compiled_each_piece(image->described, touched, visit, context);
}

bool program_each_symbol(struct program *program, uint32_t number,
                         bool (*visit)(void *context, const struct program_symbol *symbol),
                         void *context) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    return !image || linked_each_symbol(&image->binary, visit, context);
}

bool program_has_relocations(struct program *program, uint32_t number) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    return image && linked_has_relocations(&image->binary);
}

bool program_image_isa(const struct program *program, uint32_t image, enum isa *isa) {
    const struct image *found = image_at(program, image);
    if (!found || !found->binary.segment_count ||
        found->binary.header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    *isa = found->binary.header.e_machine == EM_RISCV ? ISA_RISCV64 : ISA_X86_64;
    return found->binary.header.e_machine == EM_RISCV ||
           found->binary.header.e_machine == EM_X86_64;
}

bool program_offset_to_address(struct program *program, uint32_t image, uint64_t file_offset,
                               uint64_t *address) {
    const struct image *found = image_at(program, image);
    return found && elf_image_offset_to_address(&found->binary, file_offset, address);
}

bool program_address_to_offset(struct program *program, uint32_t image, uint64_t address,
                               uint64_t *file_offset) {
    const struct image *found = image_at(program, image);
    return found && elf_image_address_to_offset(&found->binary, address, file_offset);
}

static bool read_data_symbols(struct program *program, struct image *image) {
    struct data_symbols *data = &image->data;
    data->read = true;
    const bool good = data_sections_read(data, &image->binary, &program->arena) &&
                      data_symbols_read(data, &image->binary, &program->arena) &&
                      data_symbols_read(data, &image->debug, &program->arena);
    if (!good)
        data_symbols_free(data);
    data->read = true;
    data_symbols_sort(data);
    return good;
}

bool program_locate_data(struct program *program, uint32_t number, uint64_t address,
                         struct program_data *data) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    *data = (struct program_data){.symbol = NULL};
    if (!image || (!image->data.read && !read_data_symbols(program, image)))
        return false;
    const struct data_symbol *section = data_section_at(&image->data, address);
    const struct data_symbol *symbol = section ? data_symbol_at(&image->data, address) : NULL;
    if (!section)
        return false;
    const struct data_symbol *told = symbol ? symbol : section;
    *data = (struct program_data){.symbol = symbol ? symbol->name : NULL,
                                  .section = section->name,
                                  .offset = address - told->start,
                                  .size = told->size,
                                  .alignment = section->alignment};
    return true;
}

bool program_data_bounds(struct program *program, uint32_t number, uint64_t *low, uint64_t *high) {
    struct image *image = number < program->count ? program->images[number] : NULL;
    if (!image || (!image->data.read && !read_data_symbols(program, image)) ||
        !image->data.section_count)
        return false;
    *low = image->data.sections[0].start;
    *high = 0;
    for (size_t i = 0; i < image->data.section_count; i++) {
        const struct data_symbol *section = &image->data.sections[i];
        if (section->start + section->size > *high)
            *high = section->start + section->size;
    }
    return true;
}
