/* clock.h - the two clocks as nanoseconds in one number. */
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC: for everything that is measured; no clock step moves it. */
uint64_t clock_monotonic_ns(void);

/* CLOCK_REALTIME: only to tell when something was. */
uint64_t clock_realtime_ns(void);
