/* Blocks arrive rarely (once per translation), executions often, so all work that depends only on
 * the code is done here. */
#include "trace/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "trace/code_placement.h"
#include "trace/code_symbols.h"
#include "trace/event.h"
#include "util/array.h"

enum { MAX_COUNT = 1 << 30 }; /* of anything numbered in 32 bits */

void code_table_init(struct code_table *table, enum isa isa) {
    memset(table, 0, sizeof *table);
    table->code.isa = isa;
    table->anonymous = CODE_NONE;
}

void code_table_settle(struct code_table *table) {
    for (uint32_t i = 0; i < table->process_count; i++)
        free(table->processes[i].blocks), free(table->processes[i].python);
    free(table->code.uops);
    free(table->operands);
    free(table->owners);
    free(table->clock_calls);
    free(table->blocks);
    free(table->templates);
    free(table->patterns);
    free(table->processes);
    free(table->images);
    hash_index_free(&table->insn_index);
    hash_index_free(&table->block_index);
    hash_index_free(&table->uop_index);
    struct code kept = table->code;
    kept.uops = NULL;
    kept.uop_count = 0;
    memset(table, 0, sizeof *table);
    table->code = kept;
}

void code_table_free(struct code_table *table) {
    code_table_settle(table);
    for (uint32_t i = 0; i < table->code.image_count; i++) {
        free(table->code.images[i].path);
        free(table->code.images[i].symbol);
    }
    for (uint32_t i = 0; i < table->code.python_count; i++) {
        free(table->code.python[i].name);
        free(table->code.python[i].path);
    }
    free(table->code.python);
    free(table->code.insns);
    free(table->code.images);
    free(table->code.mappings);
    memset(table, 0, sizeof *table);
}

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for the program's code");
}

bool code_table_add_process(struct code_table *table, uint32_t process, struct error *error) {
    if (process != table->process_count)
        return error_set(error, "process number %" PRIu32 " where %" PRIu32 " was due", process,
                         table->process_count);
    if (process >= MAX_COUNT ||
        !array_room(table->processes, table->process_capacity, (size_t)process + 1))
        return out_of_memory(error);
    memset(&table->processes[table->process_count++], 0, sizeof *table->processes);
    return true;
}

/* ---- images ---- */

static bool append_image(struct code_table *table, const char *path, enum code_image_kind kind,
                         const uint8_t *build_id, uint8_t build_id_size, uint64_t base) {
    struct code *code = &table->code;
    if (!array_room(code->images, table->code_image_capacity, (size_t)code->image_count + 1))
        return false;
    struct code_image *image = &code->images[code->image_count];
    memset(image, 0, sizeof *image);
    image->path = strdup(path);
    if (!image->path)
        return false;
    image->kind = kind;
    if (build_id_size)
        memcpy(image->build_id, build_id, build_id_size);
    image->build_id_size = build_id_size;
    image->base = base;
    code->image_count++;
    if (table->placement && kind == CODE_IMAGE_FILE && !strcmp(path, table->placement->code->path))
        table->placed = code->image_count;
    return true;
}

/* The same again, as of each part of a file, is not noted, or not often. */
static bool note_mapping(struct code_table *table, const struct item_image *item, uint32_t image) {
    enum { LOOK_BACK = 256 };
    struct code *code = &table->code;
    for (uint32_t i = code->mapping_count, k = 0; i-- > 0 && k < LOOK_BACK; k++)
        if (code->mappings[i].process == item->process && code->mappings[i].image == image)
            return true;
    return array_push(code->mappings, table->mapping_capacity, code->mapping_count,
                      (struct code_mapping){item->process, image, item->start, item->file_offset});
}

