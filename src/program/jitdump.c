/* Every load and move adds a stay: a range of addresses from a time on, which ends what was there.
 * Each page of addresses has a list of the stays that touch it, the newest first. What is in the
 * file is the program's word, which may be anything: a record counts when all of it is there and of
 * a plausible size, and everything is bounded. */
#include "program/jitdump.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/file_name.h"
#include "util/hash_index.h"
#include "util/intern.h"
#include "util/little_endian.h"
#include "util/order.h"

enum {
    MAGIC = 0x4a695444,
    VERSION = 1,
    HEADER_BYTES = 40,
    RECORD_HEAD_BYTES = 16,
    RECORD_BYTES_MAX = 64 << 20,
    NAME_BYTES_MAX = 512,
    STAYS_MAX = 1 << 20,
    LINES_MAX = 1 << 22,
    NAMES_BYTES_MAX = 64 << 20,
    PAGE_BITS = 12,
    PAGES_MAX = 1024, /* of one piece of code: what is larger is not believed */
    STEPS_MAX = 4096, /* through the list of a page */
};
static const uint64_t DUMP_BYTES_MAX = UINT64_C(4) << 30;
static const uint64_t OTHER_CLOCK = 1; /* flag of the header: the processor's own counter */
#define NO_CODE UINT32_MAX

enum record { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO };

struct code {
    uint32_t name, file;             /* in `names`; file INTERN_NONE: not told */
    uint32_t first_line, line_count; /* in `lines` */
};

struct stay {
    uint64_t address, size, time;
    uint32_t code; /* NO_CODE: nothing is there any more */
};

struct code_line {
    uint64_t offset; /* in the code */
    uint32_t line;
};

struct link {
    uint32_t stay, older; /* older: 1 + index; 0: there is none */
};

struct page {
    uint64_t number;
    uint32_t newest; /* as struct link's older */
};

/* The newest code of a number that the program gave it. */
struct numbered {
    uint64_t number;
    uint32_t code;
};

struct jitdump {
    int file;
    uint64_t at; /* read up to here; 0: not even the header */
    uint64_t time;
    bool broken, other_clock;
    uint8_t *record;
    size_t record_capacity;
    struct intern names;
    size_t name_bytes;
    struct code *codes;
    size_t code_count, code_capacity;
    struct numbered *numbered;
    size_t numbered_count, numbered_capacity;
    struct hash_index by_number;
    struct stay *stays;
    size_t stay_count, stay_capacity;
    struct link *links;
    size_t link_count, link_capacity;
    struct page *pages;
    size_t page_count, page_capacity;
    struct hash_index by_page;
    struct code_line *lines;
    size_t line_count, line_capacity;
    /* Lines are told before the code that they are of. */
    uint64_t lines_address;
    struct code lines_of;
};

struct jitdump *jitdump_of_file(int file) {
    struct jitdump *dump = calloc(1, sizeof *dump);
    if (!dump) {
        close(file);
        return NULL;
    }
    dump->file = file;
    dump->lines_of.file = INTERN_NONE;
    return dump;
}

struct jitdump *jitdump_open(const char *path, uid_t user) {
    struct stat found;
    int file = user == (uid_t)-1
                   ? -1
                   : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
        (found.st_uid == user || !found.st_uid))
        return jitdump_of_file(file);
    close(file);
    return NULL;
}

void jitdump_free(struct jitdump *dump) {
    if (!dump)
        return;
    close(dump->file);
    intern_free(&dump->names);
    hash_index_free(&dump->by_number);
    hash_index_free(&dump->by_page);
    free(dump->record);
    free(dump->codes);
    free(dump->numbered);
    free(dump->stays);
    free(dump->links);
    free(dump->pages);
    free(dump->lines);
    free(dump);
}

/* ---- what was where ---- */

static struct page *find_page(const struct jitdump *dump, uint64_t number) {
    size_t at;
    for (uint32_t i = hash_index_first(&dump->by_page, hash_number(number), &at);
         i != HASH_INDEX_NONE; i = hash_index_next(&dump->by_page, hash_number(number), &at))
        if (dump->pages[i].number == number)
            return &dump->pages[i];
    return NULL;
}

static struct page *page_of(struct jitdump *dump, uint64_t number) {
    struct page *page = find_page(dump, number);
    if (page)
        return page;
    if (!array_room(dump->pages, dump->page_capacity, dump->page_count + 1) ||
        !hash_index_add(&dump->by_page, hash_number(number), (uint32_t)dump->page_count))
        return NULL;
    page = &dump->pages[dump->page_count++];
    *page = (struct page){.number = number};
    return page;
}

