/* A library that is preloaded into the guest: it tells the plugin of calls of malloc() and its kin
 * and leaves them to the routines that would have been called without it.
 *
 * The caller must not notice, nor the trace, in which this library's instructions are left out:
 * each routine jumps to the real one with the stack as it was. Only the return address is another:
 * the way back leads through `returned`, which tells of the block and goes on to the caller. What
 * was the return address is kept for each thread, by where on the stack it was; a call that is
 * never finished (a signal's handler that jumps out of it) leaves its entry until one at the same
 * place replaces it. A call that finds no entry free is not told of.
 *
 * It calls nothing, so that nothing is in the trace that would not be there without it: the real
 * routines are looked up here, in the libraries that the dynamic linker lists behind this one. */
#include "trace/qemu/guest/allocations.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#define INSIDE __attribute__((visibility("hidden"), used))

enum routine {
    MALLOC,
    CALLOC,
    REALLOC,
    MEMALIGN,
    ALIGNED_ALLOC,
    POSIX_MEMALIGN,
    VALLOC,
    PVALLOC,
    FREE,
    REALLOCARRAY,
    ROUTINES
};
static const char NAMES[ROUTINES][16] = {"malloc",        "calloc",         "realloc", "memalign",
                                         "aligned_alloc", "posix_memalign", "valloc",  "pvalloc",
                                         "free",          "reallocarray"};
static void *real[ROUTINES];

/* ---- the real routines ---- */

/* The list of libraries, as glibc's dynamic linker has it, and as musl's. */
extern struct r_debug _r_debug __attribute__((weak));
extern struct r_debug *_dl_debug_addr __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct library {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
    const ElfW(Half) * versions;
};

/* glibc has added the library's place to its addresses, others have not. */
static const void *at(const struct link_map *map, ElfW(Addr) address) {
    return (const void *)(address < map->l_addr ? address + map->l_addr : address);
}

