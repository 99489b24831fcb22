/* Blocks and the mappings they lie in.
 *
 * QEMU throws translations away and makes them again, in whole (its cache is full, the first clone)
 * or one by one; a block at the same address of the same file with the same bytes gets its old
 * number. An open-addressing table finds it by a 128-bit hash. The bytes of a new block go to the
 * consumer once.
 *
 * Which file is mapped at an address only culprit's process can read without a descriptor in the
 * guest's; its answers are kept until a system call changes that part of the address space. */
#include "trace/qemu/plugin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <Zydis/Zydis.h>
#include <xxhash.h>

#include "isa/insn.h"
#include "trace/counts.h"

enum { BLOCK_BYTES = RING_MAX_BLOCK_INSNS * 16 };

struct known_block {
    XXH128_hash_t hash;
    uint32_t number; /* plus 1; 0: empty */
    struct rep_block *rep;
};

struct mapping {
    uint64_t start, end, file_offset;
    uint64_t symbol; /* address of from_symbol; 0: not in here */
    uint32_t image;
    uint32_t marked;  /* `image` of marker sites, or RING_UNMARKED */
    bool allocations; /* the library that tells of them */
};

static struct {
    struct known_block *blocks; /* power of two */
    size_t capacity;
    uint32_t count;
    struct mapping *mappings;
    size_t mapping_count, mapping_capacity;
} code;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the mappings */

/* ---- mappings ---- */

static bool find_mapping(uint64_t address, struct mapping *mapping) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < code.mapping_count && !found; i++) {
        found = address >= code.mappings[i].start && address < code.mappings[i].end;
        if (found)
            *mapping = code.mappings[i];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void add_mapping(const struct mapping *mapping) {
    pthread_mutex_lock(&lock);
    if (code.mapping_count == code.mapping_capacity) {
        size_t capacity = code.mapping_capacity ? 2 * code.mapping_capacity : 16;
        void *moved = realloc(code.mappings, capacity * sizeof *code.mappings);
        if (moved) {
            code.mappings = moved;
            code.mapping_capacity = capacity;
        }
    }
    if (code.mapping_count < code.mapping_capacity)
        code.mappings[code.mapping_count++] = *mapping;
    pthread_mutex_unlock(&lock);
}

void code_unmapped(uint64_t start, uint64_t end) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < code.mapping_count;)
        if (code.mappings[i].start < end && start < code.mappings[i].end)
            code.mappings[i] = code.mappings[--code.mapping_count];
        else
            i++;
    pthread_mutex_unlock(&lock);
}

static struct mapping ask_mapping(uint64_t address) {
    struct mapping mapping = {address, address + 1, address, 0, UINT32_MAX, RING_UNMARKED, false};
    struct ring_map map = {
        .record.kind = RING_MAP, .address = address, .guest_base = plugin.guest_base};
    struct ring_reply reply;
    if (!process_ask(&map.record, sizeof map, &reply))
        return mapping;
    if (reply.start <= address && address < reply.end) {
        mapping = (struct mapping){reply.start, reply.end,    reply.file_offset, reply.symbol,
                                   reply.image, reply.marked, reply.allocations};
        add_mapping(&mapping);
        python_found(&reply.python);
        allocators_found(&reply);
    }
    return mapping;
}

static struct mapping mapping_of(uint64_t address) {
    struct mapping mapping;
    return find_mapping(address, &mapping) ? mapping : ask_mapping(address);
}

/* ---- known blocks ---- */

static struct known_block *find_block(XXH128_hash_t hash) {
    size_t i = hash.low64 & (code.capacity - 1);
    while (code.blocks[i].number && !XXH128_isEqual(code.blocks[i].hash, hash))
        i = (i + 1) & (code.capacity - 1);
    return &code.blocks[i];
}

static bool make_room(void) {
    if (2 * (size_t)code.count < code.capacity)
        return true;
    struct known_block *old = code.blocks;
    size_t old_capacity = code.capacity;
    size_t capacity = old_capacity ? 2 * old_capacity : 1 << 12;
    struct known_block *blocks = calloc(capacity, sizeof *blocks);
    if (!blocks)
        return false;
    code.blocks = blocks;
    code.capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].number)
            *find_block(old[i].hash) = old[i];
    free(old);
    return true;
}

/* ---- sizes ---- */

