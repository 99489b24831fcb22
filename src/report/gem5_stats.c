/* The statistics of a run as gem5 prints them (gem5 documentation, "Understanding gem5 statistics
 * and output"): between two lines of dashes, on each line a name, its value, "#" and a description
 * with the unit in parentheses. A vector has "::" and the name of each element, and behind the
 * value its share and the sum of shares so far; its last line is its total. Names are gem5's where
 * it counts the same; what it does not count has a name in its manner. Threads are counted together
 * as system.cpu, and each by itself where there are several. */
#include <inttypes.h>
#include <math.h>

#include "attribute/component.h"
#include "report/run_format.h"

static const double TICKS_PER_SECOND = 1e12; /* gem5's default: a tick is a picosecond */

enum { NAME_WIDTH = 40, NAME_BYTES = 128 };

static void put_name(FILE *file, const char *name) {
    fprintf(file, "%-*s ", NAME_WIDTH, name);
}

static void put_end(FILE *file, const char *about, const char *unit) {
    fprintf(file, " # %s (%s)\n", about, unit);
}

static void put_count(FILE *file, const char *name, uint64_t value, const char *about,
                      const char *unit) {
    put_name(file, name);
    fprintf(file, "%12" PRIu64 "                      ", value);
    put_end(file, about, unit);
}

/* gem5 prints what has no value as nan. */
static void put_number(FILE *file, const char *name, double value, const char *about,
                       const char *unit) {
    put_name(file, name);
    if (isfinite(value))
        fprintf(file, "%12.6f                      ", value);
    else
        fprintf(file, "%12s                      ", "nan");
    put_end(file, about, unit);
}

static double ratio(double part, double whole) {
    return whole != 0 ? part / whole : NAN;
}

/* ---- the whole run ---- */

static uint64_t elapsed_cycles(const struct simulation *simulation) {
    return simulation->together.done ? simulation->together.cycles : simulation->cycles;
}

static void put_run(FILE *file, const struct report *report) {
    const struct simulation *simulation = report->simulation;
    const double clock = report->machine->clock_ghz * 1e9;
    const double seconds = (double)elapsed_cycles(simulation) / clock;
    const uint64_t ticks = (uint64_t)(seconds * TICKS_PER_SECOND + 0.5);
    put_number(file, "simSeconds", seconds, "Time simulated", "Second");
    put_count(file, "simTicks", ticks, "Ticks simulated", "Tick");
    put_count(file, "finalTick", ticks, "Ticks from the beginning to the end", "Tick");
    put_count(file, "simFreq", (uint64_t)TICKS_PER_SECOND, "Ticks of a simulated second",
              "(Tick/Second)");
    if (simulation->seconds > 0) {
        put_number(file, "hostSeconds", simulation->seconds, "Time that the simulation took",
                   "Second");
        put_count(file, "hostInstRate",
                  (uint64_t)((double)simulation->executed / simulation->seconds),
                  "Instructions of the run for each second of the simulation", "(Count/Second)");
    }
    put_count(file, "simInsts", simulation->instructions, "Instructions simulated, or estimated",
              "Count");
    put_count(file, "simOps", simulation->uops, "Micro-operations, likewise", "Count");
    put_number(file, "system.clk_domain.clock", TICKS_PER_SECOND / clock, "Ticks of a cycle",
               "Tick");
}

/* ---- the core ---- */

static void put_cycles(FILE *file, const struct report *report) {
    const struct simulation *simulation = report->simulation;
    const double cycles = (double)simulation->cycles, count = (double)simulation->instructions;
    put_count(file, "system.cpu.numCycles", simulation->cycles, "Cycles of all threads", "Cycle");
    put_number(file, "system.cpu.cpi", ratio(cycles, count), "Cycles per instruction",
               "(Cycle/Count)");
    put_number(file, "system.cpu.ipc", ratio(count, cycles), "Instructions per cycle",
               "(Count/Cycle)");
    put_count(file, "system.cpu.commitStats0.numInsts", simulation->instructions,
              "Instructions committed", "Count");
    put_count(file, "system.cpu.commitStats0.numOps", simulation->uops,
              "Micro-operations committed", "Count");
}

