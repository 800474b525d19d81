/* machine_watch.c - see machine_watch.h.
 *
 * The files stay open and are read anew at offset 0: 6 us and 2 us a reading (2 CPUs), outside of
 * the time that is measured.  Only the first line of each is needed.  When one run follows another
 * at once, the reading after the first serves as the one before the second. */
#include "machine_watch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "drive/spawner.h"
#include "proc_text.h"

enum { STALE_NS = 100000 }; /* an older reading is taken anew */

struct machine_watch {
	int stat, pressure, throttle; /* -1: there is no such file */
	uint64_t tick_ns;
	uint64_t read_ns; /* when these were read */
	uint64_t steal_ticks, pressure_us, throttled;
	bool has_steal, has_pressure;
};

struct machine_watch *machine_watch_open(const char *throttle_path)
{
	struct machine_watch *watch = mem_new(1, sizeof(*watch));
	long ticks = sysconf(_SC_CLK_TCK);

	watch->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	watch->pressure = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
	watch->throttle = throttle_path ? open(throttle_path, O_RDONLY | O_CLOEXEC) : -1;
	watch->tick_ns = 1000000000 / (uint64_t)(ticks > 0 ? ticks : 100);
	return watch;
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..." */
static bool steal_read(int fd, uint64_t *ret_ticks)
{
	char text[256];
	const char *at = text;

	if (!proc_head_read(fd, text, sizeof(text)))
		return false;
	for (unsigned field = 0; field < 8 && *at; field++) {
		while (*at && *at != ' ' && *at != '\n')
			at++;
		while (*at == ' ')
			at++;
	}
	return proc_number_read(at, ret_ticks, NULL);
}

/* The number behind `name` in the first bytes of a file. */
static bool named_read(int fd, const char *name, uint64_t *ret_value)
{
	char text[256];
	const char *found = proc_head_read(fd, text, sizeof(text)) ? strstr(text, name) : NULL;

	return found && proc_number_read(found + strlen(name), ret_value, NULL);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" and "nr_throttled 12" */
static void all_read(struct machine_watch *watch)
{
	watch->has_steal = steal_read(watch->stat, &watch->steal_ticks);
	watch->has_pressure = named_read(watch->pressure, "total=", &watch->pressure_us);
	if (watch->throttle >= 0)
		(void)named_read(watch->throttle, "nr_throttled ", &watch->throttled);
	watch->read_ns = clock_monotonic_ns();
}

void machine_watch_begin(struct machine_watch *watch)
{
	if (clock_monotonic_ns() - watch->read_ns > STALE_NS)
		all_read(watch);
}

/* The counters only grow; one that went back (a CPU was taken away) tells nothing. */
void machine_watch_end(struct machine_watch *watch, struct spawner_result *result)
{
	const struct machine_watch before = *watch;

	all_read(watch);
	result->has_steal =
		before.has_steal && watch->has_steal && watch->steal_ticks >= before.steal_ticks;
	result->has_pressure = before.has_pressure && watch->has_pressure &&
			       watch->pressure_us >= before.pressure_us;
	if (result->has_steal)
		result->steal_ns = (watch->steal_ticks - before.steal_ticks) * watch->tick_ns;
	if (result->has_pressure)
		result->pressure_ns = (watch->pressure_us - before.pressure_us) * 1000;
	result->throttled = watch->throttled > before.throttled;
}
