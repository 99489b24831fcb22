/* What an interrupt that takes a sample costs on this machine, without a program in it: 1 to 2 us
 * on hardware, 5 to 12 where a hypervisor has a part in it. */
#pragma once

#include <stdbool.h>

/* Seconds, at least a microsecond; measured in a quarter of a second: a loop on this thread that is
 * interrupted by the kernel's timer, or by the counter of cycles, against the same loop that is
 * not. < 0: it cannot be measured. */
double interrupt_cost(bool timer);