bool code_table_add_image(struct code_table *table, const struct item_image *image,
                          struct error *error) {
    if (image->process >= table->process_count)
        return error_set(error, "image of unknown process %" PRIu32, image->process);
    if (image->image > table->image_count)
        return error_set(error, "image number %" PRIu32 " where at most %" PRIu32 " was due",
                         image->image, table->image_count);
    if (image->kind > CODE_IMAGE_ANONYMOUS || image->build_id_size > sizeof image->build_id)
        return error_set(error, "image %" PRIu32 " is malformed", image->image);
    if (image->image < table->image_count)
        return note_mapping(table, image, table->images[image->image]) || out_of_memory(error);
    if (!array_room(table->images, table->image_capacity, (size_t)table->image_count + 1) ||
        !append_image(table, image->path, image->kind, image->build_id, image->build_id_size,
                      image->start - image->file_offset))
        return out_of_memory(error);
    table->images[table->image_count++] = table->code.image_count - 1;
    return note_mapping(table, image, table->code.image_count - 1) || out_of_memory(error);
}

static uint32_t anonymous_image(struct code_table *table) {
    if (table->anonymous == CODE_NONE &&
        append_image(table, "[anon]", CODE_IMAGE_ANONYMOUS, NULL, 0, 0))
        table->anonymous = table->code.image_count - 1;
    return table->anonymous;
}

/* ---- instructions ---- */

struct insn_key {
    uint64_t offset;
    uint32_t image, owner;
    uint8_t length;
    uint8_t bytes[16]; /* zero after length */
    uint8_t padding[7];
};

static uint64_t hash_key(const struct insn_key *key) {
    return XXH3_64bits(key, sizeof *key);
}

static uint32_t find_insn(const struct code_table *table, const struct insn_key *key) {
    const uint64_t hash = hash_key(key);
    size_t at;
    for (uint32_t number = hash_index_first(&table->insn_index, hash, &at);
         number != HASH_INDEX_NONE; number = hash_index_next(&table->insn_index, hash, &at)) {
        const struct static_insn *insn = &table->code.insns[number];
        if (insn->offset == key->offset && insn->image == key->image &&
            table->owners[number] == key->owner && insn->length == key->length &&
            memcmp(insn->bytes, key->bytes, sizeof key->bytes) == 0)
            return number;
    }
    return CODE_NONE;
}

static void set_operands(struct insn_operands *operands, const struct insn *insn) {
    memset(operands, 0, sizeof *operands);
    operands->count = insn->memory_count < INSN_MAX_MEMORY ? insn->memory_count : INSN_MAX_MEMORY;
    operands->gather = (insn->flags & INSN_GATHER) != 0;
    for (int i = 0; i < operands->count; i++) {
        operands->size_bytes[i] = insn->memory[i].size_bytes;
        operands->directions[i] = (insn->memory[i].is_load ? OPERAND_LOAD : 0) |
                                  (insn->memory[i].is_store ? OPERAND_STORE : 0);
    }
}

static bool reserve_insn(struct code_table *table) {
    struct code *code = &table->code;
    size_t need = (size_t)code->insn_count + 1;
    return need < MAX_COUNT && code->uop_count < MAX_COUNT &&
           array_room(code->insns, table->insn_capacity, need) &&
           array_room(table->operands, table->operand_capacity, need) &&
           array_room(table->owners, table->owner_capacity, need) &&
           array_room(table->clock_calls, table->clock_call_capacity, need) &&
           array_room(code->uops, table->uop_capacity, (size_t)code->uop_count + INSN_MAX_UOPS) &&
           hash_index_reserve(&table->insn_index, table->insn_index.count + 1) &&
           hash_index_reserve(&table->uop_index, table->uop_index.count + 1);
}

/* The first µop of the list that lies behind all others, which is dropped if there is its equal. */
static uint32_t intern_uops(struct code_table *table, uint32_t count) {
    struct code *code = &table->code;
    const struct uop *uops = code->uops + code->uop_count;
    const uint64_t hash = XXH3_64bits(uops, count * sizeof *uops);
    size_t at;
    for (uint32_t number = hash_index_first(&table->uop_index, hash, &at);
         number != HASH_INDEX_NONE; number = hash_index_next(&table->uop_index, hash, &at))
        if (memcmp(code->uops + number, uops, count * sizeof *uops) == 0)
            return number;
    uint32_t first = code->uop_count;
    hash_index_add(&table->uop_index, hash, first);
    code->uop_count += count;
    return first;
}

