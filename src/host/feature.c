#include "host/feature.h"

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

#else

uint32_t host_features(void) {
    return 0;
}
#endif
