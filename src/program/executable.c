/* Reads the first bytes as the kernel's binary loaders do: "#!" lines as in Linux's
 * fs/binfmt_script.c (one optional argument, blanks trimmed), ELF headers as in elf(5). */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/program.h"
#include "util/array.h"

enum { HEAD_BYTES = 256 }; /* what the kernel looks at (BINPRM_BUF_SIZE) */

struct machine_name {
    uint16_t number;
    const char *name;
};

static const struct machine_name machine_names[] = {
    {EM_386, "x86 (32-bit)"}, {EM_X86_64, "x86-64"},    {EM_RISCV, "RISC-V"},
    {EM_AARCH64, "AArch64"},  {EM_ARM, "Arm (32-bit)"}, {EM_PPC64, "PowerPC 64"},
    {EM_PPC, "PowerPC"},      {EM_S390, "S/390"},       {EM_MIPS, "MIPS"},
    {EM_SPARCV9, "SPARC V9"}, {EM_SPARC, "SPARC"},      {EM_IA_64, "Itanium"},
    {EM_ALPHA, "Alpha"},      {EM_PARISC, "PA-RISC"},   {EM_68K, "m68k"},
    {EM_SH, "SuperH"},        {258, "LoongArch"},       {EM_BPF, "BPF"},
};

static void name_machine(struct executable *executable, uint16_t number, bool is_64_bit,
                         bool is_big_endian) {
    const char *name = NULL;
    for (size_t i = 0; i < sizeof machine_names / sizeof *machine_names && !name; i++)
        if (machine_names[i].number == number)
            name = machine_names[i].name;
    char unknown[32];
    snprintf(unknown, sizeof unknown, "ELF machine %u", number);
    const char *variant = number == EM_X86_64 && !is_64_bit  ? ", x32 ABI"
                          : number == EM_RISCV && !is_64_bit ? ", 32-bit"
                          : is_big_endian                    ? ", big-endian"
                                                             : "";
    snprintf(executable->machine, sizeof executable->machine, "%s%s", name ? name : unknown,
             variant);
}

/* Whether the program headers ask for a dynamic loader; false with an error when they are cut off
 * or absurd. */
static bool read_dynamic(const char *path, int file, uint64_t file_size, const Elf64_Ehdr *header,
                         struct executable *executable, struct error *error) {
    uint64_t offset = le64toh(header->e_phoff);
    unsigned count = le16toh(header->e_phnum), size = le16toh(header->e_phentsize);
    if (size != sizeof(Elf64_Phdr) || !count)
        return error_set(error, "%s: damaged program (no usable program headers)", path);
    if (offset > file_size || file_size - offset < (uint64_t)count * size)
        return error_set(
            error, "%s: truncated program (%llu bytes; its program headers end at byte %llu)", path,
            (unsigned long long)file_size, (unsigned long long)(offset + (uint64_t)count * size));
    for (unsigned i = 0; i < count; i++) {
        Elf64_Phdr segment;
        if (pread(file, &segment, sizeof segment, (off_t)(offset + (uint64_t)i * size)) !=
            (ssize_t)sizeof segment)
            return error_errno(error, "%s: cannot read", path);
        if (le32toh(segment.p_type) != PT_INTERP)
            continue;
        uint64_t length = le64toh(segment.p_filesz);
        if (!length || length > sizeof executable->interpreter)
            return error_set(error, "%s: damaged program (its loader's name has %llu bytes)", path,
                             (unsigned long long)length);
        if (pread(file, executable->interpreter, length, (off_t)le64toh(segment.p_offset)) !=
            (ssize_t)length)
            return error_set(error, "%s: damaged program (its loader's name cannot be read)", path);
        executable->interpreter[length - 1] = 0;
        executable->dynamic = true;
    }
    return true;
}

