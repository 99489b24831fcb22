/* The probe tells of a stack of Python before the sample that it is of, which may stand some
 * records further in the ring: until then it is pending. Code objects are read once, and known by
 * what they refer to besides their address, which may be given to another. */
#include "live/python_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "live/python_code.h"
#include "live/python_weave.h"
#include "util/array.h"
#include "util/file_name.h"
#include "util/hash_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    FILES_MAX = 1 << 12,
    CODES_MAX = 1 << 16,       /* of a process */
    CODE_BYTES_MAX = 64 << 20, /* of all */
    PENDING_MAX = 1 << 10
};

/* A file that an interpreter was looked for in. */
struct python_file {
    struct live_file_key key;
    bool found;
    struct python_image image;
    uint64_t delta; /* of its code: address as linked less offset in the file */
};

struct known_code {
    uint64_t address, identity;
    bool read;
    struct python_code code;
};

struct python_user {
    uint32_t pid;
    uint32_t file; /* index; UINT32_MAX: it has ended */
    uint64_t bias;
    struct known_code **codes;
    size_t count, capacity;
    struct hash_index index; /* of codes, by address and identity */
};

struct pending {
    uint32_t tid; /* 0: free */
    struct python_stack stack;
};

struct python_frames {
    struct live_roots roots;
    struct sample_probe *probe;
    struct python_file *files;
    size_t file_count, file_capacity;
    struct python_user *users;
    size_t user_count, user_capacity;
    struct hash_index index; /* of users, by pid */
    struct pending **pending;
    size_t pending_count, pending_capacity;
    size_t code_bytes;
    struct python_statistics statistics;
    char note[512];
};

struct python_frames *python_frames_new(const struct live_roots *roots,
                                        struct sample_probe *probe) {
    struct python_frames *frames = calloc(1, sizeof *frames);
    if (!frames)
        return NULL;
    frames->roots = *roots;
    frames->probe = probe;
    return frames;
}

static void forget_codes(struct python_frames *frames, struct python_user *user) {
    for (size_t i = 0; i < user->count; i++) {
        if (user->codes[i]->read)
            frames->code_bytes -= python_code_bytes(&user->codes[i]->code);
        python_code_free(&user->codes[i]->code);
        free(user->codes[i]);
    }
    frames->code_bytes -= user->count * sizeof **user->codes;
    free(user->codes);
    hash_index_free(&user->index);
    user->codes = NULL;
    user->count = user->capacity = 0;
}

void python_frames_free(struct python_frames *frames) {
    if (!frames)
        return;
    for (size_t i = 0; i < frames->user_count; i++)
        forget_codes(frames, &frames->users[i]);
    array_free_each(frames->pending, frames->pending_count);
    free(frames->users);
    free(frames->files);
    hash_index_free(&frames->index);
    free(frames);
}

/* ---- files ---- */

static void say_unknown(struct python_frames *frames, const struct live_file *file,
                        const struct python_image *image) {
    if (frames->note[0])
        return;
    python_image_say_unknown(image, file->path, frames->note, sizeof frames->note);
}

