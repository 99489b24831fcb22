/* Cycles of misses by data object, by example. */
#include "attribute/call_paths.h"
#include "call_script.h"
#include "tap_script.h"

enum { VARIABLE = 0x2000, VARIABLE_BYTES = 0x40, DATA_BYTES = 0x100, BIAS = 0x1000, SLOT = 0xff8 };
enum { FIRST_BLOCK = 0x5000, SECOND_BLOCK = 0x6000, MAPPING = 0x8000 };

static bool locate_data(void *context, const struct code_image *image, uint64_t linked,
                        struct memory_object *object) {
    (void)context, (void)image;
    const bool variable = linked - VARIABLE < VARIABLE_BYTES;
    object->kind = variable ? OBJECT_SYMBOL : OBJECT_SECTION;
    object->name = variable ? "table" : ".data";
    object->start = VARIABLE;
    object->size = variable ? VARIABLE_BYTES : DATA_BYTES;
    return linked - VARIABLE < DATA_BYTES;
}

static bool linked_at(void *context, const struct code_image *image, uint64_t offset,
                      uint64_t *address, uint64_t *low, uint64_t *high) {
    (void)context, (void)image;
    *address = offset;
    *low = VARIABLE;
    *high = VARIABLE + DATA_BYTES;
    return true;
}

static const struct object_names NAMES = {locate_data, linked_at, NULL};
static const struct code_mapping WHERE = {.address = BIAS};

static void access_at(struct call_script *script, uint64_t offset, uint64_t address) {
    step(script, offset, BRANCH_NONE, 0, address);
    script->accesses[script->access_count - 1].is_store = false;
}

/* main calls the allocator from two places, and then loads. */
static void write_program(struct call_script *script) {
    script_begin(script, ISA_X86_64);
    script->code.mappings = (struct code_mapping *)&WHERE;
    script->code.mapping_count = 1;
    plain(script, at('m', 0));
    call(script, at('m', 4), SLOT);
    plain(script, at('a', 0));
    back(script, at('a', 4), SLOT); /* 4 instructions: the first block */
    call(script, at('m', 8), SLOT);
    plain(script, at('a', 0));
    back(script, at('a', 4), SLOT); /* 7: the second */
    access_at(script, at('m', 12), FIRST_BLOCK + 16);
    access_at(script, at('m', 16), SECOND_BLOCK);
    access_at(script, at('m', 20), FIRST_BLOCK + 32); /* behind it */
    access_at(script, at('m', 24), VARIABLE + BIAS + 8);
    access_at(script, at('m', 28), SLOT - 8); /* 12: the first block is freed */
    access_at(script, at('m', 32), FIRST_BLOCK + 16);
    plain(script, at('m', 36));
    access_at(script, at('m', 40), VARIABLE + BIAS + VARIABLE_BYTES);
}

static struct trace_memory EVENTS[] = {
    {.position = 1, .address = 0, .size = 0x1000, .kind = MEMORY_STACK},
    {.position = 4, .address = FIRST_BLOCK, .size = 32, .kind = MEMORY_ALLOCATED},
    {.position = 7, .address = SECOND_BLOCK, .size = 16, .kind = MEMORY_ALLOCATED},
    {.position = 12, .address = FIRST_BLOCK, .kind = MEMORY_FREED}};
enum { EVENT_COUNT = sizeof EVENTS / sizeof *EVENTS };

static struct trace_batch piece_of(const struct call_script *script, uint32_t first,
                                   uint32_t count) {
    struct trace_batch piece = script_piece(script, first, count);
    uint32_t from = 0, to;
    while (from < EVENT_COUNT && EVENTS[from].position <= first)
        from++;
    for (to = from; to < EVENT_COUNT && EVENTS[to].position <= first + count;)
        to++;
    piece.memory = EVENTS + from;
    piece.memory_count = to - from;
    return piece;
}

