/* Two segments: code, read and executed; and behind it what is written: the call's context, the
 * stack, and the data, each on a boundary of 2 MiB, so that addresses within caches and pages are
 * those that they have natively. Of data, what is zero takes no room in the file. Shared pages are
 * mapped by the program itself, before it runs a kernel, those of all kernels at once. */
#include "calibrate/guest.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CODE_AT UINT64_C(0x10000000)
enum { SEGMENTS = 2 };

static uint64_t round_up(uint64_t n, uint64_t to) {
    return (n + to - 1) / to * to;
}

/* ---- where things lie ---- */

struct layout {
    const struct host_kernel *const *kernels;
    uint64_t *data; /* address of each kernel's */
    size_t count;
    uint64_t written_at; /* beginning of the second segment: context, stack, data */
    uint64_t end;
};

/* Addresses of data from `from` on, as many kernels as have room. */
static void place_data(struct layout *layout, size_t count, uint64_t from) {
    const struct host_data *last = NULL;
    uint64_t last_at = 0, next = from;
    layout->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct host_data *data = layout->kernels[i]->data;
        if (data && data != last) {
            last = data;
            last_at = round_up(next, HOST_HUGE_PAGE);
            next = last_at + data->size;
        }
        if (i && next - from > HOST_MOST_DATA)
            return;
        layout->data[i] = data ? last_at : 0;
        layout->end = next;
        layout->count = i + 1;
    }
}

/* ---- the code ---- */

static void put_call(struct assembler *code, int number) {
    ASSEMBLE(code, MOV, REG(EAX), IMMEDIATE(number));
    assembler_put(code, ZYDIS_MNEMONIC_SYSCALL, NULL, 0);
}

/* r12 is the descriptor of their memory. A page that is there already stays, with the same memory.
 */
static void put_pages(struct assembler *code, const struct host_kernel *kernel) {
    for (size_t i = 0; i < kernel->page_count; i++) {
        ASSEMBLE(code, MOV, REG(RDI), IMMEDIATE((int64_t)kernel->pages[i]));
        ASSEMBLE(code, MOV, REG(ESI), IMMEDIATE(HOST_PAGE));
        ASSEMBLE(code, MOV, REG(EDX),
                 IMMEDIATE(PROT_READ | PROT_WRITE | (kernel->run_pages ? PROT_EXEC : 0)));
        ASSEMBLE(code, MOV, REG(R10D), IMMEDIATE(MAP_SHARED | MAP_FIXED_NOREPLACE));
        ASSEMBLE(code, MOV, REG(R8), REG(R12));
        ASSEMBLE(code, MOV, REG(R9D),
                 IMMEDIATE((int64_t)HOST_PAGE * host_frame_of(kernel->pages[i])));
        put_call(code, SYS_mmap);
    }
}

/* `zeros`: where eight of them are, for the name of the memory. */
static void put_all_pages(struct assembler *code, const struct host_kernel *const *kernels,
                          size_t count, uint64_t zeros) {
    size_t pages = 0;
    for (size_t i = 0; i < count; i++)
        pages += kernels[i]->page_count;
    if (!pages)
        return;
    ASSEMBLE(code, MOV, REG(RDI), IMMEDIATE((int64_t)zeros));
    ASSEMBLE(code, XOR, REG(ESI), REG(ESI));
    put_call(code, SYS_memfd_create);
    ASSEMBLE(code, MOV, REG(R12), REG(RAX));
    ASSEMBLE(code, MOV, REG(RDI), REG(RAX));
    ASSEMBLE(code, MOV, REG(ESI), IMMEDIATE(HOST_FRAMES * HOST_PAGE));
    put_call(code, SYS_ftruncate);
    for (size_t i = 0; i < count; i++)
        put_pages(code, kernels[i]);
}

static void put_driver(struct assembler *code, const struct host_kernel *const *kernels,
                       size_t count, unsigned runs, struct label *labels) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t n = kernels[i]->iterations, warm = kernels[i]->warm;
        for (unsigned run = 0; run < runs; run++) {
            const uint64_t length = run ? n << (run % 2 == 0) : warm ? warm : n;
            ASSEMBLE(code, MOV, REG(RDI), IMMEDIATE((int64_t)length));
            assembler_branch(code, ZYDIS_MNEMONIC_CALL, &labels[i]);
        }
    }
    ASSEMBLE(code, XOR, REG(EDI), REG(EDI));
    put_call(code, SYS_exit_group);
}