static bool identify_elf(const char *path, int file, uint64_t file_size, const uint8_t *head,
                         size_t head_size, struct executable *executable, struct error *error) {
    if (head_size < sizeof(Elf32_Ehdr))
        return error_set(error, "%s: truncated program (%zu bytes, less than an ELF header)", path,
                         head_size);
    bool is_64_bit = head[EI_CLASS] == ELFCLASS64;
    bool is_big_endian = head[EI_DATA] == ELFDATA2MSB;
    if ((!is_64_bit && head[EI_CLASS] != ELFCLASS32) ||
        (!is_big_endian && head[EI_DATA] != ELFDATA2LSB))
        return error_set(error, "%s: damaged program (ELF class %u, byte order %u)", path,
                         head[EI_CLASS], head[EI_DATA]);
    /* The fields up to e_machine are at the same offsets in both classes. */
    uint16_t type, machine;
    memcpy(&type, head + offsetof(Elf64_Ehdr, e_type), sizeof type);
    memcpy(&machine, head + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    type = is_big_endian ? be16toh(type) : le16toh(type);
    machine = is_big_endian ? be16toh(machine) : le16toh(machine);
    if (type == ET_REL)
        return error_set(error, "%s: an object file, not a program: link it first", path);
    if (type == ET_CORE)
        return error_set(error, "%s: a core dump, not a program", path);
    if (type != ET_EXEC && type != ET_DYN)
        return error_set(error, "%s: damaged program (ELF type %u)", path, type);
    name_machine(executable, machine, is_64_bit, is_big_endian);
    bool native_kind = is_64_bit && !is_big_endian;
    if (native_kind && (machine == EM_X86_64 || machine == EM_RISCV)) {
        executable->kind = machine == EM_X86_64 ? EXECUTABLE_X86_64 : EXECUTABLE_RISCV64;
        Elf64_Ehdr header;
        if (head_size < sizeof header)
            return error_set(error, "%s: truncated program (%zu bytes, less than an ELF header)",
                             path, head_size);
        memcpy(&header, head, sizeof header);
        return read_dynamic(path, file, file_size, &header, executable, error);
    }
    bool x86_32 = machine == EM_386 && !is_64_bit && !is_big_endian;
    executable->kind = x86_32 ? EXECUTABLE_X86_32 : EXECUTABLE_OTHER_MACHINE;
    return true;
}

static bool identify_script(const char *path, const uint8_t *head, size_t head_size,
                            struct executable *executable, struct error *error) {
    const char *line = (const char *)head + 2;
    size_t length = head_size - 2;
    const char *newline = memchr(line, '\n', length);
    if (newline)
        length = (size_t)(newline - line);
    const char *nul = memchr(line, '\0', length);
    if (nul)
        length = (size_t)(nul - line);
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    while (length && (*line == ' ' || *line == '\t'))
        line++, length--;
    const size_t name = index_where(i, length, line[i] == ' ' || line[i] == '\t');
    if (!name)
        return error_set(error, "%s: its #! line names no interpreter", path);
    if (name == length && !newline && head_size == HEAD_BYTES)
        return error_set(error, "%s: its #! line is too long (the kernel reads %d bytes)", path,
                         HEAD_BYTES);
    executable->kind = EXECUTABLE_SCRIPT;
    memcpy(executable->interpreter, line, name);
    line += name;
    length -= name;
    while (length && (*line == ' ' || *line == '\t'))
        line++, length--;
    memcpy(executable->interpreter_argument, line, length);
    return true;
}

static bool identify_open(const char *path, int file, struct executable *executable,
                          struct error *error) {
    struct stat status;
    if (fstat(file, &status))
        return error_errno(error, "%s: cannot read", path);
    if (S_ISDIR(status.st_mode))
        return error_set(error, "%s: is a directory, not a program", path);
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%s: is not a regular file", path);
    if (status.st_size == 0)
        return error_set(error, "%s: the file is empty", path);
    if (access(path, X_OK))
        return error_set(error, "%s: is not executable (chmod +x it)", path);
    uint8_t head[HEAD_BYTES];
    ssize_t head_size = pread(file, head, sizeof head, 0);
    if (head_size < 0)
        return error_errno(error, "%s: cannot read", path);
    /* Without group execution the set-group-id bit meant mandatory locking. */
    executable->set_user_id =
        (status.st_mode & S_ISUID) || ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP));
    executable->kind = EXECUTABLE_NOT_EXECUTABLE;
    if (head_size >= 2 && head[0] == '#' && head[1] == '!')
        return identify_script(path, head, (size_t)head_size, executable, error);
    if (head_size >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
        return identify_elf(path, file, (uint64_t)status.st_size, head, (size_t)head_size,
                            executable, error);
    return true;
}

bool executable_identify(const char *path, struct executable *executable, struct error *error) {
    memset(executable, 0, sizeof *executable);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == EACCES)
        return error_set(error,
                         "%s: permission denied: culprit reads a program before it runs it "
                         "(chmod +r it, or check its directories)",
                         path);
    if (file < 0)
        return error_errno(error, "%s: cannot open", path);
    bool done = identify_open(path, file, executable, error);
    close(file);
    return done;
}

bool executable_interpret(const struct executable *script, const char *path, char ***arguments) {
    const char *first[] = {script->interpreter, script->interpreter_argument, path};
    size_t count = 0, n = 0;
    while ((*arguments)[count])
        count++;
    char **grown = calloc(count + 4, sizeof *grown);
    bool good = grown != NULL;
    for (size_t i = 0; good && i < 3; i++)
        if (i != 1 || *first[i])
            good = (grown[n++] = strdup(first[i])) != NULL;
    if (!good) {
        for (size_t i = 0; grown && i < n; i++)
            free(grown[i]);
        free(grown);
        return false;
    }
    if (count) {
        free((*arguments)[0]);
        memcpy(grown + n, *arguments + 1, (count - 1) * sizeof *grown);
    }
    free(*arguments);
    *arguments = grown;
    return true;
}