/* False: out of memory. */
static bool add_stay(struct jitdump *dump, const struct stay *stay) {
    uint64_t end;
    if (!stay->size || __builtin_add_overflow(stay->address, stay->size, &end))
        return true;
    const uint64_t first = stay->address >> PAGE_BITS, last = (end - 1) >> PAGE_BITS;
    if (dump->stay_count == STAYS_MAX || last - first >= PAGES_MAX)
        return true;
    for (uint64_t number = first; number <= last; number++) {
        struct page *page = page_of(dump, number);
        if (!page || !array_push(dump->links, dump->link_capacity, dump->link_count,
                                 (struct link){(uint32_t)dump->stay_count, page->newest}))
            return false;
        page->newest = (uint32_t)dump->link_count;
    }
    return array_push(dump->stays, dump->stay_capacity, dump->stay_count, *stay);
}

/* The stay at an address, and none if what was there was overwritten in part since. */
static const struct stay *find_stay(const struct jitdump *dump, uint64_t address, uint64_t time) {
    const struct page *page = find_page(dump, address >> PAGE_BITS);
    uint64_t from = 0, to = UINT64_MAX; /* around the address, what newer stays left */
    unsigned steps = 0;
    for (uint32_t at = page ? page->newest : 0; at && steps < STEPS_MAX; steps++) {
        const struct link *link = &dump->links[at - 1];
        const struct stay *stay = &dump->stays[link->stay];
        const uint64_t end = stay->address + stay->size;
        at = link->older;
        if (stay->time > time && !dump->other_clock)
            continue;
        if (address >= stay->address && address < end)
            return stay->code != NO_CODE && stay->address >= from && end <= to ? stay : NULL;
        if (end <= address)
            from = end > from ? end : from;
        else
            to = stay->address < to ? stay->address : to;
    }
    return NULL;
}

/* ---- records ---- */

/* INTERN_NONE: there are too many, or memory is out, as *good says. */
static uint32_t keep_name(struct jitdump *dump, const char *name, size_t size, bool *good) {
    if (size > NAME_BYTES_MAX)
        size = NAME_BYTES_MAX;
    const uint32_t known = intern_find(&dump->names, name, size);
    if (known != INTERN_NONE || dump->name_bytes > NAMES_BYTES_MAX)
        return known;
    dump->name_bytes += size + sizeof(struct intern_item);
    const uint32_t number = intern_add(&dump->names, name, size);
    *good &= number != INTERN_NONE;
    return number;
}

static struct numbered *find_numbered(const struct jitdump *dump, uint64_t number) {
    size_t at;
    for (uint32_t i = hash_index_first(&dump->by_number, hash_number(number), &at);
         i != HASH_INDEX_NONE; i = hash_index_next(&dump->by_number, hash_number(number), &at))
        if (dump->numbered[i].number == number)
            return &dump->numbered[i];
    return NULL;
}

static bool number_code(struct jitdump *dump, uint64_t number, uint32_t code) {
    struct numbered *known = find_numbered(dump, number);
    if (known) {
        known->code = code;
        return true;
    }
    return array_room(dump->numbered, dump->numbered_capacity, dump->numbered_count + 1) &&
           hash_index_add(&dump->by_number, hash_number(number), (uint32_t)dump->numbered_count) &&
           array_push(dump->numbered, dump->numbered_capacity, dump->numbered_count,
                      (struct numbered){number, code});
}

/* pid, tid, vma, address, size, number; the name; the code itself, which is not kept. */
static bool take_load(struct jitdump *dump, const uint8_t *record, size_t size, uint64_t time) {
    enum { ADDRESS_AT = 32, SIZE_AT = 40, NUMBER_AT = 48, NAME_AT = 56 };
    if (size <= NAME_AT || dump->code_count == STAYS_MAX)
        return true;
    const char *name = (const char *)record + NAME_AT;
    const size_t length = strnlen(name, size - NAME_AT);
    const uint64_t address = get_u64(record + ADDRESS_AT);
    bool good = true;
    if (!length || length == size - NAME_AT)
        return true;
    struct code code = {.file = INTERN_NONE, .name = keep_name(dump, name, length, &good)};
    if (code.name == INTERN_NONE)
        return good;
    if (dump->lines_of.line_count && dump->lines_address == address) {
        code.file = dump->lines_of.file;
        code.first_line = dump->lines_of.first_line;
        code.line_count = dump->lines_of.line_count;
    }
    dump->lines_of.line_count = 0;
    const uint32_t added = (uint32_t)dump->code_count;
    return array_push(dump->codes, dump->code_capacity, dump->code_count, code) &&
           number_code(dump, get_u64(record + NUMBER_AT), added) &&
           add_stay(dump, &(struct stay){address, get_u64(record + SIZE_AT), time, added});
}

