/* clock.h - clocks as nanoseconds in one number. */
#pragma once

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* CLOCK_MONOTONIC: for everything that is measured; no clock step moves it. */
uint64_t clock_monotonic_ns(void);

/* CLOCK_REALTIME: only to tell when something was. */
uint64_t clock_realtime_ns(void);

/* Any other clock. */
uint64_t clock_read_ns(clockid_t clock);

/* What rusage counts in. */
uint64_t clock_timeval_ns(struct timeval value);