/* Shares of a vector are told to a hundredth of a percent, as gem5 does. */
static void put_element(FILE *file, const char *vector, const char *element, uint64_t value,
                        uint64_t total, uint64_t so_far, const char *about) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s::%s", vector, element);
    put_name(file, name);
    fprintf(file, "%12" PRIu64 " %9.2f%% %9.2f%%", value,
            total ? 100.0 * (double)value / (double)total : 0,
            total ? 100.0 * (double)so_far / (double)total : 0);
    put_end(file, about, "Cycle");
}

/* Whole cycles that sum to those of the run: what is left of each is carried to the next. */
static void put_stack(FILE *file, const struct report *report) {
    static const char VECTOR[] = "system.cpu.cycleStack";
    uint64_t units[COMPONENT_COUNT] = {0}, sum = 0, written = 0;
    for (uint64_t i = 0; i < report->simulation->cell_count; i++)
        units[component_of(report->simulation->cells[i].psv)] += report->simulation->cells[i].units;
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--) {
        sum += units[i];
        const uint64_t so_far = (sum + CYCLE_UNITS / 2) / CYCLE_UNITS;
        put_element(file, VECTOR, component_key(i), so_far - written, report->simulation->cycles,
                    so_far, component_description(i));
        written = so_far;
    }
    put_element(file, VECTOR, "total", written, report->simulation->cycles, written,
                "Cycles by the event that they were spent on");
}

static void put_states(FILE *file, const struct report *report) {
    static const char *const KEYS[STATE_COUNT] = {"computing", "stalled", "flushed", "drained"};
    static const char *const ABOUT[STATE_COUNT] = {
        "An instruction committed", "The oldest instruction was not complete",
        "The pipeline was empty after a flush", "The pipeline was empty, instructions came late"};
    uint64_t sum = 0;
    for (int i = 0; i < STATE_COUNT; i++) {
        const uint64_t cycles = report->simulation->states[i];
        sum += cycles;
        put_element(file, "system.cpu.commitState", KEYS[i], cycles, report->simulation->cycles,
                    sum, ABOUT[i]);
    }
    put_element(file, "system.cpu.commitState", "total", sum, report->simulation->cycles, sum,
                "Cycles by what commit did");
}

static void put_events(FILE *file, const struct core_statistics *counted) {
    put_count(file, "system.cpu.commitStats0.numLoadInsts", counted->loads, "Loads", "Count");
    put_count(file, "system.cpu.commitStats0.numStoreInsts", counted->stores, "Stores", "Count");
    put_count(file, "system.cpu.lsq0.forwLoads", counted->forwarded,
              "Loads that got their data from an older store", "Count");
    put_count(file, "system.cpu.lsq0.memOrderViolation", counted->ordering_violations,
              "Loads that were executed too early", "Count");
    put_count(file, "system.cpu.commit.flushes", counted->flushes,
              "Flushes by other than branches and loads", "Count");
    put_count(file, "system.cpu.workload.numSyscalls", counted->system_calls, "System calls",
              "Count");
}

static void put_branches(FILE *file, const struct branch_statistics *branch) {
    put_count(file, "system.cpu.branchPred.lookups",
              branch->conditional + branch->indirect + branch->returns + branch->direct, "Branches",
              "Count");
    put_count(file, "system.cpu.branchPred.condPredicted", branch->conditional,
              "Conditional branches", "Count");
    put_count(file, "system.cpu.branchPred.condIncorrect", branch->conditional_wrong,
              "Conditional branches mispredicted", "Count");
    put_count(file, "system.cpu.branchPred.indirectLookups", branch->indirect,
              "Indirect branches, without returns", "Count");
    put_count(file, "system.cpu.branchPred.indirectMispredicted", branch->indirect_wrong,
              "Indirect branches mispredicted", "Count");
    put_count(file, "system.cpu.branchPred.ras.used", branch->returns, "Returns", "Count");
    put_count(file, "system.cpu.branchPred.ras.incorrect", branch->returns_wrong,
              "Returns mispredicted", "Count");
    put_count(file, "system.cpu.branchPred.lateTargets", branch->late,
              "Targets that the branch target buffer did not have", "Count");
}

/* ---- memory ---- */

static void put_of(FILE *file, const char *object, const char *key, uint64_t value,
                   const char *about) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", object, key);
    put_count(file, name, value, about, "Count");
}

