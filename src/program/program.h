/* From an image and an offset to names a person knows: function, source line, inlined callers.
 * Works on ELF files of any machine on disk (the program need not run), with symbols from .symtab,
 * from separate debug files found by build id or .gnu_debuglink under /usr/lib/debug or on
 * debuginfod servers, from .gnu_debugdata, of stripped Go programs from .gopclntab, else from
 * .dynsym; and on anonymous code (no names). Hostile ELF files give an image without symbols and a
 * note, never a crash. Results are cached; strings live as long as the struct program. One thread
 * at a time may use a struct program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"
#include "program/code_symbol.h"
#include "util/error.h"

struct program;
struct types;

/* Names and files that this system lacks are asked of debuginfod servers, if $DEBUGINFOD_URLS names
 * any (debug_server.h), */
struct program *program_new(void);
/* and never of those: for what must not wait. */
struct program *program_new_local(void);
/* Before images are added: those that are kept open are read from there, rather than from what is
 * at their paths by now. `kept` lives as long as the program. */
struct kept_files;
void program_keep(struct program *program, struct kept_files *kept);
void program_free(struct program *program);

/* Adds an image by its path and returns its number (the same for the same path and build id),
 * UINT32_MAX (which the other functions treat as an unknown image) when memory is out. A file that
 * is missing, unreadable, not ELF, or whose build id differs from `build_id` (size 0: unknown)
 * is asked of debuginfod servers by that build id; without it, it still gets a number;
 * program_image_note() then says why it has no symbols. */
uint32_t program_add_image(struct program *program, const char *path, const uint8_t *build_id,
                           size_t build_id_size);

/* Code that is in no file. */
struct program_memory {
    const char *name; /* "[kernel]": for path and name */
    const uint8_t *build_id;
    size_t build_id_size;
    enum isa isa;
    uint64_t address, size; /* of its first byte, which has offset 0 in place of a file's;
                               bytes, no more than up to the highest address */
    const struct code_symbol *symbols; /* sorted by start, which is an offset; disjoint */
    size_t symbol_count;
    bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
    void (*release)(void *context); /* when `program` is freed, or at once on failure */
    void *context;
};

/* Adds such code and returns its number (the same for the same name and build id); UINT32_MAX when
 * memory is out. All is copied but `context`. */
uint32_t program_add_memory(struct program *program, const struct program_memory *memory);

const char *program_image_path(const struct program *program, uint32_t image);
const char *program_image_name(const struct program *program, uint32_t image); /* base name */
const char *program_image_note(const struct program *program, uint32_t image); /* NULL: all well */
/* Whether functions of the file, all or those that it does not export, have no names because its
 * symbols were stripped and are nowhere on this system. */
bool program_image_is_stripped(const struct program *program, uint32_t image);

/* An inlined function and the call that was inlined. An instruction's stack reads: inlined[0] at
 * location.file:line, inlined[1] at inlined[0].file:line ..., the real function at the last one's
 * file:line. */
struct source_frame {
    const char *function; /* demangled */
    const char *file;     /* of the inlined call: as DWARF has it, made relative to the compilation
                             directory when it is inside; NULL: unknown */
    uint32_t line;        /* of the inlined call; 0: unknown */
    uint32_t function_line; /* where the function begins; 0: unknown */
};

enum { LOCATION_MAX_INLINE = 8 }; /* of deeper stacks the innermost are given */

/* If no symbol covers the code (stripped files), `function` is NULL, and the unwind tables still
 * give the extent of the function it belongs to: name it by its image and function_offset. */
struct location {
    const char *function;     /* demangled name of the (outermost, real) function, "memcpy@plt" for
                                 linkage table entries; NULL: none */
    uint64_t function_offset; /* file offset of its first byte */
    uint64_t function_size;   /* bytes, 0: no function is known, not even its extent */
    uint64_t function_rest;   /* bytes from this offset on to its end, or to the first function that
                                 lies inside it */
    uint32_t function_line;   /* of the source, where it begins; 0: unknown */
    const char *file;         /* source of this very instruction; NULL: unknown */
    uint32_t line;            /* 0: unknown */
    uint32_t inline_count;    /* inlined functions this instruction belongs to, innermost first */
    struct source_frame inlined[LOCATION_MAX_INLINE];
};

/* Looks up a file offset. Always fills *location; true when at least the function is known. */
bool program_locate(struct program *program, uint32_t image, uint64_t file_offset,
                    struct location *location);

/* The same without source lines and inlined functions, which take most of the time. */
bool program_locate_function(struct program *program, uint32_t image, uint64_t file_offset,
                             struct location *location);

/* Finds a function by name in an image: mangled, or demangled with or without its parameters,
 * return type, template arguments and a compiler's suffix (".isra.0"); false when there is none.
 * Several of one name: the global one, else the lowest address. */
bool program_find_function(struct program *program, uint32_t image, const char *name,
                           uint64_t *file_offset, uint64_t *size);

/* Visits the file offset of every function of that name, such as those that differ in parameters,
 * until `visit` returns false. */
void program_each_named(struct program *program, uint32_t number, const char *name,
                        bool (*visit)(void *context, uint64_t file_offset), void *context);

struct program_function {
    uint64_t address, size; /* as linked; bytes, more than 0: those of functions that lie inside it
                               are counted */
    uint64_t file_offset;
    const char *name; /* demangled, "memcpy@plt"; NULL: only its extent is known */
};

