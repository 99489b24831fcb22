/* How long a program with threads would take if what cores were idle for were shared out evenly, as
 * reckoned from how many threads did what at the same time (thread_course.h): the time in which k
 * of n threads work while the others wait for them takes k/n as long when all n share that work,
 * if it can be divided and costs each as much. */
#pragma once

#include <stdint.h>

#include "simulate/thread_course.h"

/* Cycles saved if those who waited for this (COURSE_BARRIER, COURSE_EVENT) shared the work of those
 * who ran meanwhile; of so many cores. */
double course_balance_saves(const struct course_counts *counts, uint32_t cores,
                            enum course_activity activity);
/* Likewise if so many cores shared what fewer threads did when no more were there, or the others
 * waited for their end: serial parts. */
double course_spread_saves(const struct course_counts *counts, uint32_t cores);
