/* The compiled BPF program as a part of culprit, so that nothing more is to be installed. */
#include "live/collector_parts.h"

__asm__(".pushsection .rodata\n"
        ".balign 8\n"
        "collector_object_begin:\n"
        ".incbin \"src/live/bpf/collector.bpf.o\"\n"
        "collector_object_end:\n"
        ".popsection\n");

extern const char collector_object_begin[], collector_object_end[];

const void *collector_object(size_t *size) {
    *size = (uintptr_t)collector_object_end - (uintptr_t)collector_object_begin;
    return collector_object_begin;
}