/* Cycles that each instruction takes, and its events: it alone commits in the last of them. */
static const struct {
    uint32_t cycles, psv;
} COSTS[] = {{1, 0},         {1, 0},          {1, 0},
             {1, 0},         {1, 0},          {1, 0},
             {1, 0},         {3, PSV_ST_L1},  {5, PSV_ST_L1 | PSV_ST_LLC},
             {2, PSV_ST_L1}, {4, PSV_ST_TLB}, {1, PSV_ST_FW},
             {6, PSV_ST_L1}, {2, PSV_DR_L1},  {7, PSV_ST_L1 | PSV_DR_L1}};

static void write_cycles(const struct call_script *program, struct tap_script *script) {
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < program->step_count; i++) {
        cycle += COSTS[i].cycles;
        script_record(
            script, TAP_COMMIT, cycle, TAP_DRAINED, 0,
            UOPS(tap_uop(program->steps[i].insn, COSTS[i].psv, TAP_UOP_LAST | TAP_UOP_LOAD)));
    }
}

/* Units of all cells of objects that are like this one. */
static uint64_t units_of(const struct data_result *result, enum object_kind kind, uint32_t psv,
                         uint32_t site, const struct call_path_result *paths) {
    uint64_t units = 0;
    for (size_t i = 0; i < result->cell_count; i++) {
        const struct memory_object *object = &result->objects[result->cells[i].object];
        if (object->kind == kind && result->cells[i].psv == psv &&
            (site == PATH_NONE || paths->paths[object->path].site == site))
            units += result->cells[i].units;
    }
    return units;
}

static void attribute(uint32_t size) {
    struct error error;
    struct call_script program;
    struct data_result data;
    struct call_path_result result;
    struct tap_script *script = tap_script_new();
    struct call_paths *paths =
        call_paths_new(&(struct path_extents){.locate = script_locate}, NULL);
    struct data_profile *profile = data_profile_new(&NAMES);
    struct call_lane *lane = call_lane_new(paths, 0);
    struct data_lane *data_lane = data_lane_new(profile, 0, 0);
    call_lane_watch_data(lane, data_lane);
    write_program(&program);
    for (uint32_t i = 0; i < program.step_count; i += size) {
        const uint32_t left = program.step_count - i;
        const struct trace_batch batch = piece_of(&program, i, left < size ? left : size);
        assert_true(call_lane_see(lane, &program.code, &batch, true, &error));
    }
    write_cycles(&program, script);
    const struct tap_worker worker = data_lane_worker(data_lane);
    assert_true(worker.consume(worker.context, &script->buffer, &error));
    assert_true(call_paths_collect(paths, 2));
    assert_true(data_profile_collect(profile, 2));
    call_lane_free(lane);
    data_lane_free(data_lane);
    assert_true(data_profile_finish(profile, &program.code, &data));
    assert_true(call_paths_finish(paths, &program.code, &result, &data));

    const uint32_t unit = 2 * CYCLE_UNITS, all = PATH_NONE;
    const uint32_t first = program.steps[1].insn, second = program.steps[4].insn;
    assert_true(data.told);
    assert_int_equal(units_of(&data, OBJECT_HEAP, PSV_ST_L1, first, &result), 3 * unit);
    assert_int_equal(units_of(&data, OBJECT_HEAP, PSV_ST_L1 | PSV_ST_LLC, second, &result),
                     5 * unit);
    assert_int_equal(units_of(&data, OBJECT_UNKNOWN, PSV_ST_L1, all, &result), (2 + 6) * unit);
    assert_int_equal(units_of(&data, OBJECT_SYMBOL, PSV_ST_TLB, all, &result), 4 * unit);
    assert_int_equal(units_of(&data, OBJECT_STACK, PSV_ST_FW, all, &result), unit);
    assert_int_equal(units_of(&data, OBJECT_CODE, PSV_DR_L1, all, &result), 2 * unit);
    assert_int_equal(units_of(&data, OBJECT_SECTION, PSV_ST_L1 | PSV_DR_L1, all, &result),
                     7 * unit);
    assert_int_equal(data.cell_count, 7);
    data_result_free(&data);
    call_path_result_free(&result);
    call_paths_free(paths);
    data_profile_free(profile);
    tap_script_free(script);
}

static void every_miss_to_its_object(void **state) {
    (void)state;
    attribute(1);
    attribute(3);
    attribute(SCRIPT_INSNS);
}

/* ---- the map alone ---- */