enum { SIZES = 4096 };
static struct known_size {
    uint32_t insn_count, image;
} * sizes[SIZES]; /* pages of as many; never moved: threads read while others add */

static void note_size(uint32_t number, uint32_t insn_count, uint32_t image) {
    const uint32_t page = number / SIZES;
    if (page < SIZES && !sizes[page])
        sizes[page] = calloc(SIZES, sizeof *sizes[page]);
    if (page < SIZES && sizes[page])
        sizes[page][number % SIZES] = (struct known_size){insn_count, image};
}

uint32_t code_block_insns(uint32_t number) {
    const uint32_t page = number / SIZES;
    return page < SIZES && sizes[page] ? sizes[page][number % SIZES].insn_count : 0;
}

uint32_t code_block_image(uint32_t number) {
    const uint32_t page = number / SIZES;
    return page < SIZES && sizes[page] ? sizes[page][number % SIZES].image : UINT32_MAX;
}

uint32_t code_block_count(void) {
    return code.count;
}

void code_forked(void) {
    pthread_mutex_init(&lock, NULL);
    code.mapping_count = 0; /* the child's answers belong to the child's process */
}

/* ---- instructions that need special care ---- */

/* An x86 string instruction with a rep prefix: movs, cmps, stos, lods, scas. Sets its operands. */
static bool is_rep(const uint8_t *bytes, size_t size, struct rep_block *rep) {
    enum { MOVS = 0xa4, CMPS = 0xa6, STOS = 0xaa, LODS = 0xac, SCAS = 0xae, WIDE = 1 };
    bool prefixed = false, word = false, quad = false;
    size_t i = 0;
    for (; i < size; i++) {
        uint8_t byte = bytes[i];
        word |= byte == 0x66;
        if (byte == 0xf2 || byte == 0xf3)
            prefixed = true;
        else if (byte != 0x66 && byte != 0x67 && byte != 0x2e && byte != 0x36 && byte != 0x3e &&
                 byte != 0x26 && byte != 0x64 && byte != 0x65)
            break;
    }
    if (i < size && (bytes[i] & 0xf0) == 0x40)
        quad = bytes[i++] & 8; /* REX.W */
    if (!prefixed || i >= size)
        return false;
    unsigned log2_size = !(bytes[i] & WIDE) ? 0 : quad ? 3 : word ? 1 : 2;
    uint64_t load = event_access(false, log2_size, 0, 0),
             store = event_access(true, log2_size, 0, 0);
    rep->operand_count = 1;
    rep->operands[0] = load;
    switch (bytes[i] & ~WIDE) {
    case MOVS:
        rep->operands[rep->operand_count++] = store;
        return true;
    case CMPS:
        rep->operands[rep->operand_count++] = load;
        return true;
    case STOS:
        rep->operands[0] = store;
        return true;
    case LODS:
    case SCAS:
        return true;
    default:
        return false;
    }
}

/* In 64-bit mode 0x62 is EVEX and nothing else. */
static bool is_evex(const uint8_t *bytes, size_t size) {
    return size > 0 && bytes[0] == 0x62;
}

/* QEMU ends an x86 block before an instruction that reaches into the next page, but still lists it,
 * with the bytes it had read when it found out. */
static bool is_cut(const struct qemu_plugin_insn *last) {
    enum { PAGE = 4096 };
    uint64_t address = qemu_plugin_insn_vaddr(last);
    uint8_t bytes[INSN_BYTES];
    size_t size = interface_insn_bytes(last, bytes);
    if (address % PAGE + ZYDIS_MAX_INSTRUCTION_LENGTH <= PAGE || address % PAGE + size > PAGE)
        return false;
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &insn) ==
           ZYDIS_STATUS_NO_MORE_DATA;
}

/* ---- translation ---- */

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint32_t code_insn_count(const struct qemu_plugin_tb *tb) {
    size_t count = qemu_plugin_tb_n_insns(tb);
    if (count > 1 && plugin.control->isa == ISA_X86_64 &&
        is_cut(qemu_plugin_tb_get_insn(tb, count - 1)))
        count--;
    return count < RING_MAX_BLOCK_INSNS ? (uint32_t)count : RING_MAX_BLOCK_INSNS;
}

