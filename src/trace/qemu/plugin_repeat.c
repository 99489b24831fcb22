/* What the kernel answers differently each time, or on each machine, is overwritten where a run is
 * to be the same: random numbers; and where all of it is (control->fixed), clocks, the processors
 * that the process may use, the names and the load of the machine.
 *
 * Time is what the guest has executed, a nanosecond an instruction, a microsecond each time that
 * it asks, and as long as it has slept. A process with several threads is left the kernel's clocks:
 * its threads wait for each other by these. Time begins in the past, so that an absolute time that
 * the guest waits for has come for the kernel, and a wait for it returns at once. */
#include "trace/qemu/plugin.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>

#include "isa/insn.h"
#include "util/random.h"

/* Numbers differ between the guest's instruction sets; −1: it has none. */
struct repeat_calls {
    int getrandom, read, readv, pread64;
    int clock_gettime, gettimeofday, nanosleep, clock_nanosleep;
    int sched_getaffinity, uname, sysinfo, getrusage, times, getcpu;
};
static const struct repeat_calls CALLS[ISA_COUNT] = {
    [ISA_X86_64] = {318, 0, 19, 17, 228, 96, 35, 230, 204, 63, 99, 98, 100, 309},
    [ISA_RISCV64] = {278, 63, 65, 67, 113, 169, 101, 115, 123, 160, 179, 165, 153, 168},
};

static const uint64_t SECOND = 1000000000;
enum {
    REAL_BEGIN = 946684800, /* 2000-01-01, UTC */
    EACH_ASKED = 1000,
    TICKS = 100 /* of times(), a second */
};

/* ---- random numbers ---- */

/* The guest gets this process's sequence (splitmix64), not the kernel's. */
static void overwrite_random(uint64_t address, uint64_t size) {
    static _Atomic uint64_t drawn;
    uint8_t *bytes = (uint8_t *)(uintptr_t)(address + plugin.guest_base);
    uint64_t word = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (i % 8 == 0)
            word =
                random_mix(plugin.control->seed + RANDOM_STEP * (atomic_fetch_add(&drawn, 1) + 1));
        bytes[i] = (uint8_t)(word >> i % 8 * 8);
    }
}

/* /dev/random and /dev/urandom, under whatever name. */
static bool is_random_device(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode) &&
           (status.st_rdev == makedev(1, 8) || status.st_rdev == makedev(1, 9));
}

/* What a read of a random device returned is in one buffer, or in several. */
static void overwrite_read(bool vector, const uint64_t *arguments, uint64_t size) {
    if (!is_random_device((int)arguments[0]))
        return;
    if (!vector) {
        overwrite_random(arguments[1], size);
        return;
    }
    const uint64_t *part = (const uint64_t *)(uintptr_t)(arguments[1] + plugin.guest_base);
    for (uint64_t i = 0; i < arguments[2] && size; i++, part += 2) {
        const uint64_t bytes = part[1] < size ? part[1] : size;
        overwrite_random(part[0], bytes);
        size -= bytes;
    }
}

static void repeat_random(const struct repeat_calls *calls, int64_t number,
                          const uint64_t *arguments, uint64_t result) {
    if (number == calls->getrandom)
        overwrite_random(arguments[0], result);
    else if (number == calls->read || number == calls->readv || number == calls->pread64)
        overwrite_read(number == calls->readv, arguments, result);
}

/* ---- time ---- */

static _Atomic uint64_t slept, asked; /* nanoseconds; times */

/* Nanoseconds since the process began. */
static uint64_t time_passed(void) {
    return thread_position() + atomic_fetch_add(&asked, 1) * EACH_ASKED + atomic_load(&slept);
}

static uint64_t clock_now(uint64_t clock) {
    const bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
                      clock == CLOCK_TAI || clock == CLOCK_REALTIME_ALARM;
    return time_passed() + (real ? REAL_BEGIN * SECOND : 0);
}

static void put_time(uint64_t address, uint64_t nanoseconds, uint64_t unit) {
    const int64_t time[2] = {(int64_t)(nanoseconds / SECOND),
                             (int64_t)(nanoseconds % SECOND / unit)};
    if (address)
        guest_write(address, time, sizeof time);
}

static void sleep_for(uint64_t request) {
    int64_t time[2];
    if (guest_read(request, time, sizeof time) && time[0] >= 0)
        atomic_fetch_add(&slept, (uint64_t)time[0] * SECOND + (uint64_t)time[1]);
}