/* An access hits that neither starts a fill nor waits for one that is under way. */
static void put_cache(FILE *file, const char *object, const struct cache_statistics *cache) {
    const uint64_t without = cache->misses + cache->pending_hits;
    char name[NAME_BYTES];
    put_of(file, object, "overallAccesses::total", cache->accesses, "Accesses");
    put_of(file, object, "overallHits::total",
           cache->accesses > without ? cache->accesses - without : 0,
           "Accesses that found the line");
    put_of(file, object, "overallMisses::total", cache->misses, "Accesses that started a fill");
    snprintf(name, sizeof name, "%s.overallMissRate::total", object);
    put_number(file, name, ratio((double)cache->misses, (double)cache->accesses),
               "Misses of all accesses", "Ratio");
    put_of(file, object, "overallMshrHits::total", cache->pending_hits,
           "Accesses to a line that was on its way");
    put_of(file, object, "mshrWaits", cache->mshr_waits,
           "Accesses that waited for a miss register");
    put_of(file, object, "writebacks::total", cache->writebacks, "Changed lines that left");
    put_of(file, object, "prefetcher.pfIssued", cache->prefetches, "Prefetches started");
    put_of(file, object, "prefetcher.pfUseful", cache->useful_prefetches,
           "Prefetched lines that were used");
}

static void put_memory(FILE *file, const struct report *report) {
    const struct memory_statistics *memory = &report->simulation->counted.memory;
    put_cache(file, "system.cpu.icache", &memory->l1i);
    put_cache(file, "system.cpu.dcache", &memory->l1d);
    if (report->machine->l2.present)
        put_cache(file, "system.l2", &memory->l2);
    if (report->machine->llc.present)
        put_cache(file, "system.l3", &memory->llc);
    put_of(file, "system.cpu.mmu.itb", "accesses", memory->itlb_accesses, "Translations of code");
    put_of(file, "system.cpu.mmu.itb", "misses", memory->itlb_misses,
           "Translations that the first level lacked");
    put_of(file, "system.cpu.mmu.dtb", "accesses", memory->dtlb_accesses, "Translations of data");
    put_of(file, "system.cpu.mmu.dtb", "misses", memory->dtlb_misses,
           "Translations that the first level lacked");
    put_count(file, "system.cpu.mmu.dtb.waitCycles", memory->dtlb_wait_cycles,
              "Cycles that accesses waited for translations, each by itself", "Cycle");
    put_of(file, "system.cpu.mmu", "walks", memory->page_walks, "Page walks");
    put_of(file, "system.mem_ctrl", "readReqs", memory->dram_reads, "Lines read");
    put_of(file, "system.mem_ctrl", "writeReqs", memory->dram_writes, "Lines written");
    put_of(file, "system.mem_ctrl.dram", "rowHits", memory->dram_row_hits,
           "Requests that found their row open");
}

/* ---- threads ---- */

static void put_thread(FILE *file, uint32_t number, const struct simulation_thread *thread) {
    char object[NAME_BYTES / 2], name[NAME_BYTES];
    const double cycles = (double)thread->cycles, count = (double)thread->instructions;
    snprintf(object, sizeof object, "system.cpu%" PRIu32, number);
    snprintf(name, sizeof name, "%s.numCycles", object);
    put_count(file, name, thread->cycles, "Cycles of this thread", "Cycle");
    put_of(file, object, "commitStats0.numInsts", thread->instructions, "Instructions committed");
    snprintf(name, sizeof name, "%s.ipc", object);
    put_number(file, name, ratio(count, cycles), "Instructions per cycle", "(Count/Cycle)");
}

static void put_threads(FILE *file, const struct simulation *simulation) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < simulation->thread_count; i++)
        count += simulation->threads[i].instructions > 0;
    for (uint32_t i = 0; count > 1 && i < simulation->thread_count; i++)
        if (simulation->threads[i].instructions)
            put_thread(file, i, &simulation->threads[i]);
}

bool gem5_stats_write(const struct run_record *run, FILE *file, struct error *error) {
    const struct report *report = run->report;
    fputs("\n---------- Begin Simulation Statistics ----------\n", file);
    put_run(file, report);
    put_cycles(file, report);
    put_stack(file, report);
    put_states(file, report);
    put_events(file, &report->simulation->counted);
    put_branches(file, &report->simulation->counted.branch);
    put_memory(file, report);
    put_threads(file, report->simulation);
    fputs("\n---------- End Simulation Statistics   ----------\n", file);
    return !ferror(file) || error_errno(error, "writing the statistics");
}
