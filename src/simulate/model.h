/* What simulates, as a number of its source: cycles of two builds of culprit can be compared where
 * this is the same. */
#pragma once

/* Eight hexadecimal digits. */
const char *simulation_model(void);
