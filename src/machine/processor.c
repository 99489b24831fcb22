/* Family and model are encoded as in AMD's manual 24594 and Intel's SDM, CPUID leaf 1: the extended
 * family is added to family Fh, the extended model is the upper digit of the model (on Intel of
 * families 6 and Fh; others have none). */
#include "machine/processor.h"

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

const struct processor_row PROCESSORS[] = {
#define PROCESSOR(vendor, family, first, last, core, machine, describes)                           \
    {vendor, family, first, last, core, machine, describes},
#define FEATURED(core, features)
#include "machine/processors.def"
#undef PROCESSOR
#undef FEATURED
};

const size_t PROCESSOR_COUNT = sizeof PROCESSORS / sizeof *PROCESSORS;

static const struct featured {
    const char *core;
    uint32_t features;
} FEATURED_CORES[] = {
#define PROCESSOR(vendor, family, first, last, core, machine, describes)
#define FEATURED(core, features) {core, features},
#include "machine/processors.def"
#undef PROCESSOR
#undef FEATURED
};
enum { FEATURED_COUNT = sizeof FEATURED_CORES / sizeof *FEATURED_CORES };

#ifdef __x86_64__
static void read_brand(char brand[49]) {
    uint32_t words[12];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            return;
    memcpy(brand, words, sizeof words);
    for (size_t end = strlen(brand); end && brand[end - 1] == ' ';)
        brand[--end] = '\0';
}

static bool has_large_l1i(void) {
    enum { INSTRUCTIONS = 2, LARGE = 64 << 10 };
    uint32_t kind, ways, sets, d;
    for (uint32_t cache = 0; __get_cpuid_count(4, cache, &kind, &ways, &sets, &d) && kind & 0x1f;
         cache++)
        if ((kind & 0x1f) == INSTRUCTIONS && (kind >> 5 & 7) == 1)
            return (uint64_t)((ways >> 22) + 1) * ((ways >> 12 & 0x3ff) + 1) *
                       ((ways & 0xfff) + 1) * (sets + 1) >=
                   LARGE;
    return false;
}

static uint32_t read_features(void) {
    uint32_t a, b, c, d;
    const bool extended = __get_cpuid_count(7, 0, &a, &b, &c, &d);
    return (extended && d >> 24 & 1 ? PROCESSOR_AMX : 0) |
           (extended && d >> 23 & 1 ? PROCESSOR_AVX512_FP16 : 0) |
           (has_large_l1i() ? PROCESSOR_L1I_64K : 0);
}
#endif

void processor_read(struct processor *processor) {
    memset(processor, 0, sizeof *processor);
#ifdef __x86_64__
    uint32_t highest, signature, b, c, d;
    if (!__get_cpuid(0, &highest, &b, &c, &d))
        return;
    memcpy(processor->vendor, &b, 4);
    memcpy(processor->vendor + 4, &d, 4);
    memcpy(processor->vendor + 8, &c, 4);
    read_brand(processor->brand);
    if (!__get_cpuid(1, &signature, &b, &c, &d))
        return;
    processor->family = signature >> 8 & 0xf;
    processor->model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);
    if (processor->family == 0xf)
        processor->family += signature >> 20 & 0xff;
    processor->features = read_features();
#endif
}

void processor_kind(const struct processor *processor, char kind[PROCESSOR_KIND]) {
    *kind = '\0';
    if (*processor->vendor)
        snprintf(kind, PROCESSOR_KIND, "%s family %02Xh, model %02Xh", processor->vendor,
                 processor->family, processor->model);
}

/* Of "VENDOR family 19h, model 11h", up to the end or a parenthesis. */
static bool parse_kind(const char *text, struct processor *processor) {
    char end = ')';
    const int read = sscanf(text, "%12s family %xh, model %xh%c", processor->vendor,
                            &processor->family, &processor->model, &end);
    return read >= 3 && end == ')' && processor->family <= 0xfff && processor->model <= 0xff;
}

bool processor_parse(const char *text, struct processor *processor) {
    const char *open = strrchr(text, '(');
    *processor = (struct processor){0};
    if (parse_kind(open ? open + 1 : text, processor)) {
        size_t length = open ? (size_t)(open - text) : 0;
        while (length && text[length - 1] == ' ')
            length--;
        snprintf(processor->brand, sizeof processor->brand, "%.*s", (int)length, text);
        return true;
    }
    *processor = (struct processor){0};
    snprintf(processor->brand, sizeof processor->brand, "%s", text);
    return false;
}

const struct processor_row *processor_of_model(const struct processor *processor) {
    for (size_t i = 0; i < PROCESSOR_COUNT; i++) {
        const struct processor_row *row = &PROCESSORS[i];
        if (!strcmp(row->vendor, processor->vendor) && row->family == processor->family &&
            row->first_model <= processor->model && processor->model <= row->last_model)
            return row;
    }
    return NULL;
}

/* NULL: it has not all features of any. */
static const struct featured *of_features(uint32_t features) {
    for (size_t i = 0; i < FEATURED_COUNT; i++)
        if (!(FEATURED_CORES[i].features & ~features))
            return &FEATURED_CORES[i];
    return NULL;
}

static bool core_has(const char *core, uint32_t features) {
    for (size_t i = 0; i < FEATURED_COUNT; i++)
        if (!strcmp(FEATURED_CORES[i].core, core))
            return !(features & ~FEATURED_CORES[i].features);
    return false;
}

const struct processor_row *processor_find(const struct processor *processor) {
    const struct processor_row *of_model = processor_of_model(processor);
    const struct featured *featured = of_features(processor->features);
    if (!of_model || !featured || core_has(of_model->core, featured->features))
        return of_model;
    for (size_t i = 0; i < PROCESSOR_COUNT; i++)
        if (!strcmp(PROCESSORS[i].core, featured->core) &&
            !strcmp(PROCESSORS[i].vendor, processor->vendor))
            return &PROCESSORS[i];
    return of_model;
}