struct map {
    struct call_script script;
    struct path_tree tree;
    struct path_functions functions;
    struct shadow_stack stack;
    struct memory_objects *objects;
    struct memory_view view;
};

static bool ignore(void *context, uint64_t position, uint32_t node) {
    (void)context, (void)position, (void)node;
    return true;
}

static void map_begin(struct map *map) {
    memset(map, 0, sizeof *map);
    script_begin(&map->script, ISA_X86_64);
    map->functions.extents = (struct path_extents){.locate = script_locate};
    map->objects = memory_objects_new(&NAMES);
    assert_non_null(map->objects);
    assert_true(shadow_stack_init(&map->stack, &map->tree, &map->functions, 0, ignore, NULL));
    map->view.stack = &map->stack;
}

static void map_end(struct map *map) {
    memory_objects_free(map->objects);
    shadow_stack_free(&map->stack);
    path_tree_free(&map->tree);
    path_functions_free(&map->functions);
}

static void note(struct map *map, enum trace_memory_kind kind, uint64_t address, uint64_t size,
                 uint32_t image) {
    const struct trace_memory event = {
        .address = address, .size = size, .image = image, .kind = kind};
    assert_true(memory_objects_note(map->objects, &map->view, &event));
}

static uint32_t object_at(struct map *map, uint64_t address) {
    assert_true(memory_objects_stand(map->objects, &map->view));
    const uint32_t object = memory_objects_at(map->objects, &map->view, &map->script.code, address);
    assert_int_not_equal(object, UINT32_MAX);
    return object;
}

static uint8_t kind_at(struct map *map, uint64_t address) {
    return memory_object_at(map->objects, object_at(map, address))->kind;
}

/* Mappings take the place of those before; a file's keeps its ends when its middle goes. */
static void mappings(void **state) {
    (void)state;
    struct map map;
    map_begin(&map);
    note(&map, MEMORY_MAPPED, MAPPING, 0x3000, 0);
    assert_int_equal(kind_at(&map, MAPPING + 0x1800), OBJECT_MAPPED);
    note(&map, MEMORY_MAPPED, MAPPING + 0x1000, 0x1000, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING + 0x800), OBJECT_MAPPED);
    assert_int_equal(kind_at(&map, MAPPING + 0x1800), OBJECT_ANONYMOUS);
    assert_int_equal(kind_at(&map, MAPPING + 0x2800), OBJECT_MAPPED);
    note(&map, MEMORY_UNMAPPED, MAPPING + 0x800, 0x2000, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING + 0x7ff), OBJECT_MAPPED);
    assert_int_equal(kind_at(&map, MAPPING + 0x1800), OBJECT_UNKNOWN);
    assert_int_equal(kind_at(&map, MAPPING + 0x2800), OBJECT_MAPPED);
    assert_int_equal(kind_at(&map, MAPPING + 0x3000), OBJECT_UNKNOWN);
    map_end(&map);
}

/* The heap grows and shrinks; what is in it, and not allocated, is the allocator's. */
static void the_heap(void **state) {
    (void)state;
    struct map map;
    map_begin(&map);
    note(&map, MEMORY_BREAK, MAPPING, 0x1000, UINT32_MAX);
    note(&map, MEMORY_ALLOCATED, MAPPING + 0x10, 24, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING + 8), OBJECT_ALLOCATOR);
    assert_int_equal(kind_at(&map, MAPPING + 0x20), OBJECT_HEAP);
    assert_int_equal(kind_at(&map, MAPPING + 0x28), OBJECT_ALLOCATOR);
    note(&map, MEMORY_BREAK, MAPPING, 0x2000, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING + 0x1800), OBJECT_ALLOCATOR);
    note(&map, MEMORY_BREAK, MAPPING, 0, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING + 0x1800), OBJECT_UNKNOWN);
    note(&map, MEMORY_FREED, MAPPING + 0x10, 0, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING + 0x20), OBJECT_UNKNOWN);
    map_end(&map);
}

/* What an allocating routine, called by m, and what it calls, f, do to the heap they do for the
 * block that m gets. */