/* `insn` is NULL when the bytes did not decode. Returns its number, or CODE_NONE out of memory. */
static uint32_t add_insn(struct code_table *table, const struct insn_key *key, uint64_t address,
                         const struct insn *insn) {
    if (!reserve_insn(table))
        return CODE_NONE;
    struct code *code = &table->code;
    uint32_t number = code->insn_count;
    struct uop *uops = &code->uops[code->uop_count];
    struct static_insn *added = &code->insns[number];
    if (table->placed == key->image + 1)
        address = code_placement_at(table->placement, address, key->offset);
    *added = (struct static_insn){.address = address,
                                  .offset = key->offset,
                                  .image = key->image,
                                  .target = UINT32_MAX,
                                  .uop_count = 1,
                                  .length = key->length,
                                  .operation = OP_SYSTEM};
    memcpy(added->bytes, key->bytes, sizeof added->bytes);
    table->owners[number] = key->owner;
    table->clock_calls[number] = 0;
    if (insn) {
        added->uop_count = (uint8_t)insn_crack(insn, uops);
        added->branch = insn->branch;
        added->flags = insn->flags;
        added->operation = insn->operation;
        added->form = insn->form;
        added->stack_use = insn->stack_use & 0xf;
        added->adds_constant = insn->adds_constant;
        added->is_cpuid = insn->is_cpuid;
        added->target_displacement = (int32_t)insn->target;
        set_operands(&table->operands[number], insn);
        added->memory_count = table->operands[number].count;
    } else {
        memset(uops, 0, sizeof *uops);
        uops->operation = OP_SYSTEM;
        uops->flags = UOP_FIRST | UOP_LAST;
        uops->memory = 255;
        uops->data = REG_NONE;
        memset(&table->operands[number], 0, sizeof *table->operands);
    }
    added->first_uop = intern_uops(table, added->uop_count);
    code->insn_count++;
    hash_index_add(&table->insn_index, hash_key(key), number);
    return number;
}

/* ---- blocks ---- */

/* Length to give bytes that are no instruction, so that the rest of the block has a chance. */
static uint32_t guess_length(enum isa isa, const uint8_t *bytes, uint32_t left, bool last) {
    if (last)
        return left < 16 ? left : 16;
    if (isa == ISA_RISCV64)
        return (bytes[0] & 3) == 3 ? 4 : 2;
    return 1;
}

static void note_undecodable(struct code_table *table, struct notes *notes, uint64_t address,
                             const uint8_t *bytes, uint32_t length) {
    if (table->undecodable_count++ >= 4)
        return;
    char text[3 * 16 + 1] = "";
    for (uint32_t i = 0; i < length; i++)
        snprintf(text + 3 * i, 4, " %02x", bytes[i]);
    notes_add(notes, "no known instruction at 0x%" PRIx64 ":%s; counted as one system µop", address,
              text);
}

static bool decode(const struct code_table *table, const struct item_code *item, uint32_t number,
                   uint32_t at, struct insn *insn) {
    return item->described ? insn_decode_described(item->bytes + DESCRIBED_BYTES * number, insn)
                           : insn_memo_decode(table->memo, table->code.isa, item->bytes + at,
                                              item->size - at, insn);
}

/* Appends templates for the block's instructions. */
static bool add_templates(struct code_table *table, const struct item_code *item, uint32_t image,
                          struct notes *notes) {
    bool anonymous = table->code.images[image].kind == CODE_IMAGE_ANONYMOUS;
    uint32_t owner = anonymous ? item->process : CODE_NONE;
    uint32_t at = 0;
    for (uint32_t i = 0; i < item->insn_count; i++) {
        uint32_t left = item->size - at, after = item->insn_count - 1 - i;
        struct insn insn;
        const uint8_t *bytes = item->bytes + (item->described ? DESCRIBED_BYTES * i : at);
        bool decoded = decode(table, item, i, at, &insn) && insn.length <= left - after;
        uint32_t length = decoded           ? insn.length
                          : item->described ? 1
                                            : guess_length(table->code.isa, bytes, left, !after);
        if (length > left - after)
            length = left - after;
        struct insn_key key = {
            .offset = item->offset + at, .image = image, .owner = owner, .length = (uint8_t)length};
        memcpy(key.bytes, bytes, item->described ? DESCRIBED_BYTES : length);
        uint32_t number = find_insn(table, &key);
        if (number == CODE_NONE) {
            if (!decoded)
                note_undecodable(table, notes, item->address + at, bytes, length);
            number = add_insn(table, &key, item->address + at, decoded ? &insn : NULL);
            if (number != CODE_NONE)
                table->code.insns[number].described = item->described;
            /* Numbers are the same whatever is decoded, and when. */
            if (number != CODE_NONE && table->code.insns[number].flags & INSN_SYSCALL &&
                code_table_clock_call(table, number) == CODE_NONE)
                return false;
        }
        if (number == CODE_NONE || !array_room(table->templates, table->template_capacity,
                                               (size_t)table->template_count + 1 + TEMPLATE_GROUP))
            return false;
        bool syscall = table->code.insns[number].flags & INSN_SYSCALL;
        table->templates[table->template_count++] =
            (struct dynamic_insn){.insn = number, .flags = syscall ? DYN_SYSCALL : 0};
        at += length;
    }
    return true;
}