/* Visits the functions of the image of that number in the order of their addresses, each under one
 * of its names, until `visit` returns false. */
void program_each_function(struct program *program, uint32_t number,
                           bool (*visit)(void *context, const struct program_function *function),
                           void *context);

/* Reads what an image holds at an address before the program runs. Pointers into the image itself
 * read as linked, also where the loader writes them. False: the image has not all of that in its
 * file, the loader fills some of it in, or the file has changed. */
bool program_read(struct program *program, uint32_t image, uint64_t address, void *bytes,
                  size_t size);

/* What an image's data are called: the object that an address, as linked, lies in, or else its
 * section. False: it lies in no section. */
struct program_data {
    const char *symbol;    /* demangled; NULL: none covers it */
    const char *section;   /* ".bss" */
    uint64_t offset, size; /* of the address in the object, else in the section; of that, bytes */
    uint64_t alignment;    /* that the section asks for, bytes; 0: none */
};
bool program_locate_data(struct program *program, uint32_t image, uint64_t address,
                         struct program_data *data);

/* The types and variables that its debugging information tells of (program/types.h), which are read
 * when first asked for; NULL: there is none. */
struct types *program_types(struct program *program, uint32_t number);

/* Between which addresses, as linked, its sections lie. False: it has none, or cannot be read. */
bool program_data_bounds(struct program *program, uint32_t image, uint64_t *low, uint64_t *high);

/* The architecture of an image's code. False: the file cannot be used (see its note), or is of a
 * machine that isa/ does not know. */
bool program_image_isa(const struct program *program, uint32_t image, enum isa *isa);

/* The language that code was written in, as its compiler says, where that matters to a caller. */
enum program_language { LANGUAGE_OTHER, LANGUAGE_RUST, LANGUAGE_GO, LANGUAGES };
enum program_language program_language(struct program *program, uint32_t number,
                                       uint64_t file_offset);

/* Virtual address <-> file offset through the program headers; false outside any segment. */
bool program_offset_to_address(struct program *program, uint32_t image, uint64_t file_offset,
                               uint64_t *address);
bool program_address_to_offset(struct program *program, uint32_t image, uint64_t address,
                               uint64_t *file_offset);

/* ---- as compilers and linkers have it ---- */

enum { PROGRAM_MAX_FRAMES = 64 }; /* deeper inlining is left out */

struct program_frame {
    const char *symbol;     /* of the function, as the linker has it */
    uint32_t line;          /* lines behind the function's declaration, modulo 2^16 */
    uint32_t discriminator; /* which of the blocks that begin in the line */
};

/* Code that is of one line, as its compiler says. */
struct program_piece {
    uint64_t start, end; /* addresses, end exclusive */
    uint64_t entry;      /* of the function, 0: not known */
    uint32_t copies;     /* how often the compiler has it, unrolled or vectorised; ≥ 1 */
    bool has_line;       /* else the compiler names none */
    uint32_t frame_count;
    const struct program_frame *frames; /* the function, at the call that was inlined in it; that
                                           one, ...; the last has the piece's line */
};
typedef bool program_touched(void *context, uint64_t start, uint64_t end);
typedef bool program_piece_visitor(void *context, const struct program_piece *piece);

/* Visits the pieces of those compilation units of an image of which `touched` says that one of
 * their ranges is wanted. False: the visitor's, or memory is out, or *lines is false, for the image
 * has no line numbers (its note may say why). Symbols live until it returns. */
bool program_each_piece(struct program *program, uint32_t image, program_touched *touched,
                        program_piece_visitor *visit, void *context, bool *lines);

/* A function in the symbol table that a linker leaves in a file. */
struct program_symbol {
    uint64_t address, size;
    const char *name; /* mangled */
    const char *file; /* of a local one: the source file that it is said to be of; NULL: none */
    bool local;
};

/* Visits the functions in the symbol table of the image's own file by address, those of one address
 * in the order of the table. False: the visitor's, or memory is out. */
bool program_each_symbol(struct program *program, uint32_t image,
                         bool (*visit)(void *context, const struct program_symbol *symbol),
                         void *context);
/* Whether the linker left its relocations in the image's file (-q, --emit-relocs). */
bool program_has_relocations(struct program *program, uint32_t image);

/* What kind of executable a path names, from its first bytes, for choosing an emulator. False, with
 * an error that says why, when there is no program to run: missing, unreadable, not executable, a
 * directory, empty, damaged, an object file. */
enum executable_kind {
    EXECUTABLE_X86_64,
    EXECUTABLE_RISCV64,
    EXECUTABLE_SCRIPT,
    EXECUTABLE_X86_32,
    EXECUTABLE_OTHER_MACHINE, /* ELF of a machine culprit cannot run; its name in `machine` */
    EXECUTABLE_NOT_EXECUTABLE /* neither ELF nor script */
};
struct executable {
    enum executable_kind kind;
    char interpreter[256]; /* of a script, from its #! line; of a dynamic program, its loader */
    char interpreter_argument[256];
    char machine[64];
    bool dynamic;
    bool set_user_id; /* set-user-id or set-group-id bit */
};
bool executable_identify(const char *path, struct executable *executable, struct error *error);

/* What a script's interpreter is run with, in place of what the script at `path` was: itself, its
 * argument if it has one, `path`, and `arguments` after the first. The array and its strings are
 * from malloc, before and after. False: out of memory, and nothing has changed. */
bool executable_interpret(const struct executable *script, const char *path, char ***arguments);