static size_t code_bytes(const struct layout *layout, size_t count) {
    size_t bytes = 64 * GUEST_RUNS * count + HOST_PAGE;
    for (size_t i = 0; i < count; i++)
        bytes += round_up(layout->kernels[i]->code_size, HOST_PAGE) + 3 * (size_t)HOST_PAGE +
                 64 * layout->kernels[i]->page_count;
    return bytes;
}

static void put_code(struct assembler *code, const struct layout *layout, unsigned runs,
                     struct label *labels, uint64_t *driver_end) {
    put_all_pages(code, layout->kernels, layout->count, layout->written_at);
    put_driver(code, layout->kernels, layout->count, runs, labels);
    *driver_end = CODE_AT + code->size;
    for (size_t i = 0; i < layout->count; i++) {
        assembler_align(code, HOST_PAGE);
        assembler_bind(code, &labels[i]);
        host_wrap(code, layout->kernels[i], layout->written_at, layout->data[i],
                  layout->written_at + HOST_PAGE + HOST_STACK);
    }
}

/* ---- the file ---- */

static void put_headers(uint8_t *file, uint64_t code_size, const struct layout *layout) {
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_entry = CODE_AT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = SEGMENTS};
    const uint64_t written = layout->end - layout->written_at;
    const Elf64_Phdr segments[SEGMENTS] = {
        {PT_LOAD, PF_R | PF_X, HOST_PAGE, CODE_AT, CODE_AT, code_size, code_size, HOST_PAGE},
        {PT_LOAD, PF_R | PF_W, HOST_PAGE + layout->written_at - CODE_AT, layout->written_at,
         layout->written_at, written, written, HOST_PAGE}};
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, segments, sizeof segments);
}

static bool write_file(struct guest *guest, const struct assembler *code,
                       const struct layout *layout, struct error *error) {
    const uint64_t bytes = HOST_PAGE + layout->end - CODE_AT;
    guest->file = memfd_create("culprit-kernels", MFD_CLOEXEC);
    if (guest->file < 0 || ftruncate(guest->file, (off_t)bytes) || fchmod(guest->file, 0700))
        return error_errno(error, "cannot make a program of the kernels in memory");
    snprintf(guest->path, sizeof guest->path, "/proc/%ld/fd/%d", (long)getpid(), guest->file);
    uint8_t *file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, guest->file, 0);
    if (file == MAP_FAILED)
        return error_errno(error, "cannot make a program of the kernels in memory");
    put_headers(file, code->size, layout);
    memcpy(file + HOST_PAGE, code->code, code->size);
    for (size_t i = 0; i < layout->count; i++) {
        const struct host_data *data = layout->kernels[i]->data;
        if (data && !(i && data == layout->kernels[i - 1]->data))
            host_data_fill(data, file + HOST_PAGE + (layout->data[i] - CODE_AT), layout->data[i]);
    }
    munmap(file, bytes);
    return true;
}

bool guest_make(struct guest *guest, const struct host_kernel *const *kernels, size_t count,
                unsigned pairs, struct error *error) {
    struct assembler code = {0};
    struct layout layout = {.kernels = kernels, .data = calloc(count, sizeof *layout.data)};
    struct label *labels = calloc(count, sizeof *labels);
    *guest = (struct guest){.file = -1, .data = layout.data, .runs = 1 + 2 * pairs};
    bool good = layout.data && labels;
    if (good) {
        layout.written_at = CODE_AT + round_up(code_bytes(&layout, count), HOST_HUGE_PAGE);
        layout.end = layout.written_at + HOST_PAGE + HOST_STACK;
        place_data(&layout, count, layout.end);
        put_code(&code, &layout, guest->runs, labels, &guest->driver_end);
        guest->kernels = layout.count;
        good = assembler_finish(&code, error) && write_file(guest, &code, &layout, error);
    } else {
        error_set(error, "out of memory for a program of %zu kernels", count);
    }
    assembler_free(&code);
    free(labels);
    return good;
}

void guest_close(struct guest *guest) {
    if (guest->file >= 0)
        close(guest->file);
    free(guest->data);
}
