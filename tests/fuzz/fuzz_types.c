/* Any bytes as an ELF file with DWARF: types, members, fields, variables and globals that hold
 * together, whatever the debugging information says. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "program/program.h"
#include "program/types.h"

enum { LEAVES = 64, TYPES = 256, ADDRESSES = 64 };

static void read_fields(struct types *types, uint32_t type) {
    static const int64_t OFFSETS[] = {0, 1, 8, 100, -8, INT64_MAX, INT64_MIN};
    static const uint64_t STRIDES[] = {0, 1, 24, UINT64_MAX};
    struct type_field field;
    for (size_t i = 0; i < sizeof OFFSETS / sizeof *OFFSETS; i++)
        for (size_t k = 0; k < sizeof STRIDES / sizeof *STRIDES; k++)
            if (type_find_field(types, type, OFFSETS[i], STRIDES[k], i, &field))
                require(memchr(field.path, 0, sizeof field.path) && type_at(types, field.type));
}

static void read_type(struct types *types, uint32_t number) {
    struct type_leaf leaves[LEAVES];
    const struct type *type = type_at(types, number);
    uint32_t count = 0;
    require(type != NULL && type->name != NULL && type->kind <= TYPE_FUNCTION);
    const struct type_member *members = type_members(types, number, &count);
    for (uint32_t i = 0; i < count; i++)
        require(members[i].name != NULL);
    count = type_leaves(types, number, leaves, LEAVES);
    require(count <= LEAVES);
    for (uint32_t i = 0; i < count; i++)
        require(memchr(leaves[i].path, 0, sizeof leaves[i].path) &&
                (i == 0 || leaves[i - 1].offset <= leaves[i].offset));
    read_fields(types, number);
}

static void read_variables(struct types *types, uint64_t address) {
    struct variable_list list = {0};
    uint64_t start = 0;
    if (types_variables(types, address, &list))
        for (size_t i = 0; i < list.count; i++) {
            require(list.places[i].kind <= PLACE_FIXED && list.places[i].reg < REG_COUNT);
            require(list.places[i].start <= list.places[i].end);
            read_type(types, list.places[i].type);
        }
    variable_list_free(&list);
    const uint32_t global = types_global(types, address, &start);
    require(global == TYPE_NONE || start <= address);
    read_type(types, global);
    read_type(types, types_returned(types, address, NULL));
}

struct addresses {
    uint64_t items[ADDRESSES];
    uint32_t count;
};

static bool add_function(void *context, const struct program_function *function) {
    struct addresses *addresses = context;
    addresses->items[addresses->count++] = function->address + function->size / 2;
    return addresses->count < ADDRESSES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("elf", 0);
        require(file >= 0 && !fchmod(file, 0755));
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
        return 0;
    struct program *program = program_new_local();
    const uint32_t image = program_add_image(program, path, NULL, 0);
    struct types *types = program_types(program, image);
    struct addresses addresses = {.count = 0};
    uint64_t low = 0, high = 0;
    program_each_function(program, image, add_function, &addresses);
    for (uint32_t i = 0; types && i < addresses.count; i++)
        read_variables(types, addresses.items[i]);
    if (types && program_data_bounds(program, image, &low, &high))
        for (uint64_t i = 0; i < ADDRESSES; i++)
            read_variables(types, low + (high - low) / ADDRESSES * i);
    for (uint32_t i = 0; types && i < TYPES; i++)
        read_type(types, i);
    if (types) {
        read_type(types, types_returned(types, 0, "main"));
        read_type(types, TYPE_NONE);
    }
    program_free(program);
    return 0;
}
