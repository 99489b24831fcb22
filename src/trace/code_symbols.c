/* Instructions are looked up in the symbols one by one; images of symbols that have any are made as
 * they are needed, one for each name. */
#include "trace/code_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

static const struct code_symbol *find(const struct code_symbol *symbols, size_t count,
                                      uint64_t address) {
    size_t low = first_where(i, count, symbols[i].start > address);
    return low && address - symbols[low - 1].start < symbols[low - 1].size ? &symbols[low - 1]
                                                                           : NULL;
}

struct named { /* a symbol by its name */
    const char *name;
    size_t symbol;
};

ORDER(by_name, struct named, strcmp(a->name, b->name) ?: ascending(a->symbol, b->symbol))

/* The first symbol of the same name, for each; NULL: out of memory. */
static size_t *first_of_names(const struct code_symbol *symbols, size_t count) {
    struct named *named = malloc(count * sizeof *named);
    size_t *first = malloc(count * sizeof *first);
    for (size_t i = 0; named && first && i < count; i++)
        named[i] = (struct named){symbols[i].name, i};
    if (named && first)
        qsort(named, count, sizeof *named, by_name);
    for (size_t i = 0; named && first && i < count; i++)
        first[named[i].symbol] = i && !strcmp(named[i].name, named[i - 1].name)
                                     ? first[named[i - 1].symbol]
                                     : named[i].symbol;
    if (!named) {
        free(first);
        first = NULL;
    }
    free(named);
    return first;
}

/* UINT32_MAX: out of memory. */
static uint32_t image_of(struct code *code, size_t *capacity, uint32_t anonymous,
                         const char *name) {
    for (uint32_t i = 0; i < code->image_count; i++)
        if (code->images[i].symbol && !strcmp(code->images[i].symbol, name))
            return i;
    if (!array_reserve((void **)&code->images, capacity, (size_t)code->image_count + 1,
                       sizeof *code->images))
        return UINT32_MAX;
    struct code_image image = {.path = strdup(code->images[anonymous].path),
                               .symbol = strdup(name),
                               .kind = CODE_IMAGE_ANONYMOUS};
    if (!image.path || !image.symbol) {
        free(image.path);
        free(image.symbol);
        return UINT32_MAX;
    }
    code->images[code->image_count] = image;
    return code->image_count++;
}

bool code_name_symbols(struct code *code, size_t *image_capacity, const uint32_t *owners,
                       uint32_t process, const struct code_symbol *symbols, size_t count) {
    if (!count)
        return true;
    size_t *first = first_of_names(symbols, count);
    uint32_t *images = first ? malloc(count * sizeof *images) : NULL;
    bool good = images;
    for (size_t i = 0; good && i < count; i++)
        images[i] = UINT32_MAX; /* not needed yet */
    for (uint32_t i = 0; good && i < code->insn_count; i++) {
        struct static_insn *insn = &code->insns[i];
        const struct code_image *image = &code->images[insn->image];
        if (image->kind != CODE_IMAGE_ANONYMOUS || image->symbol ||
            (owners && owners[i] != process))
            continue;
        const struct code_symbol *symbol = find(symbols, count, insn->offset);
        if (!symbol)
            continue;
        uint32_t *number = &images[first[symbol - symbols]];
        if (*number == UINT32_MAX)
            *number = image_of(code, image_capacity, insn->image, symbol->name);
        good = *number != UINT32_MAX;
        if (good) {
            insn->image = *number;
            insn->offset -= symbol->start;
        }
    }
    free(images);
    free(first);
    return good;
}