/* Absolute, by a clock of clock_now(). */
static void sleep_until(uint64_t clock, uint64_t request) {
    int64_t time[2];
    if (!guest_read(request, time, sizeof time) || time[0] < 0)
        return;
    const uint64_t until = (uint64_t)time[0] * SECOND + (uint64_t)time[1], now = clock_now(clock);
    if (until > now && until - now < SECOND << 20)
        atomic_fetch_add(&slept, until - now);
}

static void repeat_time(const struct repeat_calls *calls, int64_t number,
                        const uint64_t *arguments) {
    if (number == calls->clock_gettime)
        put_time(arguments[1], clock_now(arguments[0]), 1);
    else if (number == calls->gettimeofday)
        put_time(arguments[0], clock_now(CLOCK_REALTIME), 1000);
    else if (number == calls->nanosleep)
        sleep_for(arguments[0]);
    else if (number == calls->clock_nanosleep && arguments[1] & TIMER_ABSTIME)
        sleep_until(arguments[0], arguments[2]);
    else if (number == calls->clock_nanosleep)
        sleep_for(arguments[2]);
}

/* The emulator calls this for the guest's time(), whose result is in a register, where the plugin
 * is loaded before all else (emulator.h). */
__attribute__((visibility("default"))) time_t time(time_t *timer) {
    struct timespec now;
    if (plugin.control && plugin.control->fixed && !plugin.threaded)
        now.tv_sec = (time_t)(clock_now(CLOCK_REALTIME) / SECOND);
    else
        clock_gettime(CLOCK_REALTIME, &now);
    if (timer)
        *timer = now.tv_sec;
    return now.tv_sec;
}

/* ---- the machine ---- */

static void overwrite_names(uint64_t address) {
    struct utsname names;
    if (!guest_read(address, &names, sizeof names))
        return;
    memset(names.nodename, 0, sizeof names.nodename);
    memset(names.release, 0, sizeof names.release);
    memset(names.version, 0, sizeof names.version);
    memset(names.domainname, 0, sizeof names.domainname);
    strcpy(names.nodename, "localhost");
    strcpy(names.release, "6.1.0");
    strcpy(names.version, "#1 SMP");
    strcpy(names.domainname, "(none)");
    guest_write(address, &names, sizeof names);
}

static void overwrite_load(uint64_t address) {
    enum { UNIT = 4096 };
    const struct sysinfo load = {.uptime = (long)(time_passed() / SECOND),
                                 .totalram = (8ul << 30) / UNIT,
                                 .freeram = (4ul << 30) / UNIT,
                                 .procs = 100,
                                 .mem_unit = UNIT};
    guest_write(address, &load, sizeof load);
}

/* One processor, as the guest's program would have to share. */
static void overwrite_processors(uint64_t address, uint64_t size) {
    uint8_t mask[128] = {1};
    guest_write(address, mask, size < sizeof mask ? size : sizeof mask);
}

static void repeat_machine(const struct repeat_calls *calls, int64_t number,
                           const uint64_t *arguments, uint64_t result) {
    static const uint32_t first[2] = {0, 0}; /* processor, node */
    if (number == calls->uname)
        overwrite_names(arguments[0]);
    else if (number == calls->sysinfo)
        overwrite_load(arguments[0]);
    else if (number == calls->sched_getaffinity)
        overwrite_processors(arguments[2], result);
    else if (number == calls->getcpu && arguments[0])
        guest_write(arguments[0], first, sizeof *first);
}

/* Times of the process: all of them its own. */
static void repeat_usage(const struct repeat_calls *calls, int64_t number,
                         const uint64_t *arguments) {
    if (number == calls->getrusage) {
        struct rusage usage = {0};
        const uint64_t now = time_passed();
        usage.ru_utime =
            (struct timeval){(time_t)(now / SECOND), (suseconds_t)(now % SECOND / 1000)};
        guest_write(arguments[1], &usage, sizeof usage);
    } else if (number == calls->times && arguments[0]) {
        const struct tms times = {.tms_utime = (clock_t)(time_passed() / (SECOND / TICKS))};
        guest_write(arguments[0], &times, sizeof times);
    }
}

void repeat_call(int64_t number, const uint64_t *arguments, uint64_t result) {
    const struct repeat_calls *calls = &CALLS[plugin.control->isa];
    repeat_random(calls, number, arguments, result);
    if (!plugin.control->fixed)
        return;
    repeat_machine(calls, number, arguments, result);
    if (plugin.threaded)
        return;
    repeat_time(calls, number, arguments);
    repeat_usage(calls, number, arguments);
}
