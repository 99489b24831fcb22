/* Which function and line of Python a thread runs, exactly: CPython writes to its frame which
 * instruction it executes, for each one (3.11 to 3.13), and to the state of its thread which frame
 * is the innermost. A new frame may be told of there before it is filled in: it counts from the
 * first instruction on that it is said to execute, and that its code has. The thread and the frame
 * are the arguments of the interpreter's loop; from then on stores to three addresses are watched
 * (python_may_move(), with each access of the program).
 *
 * What is told are marks, when the line or the frame is another: of the innermost frame, and of
 * those further out at the first mark of each chunk, so that every chunk can be understood by
 * itself. Code objects are read once, and known by what they refer to besides their address. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "program/python_function.h"
#include "util/array.h"
#include "util/little_endian.h"
#include "util/order.h"

enum {
    FUNCTION_SLOTS = 1 << 18, /* a power of 2, more than PYTHON_FUNCTION_MAX */
    FRAMES_MAX = 1 << 16,     /* of a thread */
    C_FRAMES_MAX = 4          /* in a row, of the interpreter's own */
};

bool python_runs;
static struct python_image image; /* in addresses of the guest */

/* A code object, as it was read. */
struct function {
    uint64_t code, identity;
    uint64_t begin;  /* address of its first instruction */
    uint64_t units;  /* of 2 bytes */
    uint32_t number; /* as in marks; 0: not told */
    struct python_function of;
};

struct frame {
    uint64_t address;
    const struct function *function; /* NULL: not known */
    uint32_t line;
    bool begins;
};

THREAD_LOCAL struct python_watch python_watch;
static THREAD_LOCAL struct python_thread {
    uint64_t state; /* address of the thread's state; 0: it has run no Python */
    struct frame *frames;
    size_t count, capacity;
    uint64_t coming; /* address of the innermost frame, which is not of `frames` yet; 0: it is */
    bool entered;    /* the loop was entered, and the innermost _PyCFrame is still the one before */
    uint32_t first_unit, end_unit; /* of the innermost frame's code: where it is on its line */
    uint64_t ticket;               /* thread_ticket() of the chunk that all frames were told in */
    uint32_t phase;                /* plugin.phase in which frames were last looked at */
} self;

/* ---- the guest's memory ---- */

static bool read_guest(void *context, uint64_t address, void *bytes, size_t size) {
    (void)context;
    return guest_read_again(address, bytes, size);
}

static uint64_t read_word(uint64_t address) {
    uint64_t word;
    return guest_read_again(address, &word, sizeof word) ? word : 0;
}

/* What has just been stored there. */
static uint64_t stored_at(uint64_t address) {
    return *(volatile const uint64_t *)(uintptr_t)(plugin.guest_base + address);
}

static uint64_t store_event(uint64_t address) {
    return event_access(true, 0, 0, address);
}

/* ---- functions ---- */

static struct function *functions[FUNCTION_SLOTS];
static uint32_t function_count, function_number;
static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell_function(struct function *function) {
    const size_t name = strlen(function->of.name) + 1, path = strlen(function->of.path) + 1;
    char *text = function_number < PYTHON_FUNCTION_MAX ? malloc(name + path) : NULL;
    if (!text)
        return;
    memcpy(text, function->of.name, name);
    memcpy(text + name, function->of.path, path);
    function->number = ++function_number;
    const struct ring_python_function record = {.record.kind = RING_PYTHON,
                                                .function = function->number,
                                                .first_line = function->of.first_line};
    process_put((struct ring_record *)(uintptr_t)&record.record, sizeof record, text, name + path);
    free(text);
}