static void in_the_allocator(void **state) {
    (void)state;
    enum { CALL_SLOT = SLOT };
    struct map map;
    map_begin(&map);
    note(&map, MEMORY_BREAK, MAPPING, 0x1000, UINT32_MAX);
    plain(&map.script, at('m', 0));
    call(&map.script, at('m', 4), CALL_SLOT);
    plain(&map.script, at('a', 0));
    call(&map.script, at('a', 4), CALL_SLOT - 16);
    plain(&map.script, at('f', 0));
    back(&map.script, at('f', 4), CALL_SLOT - 16);
    back(&map.script, at('a', 8), CALL_SLOT);
    plain(&map.script, at('m', 8));
    uint32_t objects[8];
    for (uint32_t i = 0; i < 8; i++) {
        const struct trace_batch one = script_piece(&map.script, i, 1);
        assert_true(shadow_stack_walk(&map.stack, &map.script.code, &one, true));
        if (i == 6)
            note(&map, MEMORY_ALLOCATED, MAPPING + 0x10, 24, UINT32_MAX);
        objects[i] = object_at(&map, MAPPING + 0x40);
    }
    const uint32_t block = object_at(&map, MAPPING + 0x10);
    assert_int_equal(memory_object_at(map.objects, block)->kind, OBJECT_HEAP);
    for (uint32_t i = 2; i < 7; i++)
        assert_int_equal(objects[i], block);
    assert_int_equal(memory_object_at(map.objects, objects[0])->kind, OBJECT_ALLOCATOR);
    assert_int_equal(objects[7], objects[0]);
    map_end(&map);
}

/* What is mapped for a stack is one; of other mappings, in which a stack may be one of many things,
 * what lies beside its calls. */
static void stacks_among_others(void **state) {
    (void)state;
    enum { BYTES = 0x10000, FAR = 0x3000, CALL_SLOT = MAPPING + 0x8000 };
    struct map map;
    map_begin(&map);
    call(&map.script, at('m', 0), CALL_SLOT);
    plain(&map.script, at('f', 0));
    const struct trace_batch batch = script_piece(&map.script, 0, 2);
    note(&map, MEMORY_MAPPED, MAPPING, BYTES, UINT32_MAX);
    assert_true(shadow_stack_walk(&map.stack, &map.script.code, &batch, true));
    assert_int_equal(kind_at(&map, CALL_SLOT - FAR), OBJECT_ANONYMOUS);
    assert_int_equal(kind_at(&map, CALL_SLOT - 0x800), OBJECT_STACK);
    assert_int_equal(kind_at(&map, CALL_SLOT + 0x800), OBJECT_STACK);
    assert_int_equal(kind_at(&map, CALL_SLOT + FAR), OBJECT_ANONYMOUS);
    note(&map, MEMORY_STACK, MAPPING, BYTES, UINT32_MAX);
    map.view = (struct memory_view){.stack = &map.stack};
    assert_int_equal(kind_at(&map, CALL_SLOT - FAR), OBJECT_STACK);
    assert_int_equal(kind_at(&map, CALL_SLOT + FAR), OBJECT_STACK);
    map_end(&map);
}

/* A child begins with what its parent has, and goes its own way. */
static void forks(void **state) {
    (void)state;
    struct map map;
    map_begin(&map);
    note(&map, MEMORY_ALLOCATED, MAPPING, 64, UINT32_MAX);
    assert_true(memory_objects_fork(map.objects, 1, 0));
    note(&map, MEMORY_FREED, MAPPING, 0, UINT32_MAX);
    assert_int_equal(kind_at(&map, MAPPING), OBJECT_UNKNOWN);
    map.view.process = 1;
    assert_int_equal(kind_at(&map, MAPPING), OBJECT_HEAP);
    map.view.process = 2;
    assert_int_equal(kind_at(&map, MAPPING), OBJECT_UNKNOWN);
    map_end(&map);
}