/* pid, tid, vma, old address, new address, size, number. */
static bool take_move(struct jitdump *dump, const uint8_t *record, size_t size, uint64_t time) {
    enum { OLD_AT = 32, NEW_AT = 40, SIZE_AT = 48, NUMBER_AT = 56, MOVE_BYTES = 64 };
    const struct numbered *moved =
        size < MOVE_BYTES ? NULL : find_numbered(dump, get_u64(record + NUMBER_AT));
    if (!moved)
        return true;
    const uint64_t bytes = get_u64(record + SIZE_AT);
    return add_stay(dump, &(struct stay){get_u64(record + OLD_AT), bytes, time, NO_CODE}) &&
           add_stay(dump, &(struct stay){get_u64(record + NEW_AT), bytes, time, moved->code});
}

/* A line: address, number, discriminator, file. */
enum { LINE_AT = 8, FILE_AT = 16 };
/* In place of a file: that of the entry before. */
static const char SAME_FILE[] = "\xff";

/* Whether the entries are what they should be, all of them: some programs write records that are
 * not. A name that has no letter or digit is none, as "???". */
static bool are_lines(const uint8_t *entries, size_t size, uint64_t count, uint64_t address) {
    size_t at = 0;
    for (; count; count--) {
        if (at >= size || size - at <= FILE_AT ||
            get_u64(entries + at) - address >= (uint64_t)PAGES_MAX << PAGE_BITS)
            return false;
        const char *file = (const char *)entries + at + FILE_AT;
        const size_t room = size - at - FILE_AT, length = strnlen(file, room);
        if (length == room || (strcmp(file, SAME_FILE) != 0 &&
                               !any_where(i, length, isalnum((unsigned char)file[i]))))
            return false;
        at += FILE_AT + length + 1;
    }
    return true;
}

/* Address of the code, count, lines. An entry of another file than the first, of what was inlined,
 * is left out, as is one that goes back. */
static bool take_lines(struct jitdump *dump, const uint8_t *record, size_t size) {
    enum { ADDRESS_AT = 16, COUNT_AT = 24, ENTRIES_AT = 32 };
    dump->lines_of.line_count = 0;
    dump->lines_of.first_line = (uint32_t)dump->line_count;
    dump->lines_of.file = INTERN_NONE;
    if (size < ENTRIES_AT)
        return true;
    dump->lines_address = get_u64(record + ADDRESS_AT);
    uint64_t count = get_u64(record + COUNT_AT);
    if (!are_lines(record + ENTRIES_AT, size - ENTRIES_AT, count, dump->lines_address))
        return true;
    const char *file = NULL;
    bool good = true;
    for (size_t at = ENTRIES_AT; count; count--) {
        const char *given = (const char *)record + at + FILE_AT;
        if (strcmp(given, SAME_FILE) != 0)
            file = given;
        const uint32_t number =
            file ? keep_name(dump, file, strlen(file), &good) : (uint32_t)INTERN_NONE;
        if (!good)
            return false;
        if (dump->lines_of.file == INTERN_NONE)
            dump->lines_of.file = number;
        const struct code_line line = {get_u64(record + at) - dump->lines_address,
                                       get_u32(record + at + LINE_AT)};
        const bool in_order =
            !dump->lines_of.line_count || dump->lines[dump->line_count - 1].offset <= line.offset;
        if (number != INTERN_NONE && number == dump->lines_of.file && in_order &&
            dump->line_count < LINES_MAX) {
            if (!array_push(dump->lines, dump->line_capacity, dump->line_count, line))
                return false;
            dump->lines_of.line_count++;
        }
        at += FILE_AT + strlen(given) + 1;
    }
    return true;
}

static bool take_record(struct jitdump *dump, const uint8_t *record, size_t size) {
    const uint64_t time = get_u64(record + 8);
    if (time > dump->time)
        dump->time = time;
    switch (get_u32(record + 0)) {
    case RECORD_LOAD:
        return take_load(dump, record, size, time);
    case RECORD_MOVE:
        return take_move(dump, record, size, time);
    case RECORD_DEBUG_INFO:
        return take_lines(dump, record, size);
    default:
        return true;
    }
}

