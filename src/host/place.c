#include "host/place.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/child.h"

static void *at(uint64_t address) {
    return (void *)(uintptr_t)address;
}

static bool map(uint64_t address, size_t bytes, int protection) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return mmap(at(address), bytes, protection, flags, -1, 0) == at(address);
}

static size_t whole_pages(size_t bytes) {
    return (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
}

bool place_init(struct place *place) {
    const size_t all = HOST_END_AT - HOST_CODE_AT;
    *place = (struct place){.shared = memfd_create("culprit-page", MFD_CLOEXEC)};
    void *got = mmap(at(HOST_CODE_AT), all, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != at(HOST_CODE_AT)) {
        if (got != MAP_FAILED)
            munmap(got, all);
        return false;
    }
    place->context =
        mmap(NULL, HOST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place->context != MAP_FAILED && place->shared >= 0 &&
           !ftruncate(place->shared, HOST_FRAMES * HOST_PAGE) &&
           map(HOST_STACK_AT - HOST_STACK, HOST_STACK, PROT_READ | PROT_WRITE);
}

static bool place_data(struct place *place, const struct host_data *data) {
    if (data == place->data)
        return true;
    if (place->data && !map(HOST_DATA_AT, place->data_bytes, PROT_NONE))
        return false;
    place->data = NULL;
    place->data_bytes = 0;
    if (!data)
        return true;
    place->data_bytes = whole_pages(data->size);
    if (!map(HOST_DATA_AT, place->data_bytes, PROT_READ | PROT_WRITE))
        return false;
    madvise(at(HOST_DATA_AT), place->data_bytes,
            data->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    place->data = data;
    host_data_fill(data, at(HOST_DATA_AT), HOST_DATA_AT);
    /* A page that was never written is not there: all of them are the page of zeros. */
    for (size_t page = 0; page < place->data_bytes && !data->untouched; page += HOST_PAGE)
        *(volatile uint8_t *)at(HOST_DATA_AT + page) = *(uint8_t *)at(HOST_DATA_AT + page);
    return true;
}

static bool place_pages(struct place *place, const struct host_kernel *kernel) {
    for (size_t i = 0; i < place->page_count; i++)
        munmap(at(place->pages[i]), HOST_PAGE);
    place->pages = kernel->pages;
    for (place->page_count = 0; place->page_count < kernel->page_count; place->page_count++) {
        const uint64_t page = kernel->pages[place->page_count];
        void *to = at(page);
        const int also = kernel->run_pages ? PROT_EXEC : 0;
        if (mmap(to, HOST_PAGE, PROT_READ | PROT_WRITE | also, MAP_SHARED | MAP_FIXED_NOREPLACE,
                 place->shared, host_frame_of(page) * (off_t)HOST_PAGE) != to)
            return false;
        memset(to, 0, HOST_PAGE);
    }
    return true;
}

bool place_kernel(struct place *place, const struct host_kernel *kernel,
                  void (**run)(uint64_t iterations)) {
    struct assembler code = {0};
    struct error error;
    host_wrap(&code, kernel, (uint64_t)(uintptr_t)place->context, HOST_DATA_AT, HOST_STACK_AT);
    bool good = assembler_finish(&code, &error) && place_data(place, kernel->data) &&
                place_pages(place, kernel);
    good = good && (!place->code_bytes || map(HOST_CODE_AT, place->code_bytes, PROT_NONE));
    place->code_bytes = whole_pages(code.size);
    good = good && map(HOST_CODE_AT, place->code_bytes, PROT_READ | PROT_WRITE);
    if (good)
        memcpy(at(HOST_CODE_AT), code.code, code.size);
    good = good && !mprotect(at(HOST_CODE_AT), place->code_bytes, PROT_READ | PROT_EXEC);
    *run = (void (*)(uint64_t))(uintptr_t)HOST_CODE_AT;
    assembler_free(&code);
    return good;
}