/* Events that no program could cause hurt nobody. */
static void hostile_events(void **state) {
    (void)state;
    struct map map;
    map_begin(&map);
    for (int kind = 1; kind < TRACE_MEMORY_KINDS; kind++)
        for (int shift = 0; shift < 64; shift += 7) {
            note(&map, (enum trace_memory_kind)kind, UINT64_MAX << shift, UINT64_MAX >> shift,
                 UINT32_MAX);
            note(&map, (enum trace_memory_kind)kind, UINT64_C(1) << shift, UINT64_C(3) << shift,
                 UINT32_MAX);
            (void)kind_at(&map, UINT64_C(1) << shift);
            (void)kind_at(&map, UINT64_MAX << shift);
        }
    map_end(&map);
}

/* Stores to the variable, a block and the section behind the variable, of a queue with two entries:
 * the third waits 9 cycles for the first, the fourth 4 for the second. A load in between takes no
 * entry, and the first two find one. */
static void full_store_queue(void **state) {
    (void)state;
    static const struct trace_memory BLOCK = {
        .address = FIRST_BLOCK, .size = 32, .kind = MEMORY_ALLOCATED};
    struct error error;
    struct call_script program;
    struct data_result data;
    struct call_path_result result;
    struct tap_script *script = tap_script_new();
    struct call_paths *paths =
        call_paths_new(&(struct path_extents){.locate = script_locate}, NULL);
    struct data_profile *profile = data_profile_new(&NAMES);
    struct call_lane *lane = call_lane_new(paths, 0);
    struct data_lane *data_lane = data_lane_new(profile, 0, 2);
    call_lane_watch_data(lane, data_lane);
    script_begin(&program, ISA_X86_64);
    program.code.mappings = (struct code_mapping *)&WHERE;
    program.code.mapping_count = 1;
    plain(&program, at('m', 0)); /* the block is there behind it */
    static const uint64_t TO[] = {VARIABLE + BIAS, FIRST_BLOCK, VARIABLE + BIAS + 8,
                                  VARIABLE + BIAS + VARIABLE_BYTES,
                                  VARIABLE + BIAS + VARIABLE_BYTES};
    for (uint32_t i = 0; i < 5; i++) {
        access_at(&program, at('m', 4 + 4 * i), TO[i]);
        program.accesses[program.access_count - 1].is_store = i != 2;
    }
    struct trace_batch piece = script_piece(&program, 0, program.step_count);
    struct trace_memory event = BLOCK;
    event.position = 1;
    piece.memory = &event;
    piece.memory_count = 1;
    assert_true(call_lane_see(lane, &program.code, &piece, true, &error));
    static const uint32_t CYCLES[] = {1, 2, 3, 4, 9, 4};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < program.step_count; i++) {
        cycle += CYCLES[i];
        const uint32_t access = i == 0 ? 0 : i == 3 ? TAP_UOP_LOAD : TAP_UOP_STORE;
        script_record(
            script, TAP_COMMIT, cycle, TAP_DRAINED, 0,
            UOPS(tap_uop(program.steps[i].insn, i >= 4 ? PSV_DR_SQ : 0, TAP_UOP_LAST | access)));
    }
    const struct tap_worker worker = data_lane_worker(data_lane);
    assert_true(worker.consume(worker.context, &script->buffer, &error));
    assert_true(call_paths_collect(paths, 1) && data_profile_collect(profile, 1));
    call_lane_free(lane);
    data_lane_free(data_lane);
    assert_true(data_profile_finish(profile, &program.code, &data));
    assert_true(call_paths_finish(paths, &program.code, &result, &data));
    assert_int_equal(units_of(&data, OBJECT_SYMBOL, PSV_DR_SQ, PATH_NONE, &result),
                     9 * CYCLE_UNITS);
    assert_int_equal(units_of(&data, OBJECT_HEAP, PSV_DR_SQ, PATH_NONE, &result), 4 * CYCLE_UNITS);
    assert_int_equal(data.cell_count, 2);
    data_result_free(&data);
    call_path_result_free(&result);
    data_profile_free(profile);
    call_paths_free(paths);
    tap_script_free(script);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(full_store_queue),
                                       cmocka_unit_test(every_miss_to_its_object),
                                       cmocka_unit_test(mappings),
                                       cmocka_unit_test(the_heap),
                                       cmocka_unit_test(in_the_allocator),
                                       cmocka_unit_test(stacks_among_others),
                                       cmocka_unit_test(forks),
                                       cmocka_unit_test(hostile_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