static bool read_library(const struct link_map *map, struct library *library) {
    *library = (struct library){0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            library->symbols = at(map, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            library->strings = at(map, entry->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            library->hash = at(map, entry->d_un.d_ptr);
            break;
        case DT_VERSYM:
            library->versions = at(map, entry->d_un.d_ptr);
            break;
        default:
            break;
        }
    return library->symbols && library->strings && library->hash;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t hash = 5381;
    while (*name)
        hash = hash * 33 + (uint8_t)*name++;
    return hash;
}

static bool is_same(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* A function that the library defines, in its default version; NULL: none. */
static void *find_symbol(const struct link_map *map, const struct library *library,
                         const char *name) {
    enum { HIDDEN = 0x8000, HEADER = 4 };
    const uint32_t bucket_count = library->hash[0], first = library->hash[1],
                   bloom = library->hash[2], hash = gnu_hash(name);
    const uint32_t *buckets = library->hash + HEADER + bloom * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chains = buckets + bucket_count;
    if (!bucket_count || buckets[hash % bucket_count] < first)
        return NULL;
    for (uint32_t i = buckets[hash % bucket_count];; i++) {
        const ElfW(Sym) *symbol = &library->symbols[i];
        const uint32_t chain = chains[i - first];
        if ((chain | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            is_same(library->strings + symbol->st_name, name) &&
            !(library->versions && library->versions[i] & HIDDEN))
            return (void *)(map->l_addr + symbol->st_value);
        if (chain & 1)
            return NULL;
    }
}

static const struct link_map *first_library(void) {
    if (&_r_debug)
        return _r_debug.r_map;
    return &_dl_debug_addr ? _dl_debug_addr->r_map : NULL;
}

/* Of a C library that has no such routine, or no list. */
INSIDE void *nothing(void) {
    return NULL;
}

static void *find_real(enum routine routine) {
    void *found = __atomic_load_n(&real[routine], __ATOMIC_RELAXED);
    const struct link_map *map = first_library();
    struct library library;
    if (found)
        return found;
    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    for (map = map ? map->l_next : NULL; map && !found; map = map->l_next)
        if (read_library(map, &library))
            found = find_symbol(map, &library, NAMES[routine]);
    if (!found)
        return (void *)nothing;
    __atomic_store_n(&real[routine], found, __ATOMIC_RELAXED);
    return found;
}

static void report(uint64_t allocated, uint64_t size, uint64_t freed) {
    struct allocation_report report = {allocated, size, freed};
    __asm__ volatile("movnti %0, (%1)" : : "r"(allocated), "r"(&report) : "memory");
}

/* ---- calls ---- */

/* Calls that have not returned. */
enum { MOST_CALLS = 16 };
struct call {
    uint64_t *slot; /* of the return address; NULL: free */
    uint64_t back;  /* the return address */
    uint64_t size, old;
    void **result; /* of posix_memalign() */
};
static __thread struct call calls[MOST_CALLS] __attribute__((tls_model("initial-exec")));

/* Where routines return to. In assembly below. */
extern const char returned[] __attribute__((visibility("hidden")));

static struct call *free_entry(const uint64_t *slot) {
    struct call *entry = NULL;
    for (int i = 0; i < MOST_CALLS; i++) {
        if (calls[i].slot == slot)
            return &calls[i];
        if (!calls[i].slot)
            entry = &calls[i];
    }
    return entry;
}

static void expect_return(uint64_t *slot, uint64_t size, uint64_t old, void **result) {
    struct call *call;
    /* One routine may go on to another in place of its own return: the first one's entry serves. */
    if (*slot == (uint64_t)(uintptr_t)returned || !(call = free_entry(slot)))
        return;
    *call = (struct call){slot, *slot, size, old, result};
    *slot = (uint64_t)(uintptr_t)returned;
}

/* A routine was called. Returns where to go on. */
INSIDE void *entered(enum routine routine, uint64_t first, uint64_t second, uint64_t third,
                     uint64_t *slot) {
    void *real_routine = find_real(routine);
    switch (routine) {
    case FREE:
        if (first)
            report(0, 0, first);
        break;
    case MALLOC:
    case VALLOC:
    case PVALLOC:
        expect_return(slot, first, 0, NULL);
        break;
    case CALLOC:
        expect_return(slot, first * second, 0, NULL);
        break;
    case MEMALIGN:
    case ALIGNED_ALLOC:
        expect_return(slot, second, 0, NULL);
        break;
    case REALLOC:
        expect_return(slot, second, first, NULL);
        break;
    case REALLOCARRAY:
        expect_return(slot, second * third, first, NULL);
        break;
    case POSIX_MEMALIGN:
        expect_return(slot, third, 0, (void **)(uintptr_t)first);
        break;
    default:
        break;
    }
    return real_routine;
}

/* It returned. Returns where its caller is. */
INSIDE uint64_t left(uint64_t *slot, uint64_t value) {
    for (int i = 0; i < MOST_CALLS; i++) {
        const struct call call = calls[i];
        if (call.slot != slot)
            continue;
        calls[i].slot = NULL;
        if (call.result)
            value = (uint32_t)value ? 0 : (uint64_t)(uintptr_t)*call.result;
        const uint64_t freed = value || !call.size ? call.old : 0;
        if (value || freed)
            report(value, call.size, freed);
        return call.back;
    }
    __builtin_trap();
}

/* `name`: hands its arguments and the place of the return address to entered(). */
#define ROUTINE(name, number)                                                                      \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                       \
            "mov $" #number ", %eax\n"                                                             \
            "jmp culprit_enter\n.size " name ", . - " name "\n")
ROUTINE("malloc", 0);
ROUTINE("calloc", 1);
ROUTINE("realloc", 2);
ROUTINE("memalign", 3);
ROUTINE("aligned_alloc", 4);
ROUTINE("posix_memalign", 5);
ROUTINE("valloc", 6);
ROUTINE("pvalloc", 7);
ROUTINE("free", 8);
ROUTINE("reallocarray", 9);

__asm__(".text\n"
        "culprit_enter:\n"
        "mov %rsp, %r8\n"
        "push %rdi\npush %rsi\npush %rdx\n"
        "mov %rdx, %rcx\nmov %rsi, %rdx\nmov %rdi, %rsi\nmov %eax, %edi\n"
        "call entered\n" /* the stack is a multiple of 16 again: a call's 8 and these 24 */
        "pop %rdx\npop %rsi\npop %rdi\n"
        "jmp *%rax\n"
        ".hidden returned\n.globl returned\n"
        "returned:\n"
        "sub $8, %rsp\n" /* where the return address was */
        "mov %rsp, %rdi\nmov %rax, %rsi\n"
        "push %rax\n"
        "call left\n"
        "mov %rax, %rdx\n"
        "pop %rax\n"
        "mov %rdx, (%rsp)\n"
        "ret\n");
