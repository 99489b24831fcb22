#include "host/meter.h"

#include <stdio.h>

bool host_meter_admits(const struct host_meter *meter, const struct host_kernel *kernel,
                       struct host_result *result) {
    struct error error;
    const uint32_t missing = kernel->features & ~meter->features;
    *result = (struct host_result){.state = HOST_NOT_RUN};
    if (missing) {
        result->state = HOST_UNSUPPORTED;
        snprintf(result->failure, sizeof result->failure, "the processor has no %s",
                 host_feature_name(missing));
    } else if (!host_kernel_check(kernel, &error)) {
        result->state = HOST_FAILED;
        snprintf(result->failure, sizeof result->failure, "%.119s", error.message);
    }
    return result->state == HOST_NOT_RUN;
}
