#include "host/feature.h"

#include <string.h>

#if defined __x86_64__
#include <cpuid.h>
#endif

static const char *const NAMES[] = {
#define FEATURE_NAME(NAME, name, emulated) name,
    HOST_FEATURES(FEATURE_NAME)
#undef FEATURE_NAME
};

uint32_t host_emulated_features(void) {
    uint32_t features = 0;
#define FEATURE_EMULATED(NAME, name, emulated) features |= (emulated) ? HOST_##NAME : 0;
    HOST_FEATURES(FEATURE_EMULATED)
#undef FEATURE_EMULATED
    return features;
}

const char *host_feature_name(uint32_t features) {
    return features ? NAMES[__builtin_ctz(features)] : "";
}

#if defined __x86_64__

uint32_t host_features(void) {
    uint32_t features = 0;
#define FEATURE_SUPPORTED(NAME, name, emulated)                                                    \
    features |= __builtin_cpu_supports(name) ? HOST_##NAME : 0;
    HOST_FEATURES(FEATURE_SUPPORTED)
#undef FEATURE_SUPPORTED
    return features;
}

/* Family and model as both vendors count them: the extended ones added. */
static void read_signature(uint32_t eax, struct host_processor *processor) {
    const uint32_t family = eax >> 8 & 15, model = eax >> 4 & 15;
    processor->stepping = eax & 15;
    processor->family = family == 15 ? family + (eax >> 20 & 255) : family;
    processor->model_number = family == 15 || family == 6 ? model | (eax >> 12 & 0xf0) : model;
}

struct host_processor host_processor(void) {
    struct host_processor processor = {0};
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
        return processor;
    const uint32_t vendor[] = {ebx, edx, ecx};
    memcpy(processor.vendor, vendor, sizeof vendor);
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        read_signature(eax, &processor);
    uint32_t brand[12] = {0};
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
                         &brand[4 * i + 3]))
            return processor;
    memcpy(processor.model, brand, sizeof brand);
    for (size_t end = strlen(processor.model); end && processor.model[end - 1] == ' ';)
        processor.model[--end] = '\0';
    return processor;
}

#else

uint32_t host_features(void) {
    return 0;
}
struct host_processor host_processor(void) {
    return (struct host_processor){0};
}

#endif
