/* clock.c - see clock.h. */
#include "base/clock.h"

#include <time.h>

enum { NS_PER_S = 1000000000 };

uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

uint64_t clock_timeval_ns(struct timeval value)
{
	return (uint64_t)value.tv_sec * NS_PER_S + (uint64_t)value.tv_usec * 1000;
}
