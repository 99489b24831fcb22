/* What a processor may lack that kernels can use. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* FEATURE(NAME, its name, whether the emulator has it). */
#define HOST_FEATURES(FEATURE)                                                                     \
    FEATURE(AVX, "avx", true)                                                                      \
    FEATURE(AVX2, "avx2", true)                                                                    \
    FEATURE(FMA, "fma", true)                                                                      \
    FEATURE(BMI, "bmi", true)                                                                      \
    FEATURE(BMI2, "bmi2", true)                                                                    \
    FEATURE(POPCNT, "popcnt", true)                                                                \
    FEATURE(AES, "aes", true)                                                                      \
    FEATURE(SSE4_1, "sse4.1", true)                                                                \
    FEATURE(AVX512F, "avx512f", false)                                                             \
    FEATURE(AVX512BW, "avx512bw", false)                                                           \
    FEATURE(AVX512VL, "avx512vl", false)

enum host_feature_number {
#define HOST_FEATURE_NUMBER(NAME, name, emulated) HOST_NUMBER_##NAME,
    HOST_FEATURES(HOST_FEATURE_NUMBER)
#undef HOST_FEATURE_NUMBER
        HOST_FEATURE_COUNT
};
enum host_feature {
#define HOST_FEATURE_BIT(NAME, name, emulated) HOST_##NAME = 1 << HOST_NUMBER_##NAME,
    HOST_FEATURES(HOST_FEATURE_BIT)
#undef HOST_FEATURE_BIT
};

/* Bits of enum host_feature. */
uint32_t host_features(void);          /* of this processor, and its system */
uint32_t host_emulated_features(void); /* of the emulator's */
/* Name of the lowest bit. */
const char *host_feature_name(uint32_t features);