/* ---- the file ---- */

static bool read_at(const struct jitdump *dump, void *bytes, size_t size) {
    return pread(dump->file, bytes, size, (off_t)dump->at) == (ssize_t)size;
}

static void read_header(struct jitdump *dump) {
    enum { VERSION_AT = 4, SIZE_AT = 8, FLAGS_AT = 32, HEADER_MOST = 4096 };
    uint8_t header[HEADER_BYTES];
    if (!read_at(dump, header, sizeof header))
        return;
    const uint32_t size = get_u32(header + SIZE_AT);
    dump->broken = get_u32(header + 0) != MAGIC || get_u32(header + VERSION_AT) != VERSION ||
                   size < HEADER_BYTES || size > HEADER_MOST;
    dump->other_clock = get_u64(header + FLAGS_AT) & OTHER_CLOCK;
    dump->at = size;
}

bool jitdump_read(struct jitdump *dump) {
    uint8_t head[RECORD_HEAD_BYTES];
    struct stat found;
    if (!dump->at)
        read_header(dump);
    while (dump->at && !dump->broken && dump->at < DUMP_BYTES_MAX &&
           read_at(dump, head, sizeof head)) {
        const uint32_t size = get_u32(head + 4);
        dump->broken = size < RECORD_HEAD_BYTES || size > RECORD_BYTES_MAX;
        if (dump->broken)
            break;
        if (fstat(dump->file, &found) != 0 || (uint64_t)found.st_size < dump->at + size)
            break;
        if (!array_reserve((void **)&dump->record, &dump->record_capacity, size, 1))
            return false;
        if (!read_at(dump, dump->record, size))
            break;
        if (!take_record(dump, dump->record, size))
            return false;
        dump->at += size;
    }
    return true;
}

uint64_t jitdump_time(const struct jitdump *dump) {
    return dump->other_clock ? UINT64_MAX : dump->time;
}

/* That of the last entry that does not begin behind the offset. */
static uint32_t line_at(const struct jitdump *dump, const struct code *code, uint64_t offset) {
    const struct code_line *lines = dump->lines + code->first_line;
    const size_t behind = first_where(i, code->line_count, lines[i].offset > offset);
    return behind ? lines[behind - 1].line : 0;
}

static void set_place(const struct jitdump *dump, const struct stay *stay, uint64_t address,
                      struct jitdump_place *place) {
    const struct code *code = &dump->codes[stay->code];
    const bool has_file = code->file != INTERN_NONE;
    *place =
        (struct jitdump_place){.name = intern_text(&dump->names, code->name),
                               .file = has_file ? intern_text(&dump->names, code->file) : NULL,
                               .line = has_file ? line_at(dump, code, address - stay->address) : 0,
                               .offset = address - stay->address,
                               .size = stay->size};
}

bool jitdump_find(const struct jitdump *dump, uint64_t address, uint64_t time,
                  struct jitdump_place *place) {
    const struct stay *stay = find_stay(dump, address, time);
    if (stay)
        set_place(dump, stay, address, place);
    return stay;
}

static bool same_function(const struct jitdump *dump, uint32_t one, uint32_t other) {
    return dump->codes[one].name == dump->codes[other].name &&
           dump->codes[one].file == dump->codes[other].file;
}

bool jitdump_find_only(const struct jitdump *dump, uint64_t address, struct jitdump_place *place) {
    const struct page *page = find_page(dump, address >> PAGE_BITS);
    const struct stay *found = NULL; /* the newest */
    unsigned steps = 0;
    for (uint32_t at = page ? page->newest : 0; at; at = dump->links[at - 1].older) {
        const struct stay *stay = &dump->stays[dump->links[at - 1].stay];
        if (++steps > STEPS_MAX)
            return false;
        if (stay->code == NO_CODE || address - stay->address >= stay->size)
            continue;
        if (found && !same_function(dump, found->code, stay->code))
            return false;
        found = found ?: stay;
    }
    if (found)
        set_place(dump, found, address, place);
    return found;
}

bool jitdump_is_named(const char *path) {
    const char *name = file_base_name(path);
    if (strncmp(name, "jit-", 4) != 0 || !isdigit((unsigned char)name[4]))
        return false;
    return !strcmp(name + 4 + strspn(name + 4, "0123456789"), ".dump");
}
