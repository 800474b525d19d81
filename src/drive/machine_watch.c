/* machine_watch.c - see machine_watch.h.
 *
 * The files stay open and are read anew at offset 0: 6 us and 2 us a reading (2 CPUs), outside of
 * the time that is measured.  Only the first line of each is needed. */
#include "machine_watch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "drive/spawner.h"

struct machine_watch {
	int stat, pressure; /* -1: the kernel has no such file */
	uint64_t tick_ns;
	uint64_t steal_ticks, pressure_us;
	bool has_steal, has_pressure;
};

struct machine_watch *machine_watch_open(void)
{
	struct machine_watch *watch = mem_new(1, sizeof(*watch));
	long ticks = sysconf(_SC_CLK_TCK);

	watch->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	watch->pressure = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
	watch->tick_ns = 1000000000 / (uint64_t)(ticks > 0 ? ticks : 100);
	return watch;
}

/* The beginning of a file, terminated; false when it cannot be read. */
static bool head_read(int fd, char *text, size_t room)
{
	ssize_t got = fd < 0 ? -1 : pread(fd, text, room - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* The number at `text`, by hand: sscanf() would make the spawner 300 KiB larger. */
static bool number_read(const char *text, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	*ret_value = value;
	return true;
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..." */
static bool steal_read(int fd, uint64_t *ret_ticks)
{
	char text[256];
	const char *at = text;

	if (!head_read(fd, text, sizeof(text)))
		return false;
	for (unsigned field = 0; field < 8 && *at; field++) {
		while (*at && *at != ' ' && *at != '\n')
			at++;
		while (*at == ' ')
			at++;
	}
	return number_read(at, ret_ticks);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" */
static bool pressure_read(int fd, uint64_t *ret_us)
{
	char text[256];
	const char *total = head_read(fd, text, sizeof(text)) ? strstr(text, "total=") : NULL;

	return total && number_read(total + strlen("total="), ret_us);
}

void machine_watch_begin(struct machine_watch *watch)
{
	watch->has_steal = steal_read(watch->stat, &watch->steal_ticks);
	watch->has_pressure = pressure_read(watch->pressure, &watch->pressure_us);
}

/* Both counters only grow; one that went back (a CPU was taken away) tells nothing. */
void machine_watch_end(struct machine_watch *watch, struct spawner_result *result)
{
	uint64_t ticks = 0, us = 0;

	result->has_steal =
		watch->has_steal && steal_read(watch->stat, &ticks) && ticks >= watch->steal_ticks;
	result->has_pressure = watch->has_pressure && pressure_read(watch->pressure, &us) &&
			       us >= watch->pressure_us;
	if (result->has_steal)
		result->steal_ns = (ticks - watch->steal_ticks) * watch->tick_ns;
	if (result->has_pressure)
		result->pressure_ns = (us - watch->pressure_us) * 1000;
}