bool code_is_watched(const struct qemu_plugin_tb *tb, uint32_t insn_count) {
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, insn_count - 1);
    uint8_t bytes[INSN_BYTES];
    const size_t size = interface_insn_bytes(last, bytes);
    return insn_count > COUNTS_LONG_BLOCK ||
           counts_leads_back((enum isa)plugin.control->isa, bytes, size);
}

struct rep_block code_rep(const struct qemu_plugin_tb *tb) {
    struct rep_block rep = {.insn_count = code_insn_count(tb)};
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, rep.insn_count - 1);
    uint8_t bytes[INSN_BYTES];
    const size_t size = interface_insn_bytes(last, bytes);
    if (plugin.control->isa == ISA_X86_64 && is_rep(bytes, size, &rep))
        rep.address = qemu_plugin_insn_vaddr(last);
    return rep;
}

static void learn_guest_base(const struct qemu_plugin_tb *tb) {
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
    plugin.guest_base = (uintptr_t)qemu_plugin_insn_haddr(first) - qemu_plugin_insn_vaddr(first);
}

bool code_has_symbol(const struct qemu_plugin_tb *tb) {
    learn_guest_base(tb);
    struct mapping mapping = mapping_of(qemu_plugin_tb_vaddr(tb));
    const struct qemu_plugin_insn *last =
        qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
    return mapping.symbol && mapping.symbol >= qemu_plugin_tb_vaddr(tb) &&
           mapping.symbol <= qemu_plugin_insn_vaddr(last);
}

static uint64_t offset_in(const struct mapping *mapping, uint64_t address) {
    return mapping->image == UINT32_MAX ? address : address - mapping->start + mapping->file_offset;
}

void code_look(const struct qemu_plugin_tb *tb) {
    learn_guest_base(tb);
    mapping_of(qemu_plugin_tb_vaddr(tb));
}

uint32_t code_marked(const struct qemu_plugin_tb *tb, uint64_t *offset) {
    learn_guest_base(tb);
    struct mapping mapping = mapping_of(qemu_plugin_tb_vaddr(tb));
    *offset = offset_in(&mapping, qemu_plugin_tb_vaddr(tb));
    return mapping.marked;
}

bool code_tells_allocations(const struct qemu_plugin_tb *tb) {
    learn_guest_base(tb);
    return mapping_of(qemu_plugin_tb_vaddr(tb)).allocations;
}

bool code_mapping_at(uint64_t address, uint64_t *start, uint64_t *end) {
    const struct mapping mapping = mapping_of(address);
    *start = mapping.start;
    *end = mapping.end;
    return mapping.end - mapping.start > 1;
}

uint32_t code_image_at(uint64_t address) {
    return ask_mapping(address).image;
}

void code_translate(const struct qemu_plugin_tb *tb, struct block *block) {
    uint8_t bytes[BLOCK_BYTES];
    size_t size = 0, count = code_insn_count(tb);
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    learn_guest_base(tb);
    *block = (struct block){.insn_count = (uint32_t)count};
    bool x86 = plugin.control->isa == ISA_X86_64, evex = false;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t length = interface_insn_bytes(insn, bytes + size);
        evex |= x86 && is_evex(bytes + size, length);
        size += length;
    }

    struct mapping mapping = mapping_of(address);
    struct ring_block record = {.record.kind = RING_BLOCK,
                                .image = mapping.image,
                                .insn_count = (uint32_t)count,
                                .size = (uint32_t)size,
                                .flags = evex ? RING_BLOCK_EVEX : 0,
                                .address = address,
                                .offset = offset_in(&mapping, address)};

    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, XXH64(&record, sizeof record, 0));
    if (!make_room())
        abort(); /* out of memory: the emulator itself does the same */
    struct known_block *known = find_block(hash);
    if (!known->number) {
        known->hash = hash;
        known->number = ++code.count;
        record.block = known->number - 1;
        record.time = mapping.image == UINT32_MAX ? now() : 0;
        note_size(record.block, record.insn_count, record.image);
        struct rep_block rep = code_rep(tb);
        rep.block = record.block;
        if (rep.address && (known->rep = malloc(sizeof *known->rep)))
            *known->rep = rep;
        process_put(&record.record, sizeof record, bytes, size);
    }
    block->number = known->number - 1;
    block->rep = known->rep;
    block->anonymous = mapping.image == UINT32_MAX;
}