static struct function *read_function(uint64_t code, uint64_t identity) {
    const struct python_memory memory = {read_guest, NULL};
    struct python_function of;
    if (!python_function_read(&memory, &image, 0, code, identity, &of))
        return NULL;
    struct function *function = malloc(sizeof *function);
    if (!function) {
        python_function_free(&of);
        return NULL;
    }
    /* Of all objects of variable size that is at the same place. */
    *function = (struct function){.code = code,
                                  .identity = identity,
                                  .begin = code + image.layout.code_instructions,
                                  .units = read_word(code + image.layout.bytes_size),
                                  .of = of};
    return function;
}

/* NULL: it is none, or there are too many. */
static const struct function *find_function(uint64_t code) {
    uint64_t names[2];
    if (!guest_read_again(code + image.layout.code_qualname, names, sizeof names))
        return NULL;
    const uint64_t identity = python_identity(names[0], names[1]);
    uint32_t slot = (uint32_t)((code ^ identity) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    struct function *found = NULL;
    pthread_mutex_lock(&functions_lock);
    for (slot %= FUNCTION_SLOTS; !found && functions[slot]; slot = (slot + 1) % FUNCTION_SLOTS)
        if (functions[slot]->code == code && functions[slot]->identity == identity)
            found = functions[slot];
    if (!found && function_count < PYTHON_FUNCTION_MAX)
        found = functions[slot] = read_function(code, identity);
    function_count += found && !found->number;
    if (found && !found->number)
        tell_function(found);
    pthread_mutex_unlock(&functions_lock);
    return found && found->number ? found : NULL;
}

/* ---- lines ---- */

/* Moves a frame to the line of an instruction; code of no line belongs to the line before. False:
 * it is the same line. */
static bool move_line(struct frame *frame, uint64_t instruction) {
    const struct function *function = frame->function;
    const uint32_t before = frame->line;
    self.first_unit = self.end_unit = 0;
    if (!function)
        return false;
    const struct python_lines *lines = &function->of.lines;
    const uint64_t unit = (instruction - function->begin) / 2;
    const size_t behind = unit < function->units
                              ? first_where(i, lines->count, lines->items[i].unit > unit)
                              : 0; /* it has executed nothing yet */
    const uint32_t line = behind ? lines->items[behind - 1].line : 0;
    if (behind) {
        self.first_unit = lines->items[behind - 1].unit;
        self.end_unit = behind < lines->count ? lines->items[behind].unit : UINT32_MAX;
    }
    if (line)
        frame->line = line;
    else if (!frame->line)
        frame->line = function->of.first_line;
    return frame->line != before;
}

/* ---- marks ---- */

static bool put(enum event_mark kind, uint32_t index, size_t depth) {
    const struct frame *frame = depth ? &self.frames[depth - 1] : NULL;
    if (frame && frame->function && !frame->function->number)
        find_function(frame->function->code); /* after a fork */
    const uint32_t line = frame && frame->function ? frame->line : 0;
    return thread_tell_python(
        kind, python_mark_payload((struct python_mark){
                  .index = index,
                  .begins = frame && frame->begins,
                  .depth = depth < PYTHON_DEPTH_MAX ? (uint32_t)depth : PYTHON_DEPTH_MAX,
                  .function = frame && frame->function ? frame->function->number : 0,
                  .line = line <= PYTHON_LINE_MAX ? line : 0}));
}

/* Tells of the innermost frame, and of those outside of it from the one at index `from` on. */
static void tell(uint32_t index, size_t from) {
    const uint64_t ticket = thread_ticket();
    if (!ticket)
        return;
    if (self.ticket != ticket)
        from = 0;
    bool told = true;
    for (size_t i = from; told && i + 1 < self.count && i < PYTHON_DEPTH_MAX; i++)
        told = put(MARK_PYTHON_FRAME, index, i + 1);
    told = told && put(MARK_PYTHON, index, self.count);
    self.ticket = told ? ticket : 0;
}

/* ---- frames ---- */

/* Watches the innermost frame, and puts it on its line. */
static void settle(void) {
    self.first_unit = self.end_unit = 0;
    python_watch.instruction = 0;
    if (!self.count)
        return;
    struct frame *top = &self.frames[self.count - 1];
    const uint64_t at = top->address + image.layout.frame_instruction;
    python_watch.instruction = store_event(at);
    move_line(top, read_word(at));
}

static bool push(struct frame frame) {
    return self.count < FRAMES_MAX && array_push(self.frames, self.capacity, self.count, frame);
}

/* The frame at `address`, or the one further out if that is the interpreter's own; the one outside
 * of it: *previous. False: there is none. */
static bool read_frame(uint64_t address, struct frame *frame, uint64_t *previous) {
    const struct python_layout *layout = &image.layout;
    uint8_t bytes[PYTHON_FRAME_BYTES];
    bool begins = false;
    for (int i = 0; i < C_FRAMES_MAX && address && guest_read_again(address, bytes, sizeof bytes);
         i++) {
        *previous = get_u64(bytes + layout->frame_previous);
        if (bytes[layout->frame_owner] != PYTHON_OWNED_BY_C) {
            begins |= layout->frame_entry && bytes[layout->frame_entry];
            *frame = (struct frame){address, find_function(get_u64(bytes + layout->frame_code)), 0,
                                    begins};
            return true;
        }
        address = *previous;
    }
    return false;
}

static bool is_owned_by_c(uint64_t address) {
    uint8_t owner = 0;
    return address && guest_read_again(address + image.layout.frame_owner, &owner, 1) &&
           owner == PYTHON_OWNED_BY_C;
}

/* All frames, from the innermost on. */
static void read_all(uint64_t address) {
    struct frame frame;
    uint64_t previous;
    self.count = 0;
    while (read_frame(address, &frame, &previous)) {
        frame.begins |= !image.layout.frame_entry && is_owned_by_c(previous);
        if (!push(frame))
            break;
        move_line(&self.frames[self.count - 1],
                  read_word(frame.address + image.layout.frame_instruction));
        address = previous;
    }
    for (size_t i = 0, j = self.count; i + 1 < j; i++) {
        const struct frame outer = self.frames[--j];
        self.frames[j] = self.frames[i];
        self.frames[i] = outer;
    }
    self.ticket = 0;
}

/* The frame that was to come has executed an instruction, unless it is not filled in yet. */
static void take_coming(uint32_t index) {
    struct frame frame = {0};
    uint64_t previous = 0;
    if (!read_frame(self.coming, &frame, &previous) || !frame.function)
        return;
    const uint64_t at = read_word(frame.address + image.layout.frame_instruction);
    size_t kept = self.count;
    while (kept && self.frames[kept - 1].address != frame.address)
        kept--;
    if (!kept && at - frame.function->begin >= 2 * frame.function->units)
        return;
    const size_t count = self.count;
    self.coming = 0;
    if (kept)
        self.count = kept;
    else if (!count || previous == self.frames[count - 1].address)
        push(frame);
    else
        read_all(frame.address);
    settle();
    tell(index, count);
}

/* `address` is the innermost frame now. */
static void change_frame(uint64_t address, uint32_t index) {
    const size_t count = self.count;
    size_t kept = count;
    while (address && kept && self.frames[kept - 1].address != address)
        kept--;
    self.coming = 0;
    if (!address || kept) {
        self.count = address ? kept : 0;
        settle();
        if (self.count != count)
            tell(index, count);
        return;
    }
    self.coming = address;
    python_watch.instruction = store_event(address + image.layout.frame_instruction);
}

/* The frame that the thread's state tells of; sets what is watched. */
static uint64_t innermost(void) {
    const struct python_layout *layout = &image.layout;
    const uint64_t at = self.state + layout->thread_frame;
    if (!layout->has_c_frames) {
        python_watch.frame = store_event(at);
        return read_word(at);
    }
    const uint64_t c_frame = read_word(at);
    python_watch.c_frame = store_event(at);
    python_watch.frame = store_event(c_frame + layout->c_frame_frame);
    return read_word(c_frame + layout->c_frame_frame);
}

void python_moved(uint64_t event) {
    const int saved = errno;
    const uint64_t address = event_address(event), place = store_event(address);
    const uint32_t index = event_index(event);
    if (place == python_watch.instruction && self.coming) {
        take_coming(index);
    } else if (place == python_watch.instruction && self.count) {
        struct frame *top = &self.frames[self.count - 1];
        const uint64_t instruction = stored_at(address);
        const uint64_t unit = top->function ? (instruction - top->function->begin) / 2 : UINT64_MAX;
        if ((unit < self.first_unit || unit >= self.end_unit) && move_line(top, instruction))
            tell(index, self.count);
    } else if (place == python_watch.frame) {
        change_frame(stored_at(address), index);
    } else if (place == python_watch.c_frame) {
        const uint64_t frame = innermost();
        if (!self.entered)
            change_frame(frame, index);
        self.entered = false;
    }
    errno = saved;
}

/* What was executed before this phase was not watched. */
static void catch_up(void) {
    const uint32_t phase = atomic_load(&plugin.phase);
    if (self.phase == phase)
        return;
    self.phase = phase;
    self.coming = 0;
    read_all(innermost());
    settle();
}

void python_chunk_begun(void) {
    if (self.state)
        catch_up();
}

/* ---- the loop ---- */

static void enter(uint64_t address) {
    catch_up();
    innermost();
    const size_t count = self.count;
    const uint64_t code = read_word(address + image.layout.frame_code);
    if (!push((struct frame){address, find_function(code), 0, true}))
        return;
    self.coming = 0;
    settle();
    tell(0, count);
}

/* Its arguments, as the ABI passes them: where generated code keeps the registers, see
 * plugin_signal.c. */
static __attribute__((used)) void on_loop(unsigned vcpu, void *userdata,
                                          const uint64_t *registers) {
    enum { RSI = 6, RDI = 7 };
    const int saved = errno;
    (void)vcpu, (void)userdata;
    self.state = registers[RDI];
    self.entered = image.layout.has_c_frames;
    if (ring_activity(atomic_load(&plugin.phase)) == RING_CAPTURE)
        enter(registers[RSI]);
    errno = saved;
}

/* Called by generated code: passes its %rbp on. */
#ifdef __x86_64__
void loop_entered(unsigned vcpu, void *userdata);
__asm__(".text\n"
        ".type loop_entered, @function\n"
        "loop_entered:\n"
        "    mov %rbp, %rdx\n"
        "    jmp on_loop\n"
        ".size loop_entered, . - loop_entered\n");
#endif

static uint64_t loop; /* address; 0: not found */

void python_found(const struct ring_python *python) {
#ifdef __x86_64__
    if (!python->loop)
        return;
    image = (struct python_image){.known = true,
                                  .code_type = python->code_type,
                                  .text_type = python->text_type,
                                  .bytes_type = python->bytes_type,
                                  .layout = python->layout};
    loop = python->loop;
    python_runs = true;
#else
    (void)python;
#endif
}

void python_instrument(struct qemu_plugin_tb *tb) {
    if (plugin.counting || !plugin.addresses ||
        ring_activity(atomic_load(&plugin.phase)) == RING_DONE)
        return;
    code_look(tb);
#ifdef __x86_64__
    if (loop && qemu_plugin_tb_vaddr(tb) == loop)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, loop_entered, QEMU_PLUGIN_CB_R_REGS, NULL);
#endif
}

void python_thread_ended(void) {
    free(self.frames);
    self = (struct python_thread){0};
    python_watch = (struct python_watch){0};
}

/* The child tells of functions anew. */
void python_forked(void) {
    pthread_mutex_init(&functions_lock, NULL);
    for (size_t i = 0; i < FUNCTION_SLOTS && function_number; i++)
        if (functions[i])
            functions[i]->number = 0;
    function_number = 0;
    self.ticket = 0;
}