uint32_t code_table_clock_call(struct code_table *table, uint32_t insn) {
    if (table->clock_calls[insn])
        return table->clock_calls[insn];
    if (!reserve_insn(table))
        return CODE_NONE;
    struct code *code = &table->code;
    uint32_t number = code->insn_count++;
    struct static_insn *added = &code->insns[number];
    *added = code->insns[insn];
    added->operation = OP_CLOCK;
    struct uop *uops = &code->uops[code->uop_count];
    memcpy(uops, &code->uops[added->first_uop], added->uop_count * sizeof *uops);
    uops[added->uop_count - 1].operation = OP_CLOCK;
    added->first_uop = intern_uops(table, added->uop_count);
    table->operands[number] = table->operands[insn];
    table->owners[number] = table->owners[insn];
    table->clock_calls[number] = number;
    return table->clock_calls[insn] = number;
}

/* Its first instruction stands for the block's image, owner and offset. */
static uint64_t block_hash(const struct code_table *table, uint32_t number) {
    const struct code_block *block = &table->blocks[number];
    uint32_t key[4] = {(uint32_t)block->address, (uint32_t)(block->address >> 32),
                       block->insn_count, table->templates[block->template].insn};
    return XXH3_64bits(key, sizeof key);
}

static bool blocks_equal(const struct code_table *table, const struct code_block *one,
                         const struct code_block *other) {
    if (one->address != other->address || one->end != other->end ||
        one->insn_count != other->insn_count)
        return false;
    return !any_where(i, one->insn_count,
                      table->templates[one->template + i].insn !=
                          table->templates[other->template + i].insn);
}

/* Enters blocks[block_count], whose templates are the last, or finds its equal and drops it. */
static uint32_t intern_block(struct code_table *table) {
    uint32_t number = table->block_count;
    const struct code_block *block = &table->blocks[number];
    const uint64_t hash = block_hash(table, number);
    size_t at;
    for (uint32_t known = hash_index_first(&table->block_index, hash, &at);
         known != HASH_INDEX_NONE; known = hash_index_next(&table->block_index, hash, &at))
        if (blocks_equal(table, &table->blocks[known], block)) {
            table->template_count = block->template;
            return known;
        }
    hash_index_add(&table->block_index, hash, number);
    table->block_count++;
    return number;
}

static bool check_block(const struct code_table *table, const struct item_code *item,
                        struct error *error) {
    if (item->process >= table->process_count)
        return error_set(error, "code of unknown process %" PRIu32, item->process);
    const struct process_blocks *process = &table->processes[item->process];
    if (item->block != process->count)
        return error_set(error, "block number %" PRIu32 " where %" PRIu32 " was due", item->block,
                         process->count);
    if (item->image != CODE_NONE && item->image >= table->image_count)
        return error_set(error, "block %" PRIu32 " lies in unknown image %" PRIu32, item->block,
                         item->image);
    uint64_t end;
    if (item->insn_count == 0 || item->insn_count > EVENT_MAX_BLOCK_INSNS ||
        item->size < item->insn_count || item->size > 16 * item->insn_count ||
        __builtin_add_overflow(item->address, item->size, &end))
        return error_set(error,
                         "block %" PRIu32 " is malformed: %" PRIu32 " instructions in %" PRIu32
                         " bytes at 0x%" PRIx64,
                         item->block, item->insn_count, item->size, item->address);
    return true;
}

