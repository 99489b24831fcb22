/* Student's distribution, for intervals. */
#pragma once

/* Two-sided 95 % point for so many degrees of freedom, of which there need not be a whole number:
 * below 1 that of 1; from 3 on within 1 % (Abramowitz and Stegun 26.7.5), exact for 1 and 2, a
 * straight line from there to there. */
double student_t95(double degrees);
