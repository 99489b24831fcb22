/* What CPUID takes (core.cpuid_cycles): it is serialising, so that one takes as long as another,
 * and the host of a virtual machine executes it, for which the processor leaves the program. A
 * program that is linked dynamically executes some thirty before its first line. */
#include "calibrate/parts.h"

enum { COPIES = 20 };

static void add_kernel(struct kernel_list *list) {
    const struct host_kernel kernel = {.iterations = 2};
    struct assembler *code = kernel_list_add(list, &kernel);
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < COPIES; i++)
        assembler_put(code, ZYDIS_MNEMONIC_CPUID, NULL, 0);
    host_loop_end(code, &loop);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct kernel_list list = {0};
    struct finding finding = {.key = "core.cpuid", .what = "CPUID", .unit = "cycles"};
    add_kernel(&list);
    const bool good = calibration_measure_fastest(calibration, &list, error);
    if (good && finding_rests_on(&finding, list.results, 1))
        finding.value = list.results[0].cycles / COPIES;
    if (good)
        calibration_found(calibration, &finding);
    kernel_list_free(&list);
    return good;
}

static const char *const KEYS[] = {"core.cpuid", NULL};
const struct calibrate_part calibrate_cpuid = {
    .name = "cpuid",
    .measures = "CPUID, which virtual machines leave to their hosts",
    .keys = KEYS,
    .run = run};
