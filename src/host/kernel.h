/* Kernels: small pieces of code that are measured, and the data that they work on. The same machine
 * code runs on this processor (native.h) and on a simulated machine (calibrate/simulated.h).
 *
 * The contract of the code, which is x86-64 and begins on a page of its own:
 *
 *     r15   how often it shall do its work, at least once; the code counts it down by itself
 *     r14   its data, on a boundary of 2 MiB; without data, undefined
 *     rsp   end of a stack of HOST_STACK bytes, on a boundary of 64
 *     others, vector registers too, are 0; the direction flag is clear
 *
 * It ends behind its last byte. It may change all registers; it may not call the system. One run
 * follows another with the data as the last left them: where a chase goes on, say, is kept there.
 *
 * What is measured are cycles of one more iteration: code before and behind the loop cancels. */
#pragma once

#include "host/assembler.h"
#include "host/feature.h"

enum {
    HOST_PAGE = 4096,
    HOST_STACK = 1 << 16,
    HOST_HUGE_PAGE = 2 << 20,
    HOST_MOST_CODE = 64 << 20,   /* bytes of a kernel */
    HOST_MOST_DATA = 1200 << 20, /* bytes of the data of a kernel */
    HOST_MOST_PAGES = 64,        /* shared pages of a kernel */
    HOST_FRAMES = 7              /* pages of memory that these show; all fit into an L1 of 32 KiB */
};
/* Where shared pages may lie: outside of what a process and the kernels have. */
#define HOST_PAGES_FROM  UINT64_C(0x10000)
#define HOST_PAGES_END   UINT64_C(0x7f0000000000)
#define HOST_KERNELS_AT  UINT64_C(0x10000000)
#define HOST_KERNELS_END UINT64_C(0x70000000)

enum host_fill_kind {
    HOST_FILL_BYTES,   /* `size` of them from `bytes` */
    HOST_FILL_ADDRESS, /* 8 bytes: the address of offset `target` */
    HOST_FILL_CHASE,   /* each `stride` bytes of `size`, as far as they go, 8 bytes: the address of
                          another one, so that all are one cycle, in an order of `seed` */
    HOST_FILL_CHAIN    /* `size` offsets at `chain`: each has 8 bytes, the address of the next one,
                          the last that of the first */
};
struct host_fill {
    enum host_fill_kind kind;
    uint64_t offset, size, stride, seed, target;
    const void *bytes;
    const uint64_t *chain; /* from the beginning of the data, not of the fill */
};
struct host_data {
    uint64_t size;   /* bytes; zero but for the fills, which are made in turn */
    bool huge_pages; /* asked for; else pages are small. No effect on a simulated machine */
    bool untouched;  /* pages without a fill are not there before the kernel touches them */
    const struct host_fill *fills;
    size_t fill_count;
};

struct host_kernel {
    const uint8_t *code; /* of an assembler, say */
    size_t code_size;
    /* NULL: none. Kernels in a row that have the same work on the same bytes, one after the
     * other. */
    const struct host_data *data;
    /* Addresses of pages that show HOST_FRAMES pages of memory (host_frame_of()), zero when the
     * kernel is placed: whatever address code makes up, there is memory, and it is in the L1 (Chen
     * et al. 2019 §3). */
    const uint64_t *pages;
    size_t page_count;
    bool run_pages;      /* they may be executed, too */
    uint64_t iterations; /* of a simulated run, and the least of a native one; not 0. Some 1,000
                            to 10,000 instructions are a good length */
    uint64_t warm;       /* iterations before anything is measured; 0: as `iterations` */
    uint32_t features;   /* that the processor must have (enum host_feature) */
    double precision;    /* share of the cycles that is precise enough; 0: the meter's own, a few
                            thousandths */
};

/* Whether a shared page can lie there. */
bool host_page_fits(uint64_t page);
/* Which memory a shared page shows, below HOST_FRAMES: neighbours, and pages at a power of two from
 * each other, different ones. */
static inline unsigned host_frame_of(uint64_t page) {
    return (unsigned)(page / HOST_PAGE % HOST_FRAMES);
}

/* Whether sizes and fills are within their limits; the error says what is not. */
bool host_kernel_check(const struct host_kernel *kernel, struct error *error);

/* Writes the data to `at`, where data->size bytes are zero and will be seen at `address`. */
void host_data_fill(const struct host_data *data, void *at, uint64_t address);

/* The code that calls a kernel as a function of C, void f(uint64_t iterations), puts the registers
 * as the kernel's contract wants them, and back. `context` is the address of HOST_CONTEXT bytes
 * that it may write. Called is the beginning; the kernel lies HOST_PAGE bytes behind it. */
enum { HOST_CONTEXT = 64 };
void host_wrap(struct assembler *code, const struct host_kernel *kernel, uint64_t context,
               uint64_t data, uint64_t stack);

/* The loop of a kernel: what lies between the two runs r15 times. */
static inline struct label host_loop_begin(struct assembler *code) {
    return assembler_here(code);
}
static inline void host_loop_end(struct assembler *code, struct label *loop) {
    ASSEMBLE(code, DEC, REG(R15));
    assembler_branch(code, ZYDIS_MNEMONIC_JNZ, loop);
}