static void read_image(struct python_frames *frames, const struct live_file *file,
                       struct python_file *read) {
    char root[PROC_ROOT_BYTES], path[64];
    struct elf_image elf = {0};
    struct error not_elf;
    struct build_id id = {.size = file->build_id_size};
    int descriptor;
    memcpy(id.bytes, file->build_id, file->build_id_size);
    if (!proc_find_file(&frames->roots, file->seen_in, file->path, &file->key, &id, root,
                        &descriptor))
        descriptor = proc_open_mapped(&frames->roots, file->seen_in, file->path, &file->key, &id);
    if (descriptor < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    read->found = elf_image_open(&elf, path, &not_elf) && python_image_read(&elf, &read->image);
    close(descriptor);
    const size_t code =
        index_where(i, read->found ? elf.segment_count : 0, elf.segments[i].executable);
    if (read->found && code < elf.segment_count)
        read->delta = elf.segments[code].address - elf.segments[code].file_offset;
    if (read->found && !read->image.known)
        say_unknown(frames, file, &read->image);
    elf_image_close(&elf);
}

/* The index of a file with an interpreter that is known; UINT32_MAX: it is none. */
static bool find_file(struct python_frames *frames, const struct live_file *file, uint32_t *index) {
    const struct live_file_key *key = &file->key;
    *index = UINT32_MAX;
    if (!python_may_be_in(file->path))
        return true;
    const size_t at = index_where(i, frames->file_count,
                                  frames->files[i].key.inode == key->inode &&
                                      frames->files[i].key.device == key->device &&
                                      frames->files[i].key.generation == key->generation);
    if (at == frames->file_count) {
        struct python_file read = {.key = *key};
        if (at == FILES_MAX)
            return true;
        if (!array_room(frames->files, frames->file_capacity, at + 1))
            return false;
        read_image(frames, file, &read);
        frames->files[frames->file_count++] = read;
    }
    if (frames->files[at].found && frames->files[at].image.known)
        *index = (uint32_t)at;
    return true;
}

/* ---- processes ---- */

static struct python_user *find_user(const struct python_frames *frames, uint32_t pid) {
    size_t at;
    for (uint32_t i = hash_index_first(&frames->index, hash_number(pid), &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&frames->index, hash_number(pid), &at))
        if (frames->users[i].pid == pid)
            return &frames->users[i];
    return NULL;
}

/* Entries of processes that have ended are used again, those of the same number first. */
static struct python_user *new_user(struct python_frames *frames, uint32_t pid) {
    struct python_user *user = find_user(frames, pid);
    if (user)
        return user;
    if (!array_room(frames->users, frames->user_capacity, frames->user_count + 1) ||
        !hash_index_add(&frames->index, hash_number(pid), (uint32_t)frames->user_count))
        return NULL;
    user = &frames->users[frames->user_count++];
    *user = (struct python_user){.pid = pid, .file = UINT32_MAX};
    return user;
}

/* Once most have ended. What is still wanted of one is read again. False: out of memory. */
static bool tidy(struct python_frames *frames) {
    enum { MANY = 256 };
    struct hash_index index = {0};
    size_t kept = 0;
    const size_t ended =
        sum_over(size_t, i, frames->user_count, frames->users[i].file == UINT32_MAX);
    if (frames->user_count < MANY || ended < frames->user_count / 2)
        return true;
    if (!hash_index_reserve(&index, frames->user_count))
        return false;
    for (size_t i = 0; i < frames->user_count; i++)
        if (frames->users[i].file != UINT32_MAX) {
            hash_index_add(&index, hash_number(frames->users[i].pid), (uint32_t)kept);
            frames->users[kept++] = frames->users[i];
        }
    hash_index_free(&frames->index);
    frames->index = index;
    frames->user_count = kept;
    return true;
}

static bool follow(struct python_frames *frames, uint32_t pid, uint32_t file, uint64_t bias) {
    struct python_user *user = tidy(frames) ? new_user(frames, pid) : NULL;
    if (!user)
        return false;
    if (user->file == file && user->bias == bias)
        return true;
    forget_codes(frames, user);
    user->file = file;
    user->bias = bias;
    const struct python_image *image = &frames->files[file].image;
    const struct python_process process = {.runtime = image->runtime + bias,
                                           .layout = image->layout};
    if (!frames->probe && !frames->note[0])
        snprintf(frames->note, sizeof frames->note,
                 "Python's functions are not shown: reading them at the moment of a sample needs "
                 "CAP_BPF and CAP_PERFMON, or root");
    if (frames->probe && !sample_probe_follow(frames->probe, pid, &process) && !frames->note[0])
        snprintf(frames->note, sizeof frames->note,
                 "the functions of some Python processes are not shown: there are more than %d",
                 PYTHON_PROCESSES_MAX);
    return true;
}

bool python_frames_mapped(struct python_frames *frames, uint32_t pid, const struct live_file *file,
                          uint64_t start, uint64_t offset) {
    uint32_t index;
    if (!find_file(frames, file, &index))
        return false;
    return index == UINT32_MAX ||
           follow(frames, pid, index, start - offset - frames->files[index].delta);
}

bool python_frames_forked(struct python_frames *frames, uint32_t parent, uint32_t child) {
    python_frames_ended(frames, child);
    const struct python_user *user = find_user(frames, parent);
    return !user || user->file == UINT32_MAX || follow(frames, child, user->file, user->bias);
}

void python_frames_ended(struct python_frames *frames, uint32_t pid) {
    struct python_user *user = find_user(frames, pid);
    if (!user || user->file == UINT32_MAX)
        return;
    forget_codes(frames, user);
    user->file = UINT32_MAX;
    if (frames->probe)
        sample_probe_forget(frames->probe, pid);
}

/* ---- code objects ---- */

/* Memory as it was copied when the code object was first met, or else as it is now. */
struct code_memory {
    uint32_t pid;
    const struct python_copy *copy; /* NULL: none */
};

static bool read_copy(const struct python_copy *copy, uint64_t address, void *bytes, size_t size) {
    for (size_t i = 0; i < PYTHON_PARTS; i++) {
        const struct python_part *part = &copy->parts[i];
        const uint64_t from = address - part->address;
        if (from < part->size && size <= part->size - from)
            return memcpy(bytes, copy->bytes + part->offset + from, size);
    }
    return false;
}

static bool read_process(void *context, uint64_t address, void *bytes, size_t size) {
    const struct code_memory *memory = context;
    const struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
    return !size || (memory->copy && read_copy(memory->copy, address, bytes, size)) ||
           process_vm_readv((pid_t)memory->pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

static struct known_code *find_code(const struct python_user *user, uint64_t address,
                                    uint64_t identity) {
    const uint64_t hash = hash_pair(address, identity);
    size_t at;
    for (uint32_t i = hash_index_first(&user->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&user->index, hash, &at))
        if (user->codes[i]->address == address && user->codes[i]->identity == identity)
            return user->codes[i];
    return NULL;
}

/* NULL: out of memory. */
static const struct known_code *code_of(struct python_frames *frames, struct python_user *user,
                                        uint64_t address, uint64_t identity,
                                        const struct python_copy *copy) {
    struct known_code *code = find_code(user, address, identity);
    if (code)
        return code;
    if (!array_room(user->codes, user->capacity, user->count + 1) ||
        !hash_index_reserve(&user->index, user->count + 1) || !(code = calloc(1, sizeof *code)))
        return NULL;
    *code = (struct known_code){.address = address, .identity = identity};
    struct code_memory read = {user->pid, copy};
    const struct python_memory memory = {read_process, &read};
    code->read = python_code_read(&memory, &frames->files[user->file].image, user->bias, address,
                                  identity, &code->code);
    frames->code_bytes += sizeof *code + (code->read ? python_code_bytes(&code->code) : 0);
    hash_index_add(&user->index, hash_pair(address, identity), (uint32_t)user->count);
    user->codes[user->count++] = code;
    return code;
}

/* Between samples: what is bounded begins anew. */
static void bound_codes(struct python_frames *frames, struct python_user *user) {
    if (user->count > CODES_MAX)
        forget_codes(frames, user);
    if (frames->code_bytes > CODE_BYTES_MAX)
        for (size_t i = 0; i < frames->user_count; i++)
            forget_codes(frames, &frames->users[i]);
}

/* ---- stacks ---- */

static void take_copy(struct python_frames *frames, uint32_t pid, const uint8_t *written,
                      size_t size) {
    enum { HEAD = offsetof(struct python_copy, bytes) };
    struct python_user *user = find_user(frames, pid);
    struct python_copy copy;
    if (!user || user->file == UINT32_MAX || size < HEAD)
        return;
    const size_t held = (size < sizeof copy ? size : sizeof copy) - HEAD;
    memcpy(&copy, written, HEAD + held);
    for (size_t i = 0; i < PYTHON_PARTS; i++)
        if (copy.parts[i].offset > held || copy.parts[i].size > held - copy.parts[i].offset)
            copy.parts[i].size = 0;
    bound_codes(frames, user);
    code_of(frames, user, copy.code, copy.identity, &copy);
}

static void take_stack(struct python_frames *frames, uint32_t tid, const uint8_t *written,
                       size_t size) {
    enum { HEAD = offsetof(struct python_stack, items) };
    size_t at = index_where(i, frames->pending_count, frames->pending[i]->tid == tid);
    if (at == frames->pending_count)
        at = index_where(i, frames->pending_count, !frames->pending[i]->tid);
    if (at == PENDING_MAX)
        at = 0;
    if (at == frames->pending_count) {
        struct pending *added = calloc(1, sizeof *added);
        if (!added ||
            !array_push(frames->pending, frames->pending_capacity, frames->pending_count, added)) {
            free(added);
            return;
        }
    }
    struct python_stack *stack = &frames->pending[at]->stack;
    frames->pending[at]->tid = tid;
    if (size > sizeof *stack)
        size = sizeof *stack;
    memcpy(stack, written, size);
    if (size < HEAD || stack->count > (size - HEAD) / sizeof *stack->items)
        stack->count = 0;
}

bool python_frames_take(struct python_frames *frames, uint32_t pid, uint32_t tid,
                        const uint8_t *written, size_t size) {
    uint32_t mark;
    if (size < sizeof mark)
        return false;
    memcpy(&mark, written, sizeof mark);
    if (mark == PYTHON_COPY_MARK)
        take_copy(frames, pid, written, size);
    else if (mark == PYTHON_STACK_MARK)
        take_stack(frames, tid, written, size);
    else
        return false;
    return true;
}

/* The stack of this thread's sample; NULL: there is none. */
static struct python_stack *take_pending(struct python_frames *frames, uint32_t tid) {
    const size_t at = index_where(i, frames->pending_count, frames->pending[i]->tid == tid);
    if (at == frames->pending_count)
        return NULL;
    frames->pending[at]->tid = 0;
    return &frames->pending[at]->stack;
}

struct finding {
    struct python_frames *frames;
    struct python_user *user;
};

static bool find_frame(void *context, const struct python_item *item, struct live_frame *frame) {
    const struct finding *finding = context;
    const struct known_code *code =
        code_of(finding->frames, finding->user, item->code, item->identity, NULL);
    if (!code)
        return false;
    *frame = (struct live_frame){.place = PLACE_CODE};
    if (code->read) {
        frame->code = code->code.code;
        frame->offset = python_code_place(&code->code, item->instruction);
    }
    return true;
}

bool python_frames_weave(struct python_frames *frames, uint32_t pid, uint32_t tid,
                         struct live_stack *stack, uint64_t *alike) {
    struct finding finding = {frames, find_user(frames, pid)};
    const struct python_stack *python = take_pending(frames, tid);
    bool lacking = false;
    if (!finding.user || finding.user->file == UINT32_MAX)
        return true;
    frames->statistics.samples++;
    if (!python)
        return true;
    bound_codes(frames, finding.user);
    if (!python_weave(python, find_frame, &finding, stack, &lacking))
        return false;
    if (lacking)
        *alike = 0;
    else if (*alike)
        *alike =
            XXH3_64bits_withSeed(&python->flags,
                                 sizeof *python - offsetof(struct python_stack, flags) -
                                     sizeof python->items + python->count * sizeof *python->items,
                                 *alike);
    const bool whole = stack->end == LIVE_STACK_WHOLE && !lacking;
    frames->statistics.whole += whole;
    frames->statistics.partial += !whole;
    return true;
}

void python_frames_statistics(const struct python_frames *frames,
                              struct python_statistics *statistics) {
    *statistics = frames->statistics;
}

const char *python_frames_note(const struct python_frames *frames) {
    return frames->note[0] ? frames->note : NULL;
}

size_t python_frames_bytes(const struct python_frames *frames) {
    return frames->code_bytes + frames->user_capacity * sizeof *frames->users +
           frames->file_capacity * sizeof *frames->files +
           frames->pending_count * sizeof **frames->pending + hash_index_bytes(&frames->index);
}
