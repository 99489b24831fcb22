/* The processor that culprit runs on, and which shipped machine stands for a processor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells cores apart where the model may be that of another processor. */
enum processor_feature {
    PROCESSOR_AMX = 1,
    PROCESSOR_AVX512_FP16 = 2,
    PROCESSOR_L1I_64K = 4 /* on Intel: an L1I cache of at least 64 KiB */
};

/* As CPUID tells it: family and model with their extended parts. */
struct processor {
    char vendor[13]; /* "AuthenticAMD"; "": not told, as on other architectures */
    uint32_t family, model;
    char brand[49];    /* "AMD EPYC 9654", as it calls itself; may be "" */
    uint32_t features; /* of enum processor_feature; 0 when read of a text */
};

/* "AuthenticAMD family 1Ah, model 02h": what tells kinds of processors apart. "": not told. */
enum { PROCESSOR_KIND = 64 };
void processor_kind(const struct processor *processor, char kind[PROCESSOR_KIND]);

/* Of what profiles say of the processor that they were taken on, "AMD EPYC 9654 (AuthenticAMD
 * family 19h, model 11h)", or only the brand, or only the kind. False: no kind is in the text; all
 * of it is the brand then, as far as it fits. */
bool processor_parse(const char *text, struct processor *processor);

/* A row of processors.def. */
struct processor_row {
    const char *vendor;
    uint32_t family, first_model, last_model;
    const char *core;    /* its name, "AMD Zen 5" */
    const char *machine; /* name of a shipped one */
    bool described;      /* by that machine; else it is the nearest */
};

extern const struct processor_row PROCESSORS[];
extern const size_t PROCESSOR_COUNT;

/* This host's. */
void processor_read(struct processor *processor);

/* The row of its model; NULL: not known. */
const struct processor_row *processor_of_model(const struct processor *processor);
/* Its row: that of its model unless its features contradict it; NULL: the model is not known. */
const struct processor_row *processor_find(const struct processor *processor);