bool code_table_add_block(struct code_table *table, const struct item_code *item,
                          struct notes *notes, struct error *error) {
    if (!check_block(table, item, error))
        return false;
    struct process_blocks *process = &table->processes[item->process];
    uint32_t image = item->image == CODE_NONE ? anonymous_image(table) : table->images[item->image];
    uint32_t template = table->template_count;
    if (image == CODE_NONE || process->count >= MAX_COUNT || template >= MAX_COUNT ||
        !array_room(process->blocks, process->capacity, (size_t)process->count + 1) ||
        !array_room(table->blocks, table->block_capacity, (size_t)table->block_count + 1) ||
        !hash_index_reserve(&table->block_index, table->block_index.count + 1) ||
        !reserve_insn(table) || !add_templates(table, item, image, notes))
        return out_of_memory(error);

    uint32_t last = table->templates[table->template_count - 1].insn;
    const struct static_insn *insn = &table->code.insns[last];
    struct code_block *block = &table->blocks[table->block_count];
    *block = (struct code_block){.address = item->address,
                                 .end = item->address + item->size,
                                 .insn_count = item->insn_count,
                                 .template = template,
                                 .successor = {CODE_NONE, CODE_NONE},
                                 .branch = insn->branch};
    if (insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP ||
        insn->branch == BRANCH_CALL)
        block->target = block->end - insn->length + (uint64_t)(int64_t)insn->target_displacement;
    process->blocks[process->count++] = intern_block(table);
    return true;
}

bool code_table_reserve_pattern(struct code_table *table, struct code_block *block,
                                uint32_t count) {
    if (count <= block->pattern_room)
        return count || array_room(table->patterns, table->pattern_capacity, 1);
    if (count < 2 * block->pattern_room)
        count = 2 * block->pattern_room;
    if (table->pattern_count + (size_t)count >= MAX_COUNT ||
        !array_room(table->patterns, table->pattern_capacity, (size_t)table->pattern_count + count))
        return false;
    block->pattern = table->pattern_count;
    block->pattern_room = count;
    table->pattern_count += count;
    return true;
}

/* What is named can no longer be found as code that is added: the same code in another process is
 * other code in any case. */
bool code_table_add_symbols(struct code_table *table, const struct item_symbols *item,
                            struct error *error) {
    if (item->process >= table->process_count)
        return error_set(error, "symbols of unknown process %" PRIu32, item->process);
    for (uint32_t i = 1; i < item->count; i++)
        if (item->symbols[i].start < item->symbols[i - 1].start ||
            item->symbols[i].start - item->symbols[i - 1].start < item->symbols[i - 1].size)
            return error_set(error, "symbols of process %" PRIu32 " overlap", item->process);
    return code_name_symbols(&table->code, &table->code_image_capacity, table->owners,
                             item->process, item->symbols, item->count) ||
           out_of_memory(error);
}

bool code_table_add_python(struct code_table *table, const struct item_python *item,
                           struct error *error) {
    if (item->process >= table->process_count)
        return error_set(error, "Python of unknown process %" PRIu32, item->process);
    struct process_blocks *process = &table->processes[item->process];
    struct code *code = &table->code;
    if (item->function != process->python_count + 1 || item->function > PYTHON_FUNCTION_MAX)
        return error_set(error, "function %" PRIu32 " of Python where %" PRIu32 " was due",
                         item->function, process->python_count + 1);
    if (code->python_count >= MAX_COUNT ||
        !array_room(process->python, process->python_capacity, (size_t)item->function) ||
        !array_room(code->python, table->python_capacity, (size_t)code->python_count + 1))
        return out_of_memory(error);
    const struct python_source source = {strdup(item->name), strdup(item->path), item->first_line};
    code->python[code->python_count++] = source;
    process->python[process->python_count++] = code->python_count;
    return (source.name && source.path) || out_of_memory(error);
}
