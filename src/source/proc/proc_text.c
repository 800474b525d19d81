/* proc_text.c - see proc_text.h.
 *
 * Read ten times a second for each thread of somebody's program, so lines are looked for and
 * numbers read by hand, without a copy and without sscanf(). */
#include "source/proc_text.h"

#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* The number at *at, which goes on behind it; false: there is none, or it is too large. */
static bool number_take(const char **at, uint64_t *ret_value)
{
	const char *text = *at + strspn(*at, " \t");
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*at = text;
	*ret_value = value;
	return true;
}

/* What follows `name` where it stands at the start of a line; NULL: it does not. */
static const char *line_find(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (strncmp(text, name, len) != 0) {
		text = strchr(text, '\n');
		if (!text)
			return NULL;
		text++;
	}
	return text + len;
}

static uint64_t line_number(const char *text, const char *name)
{
	const char *found = line_find(text, name);
	uint64_t value;

	return found && number_take(&found, &value) ? value : UINT64_MAX;
}

static uint64_t line_kib(const char *text, const char *name)
{
	uint64_t value = line_number(text, name);

	return value > UINT64_MAX / 1024 ? UINT64_MAX : value * 1024;
}

bool proc_schedstat_parse(const char *text, struct proc_schedstat *ret_stat)
{
	struct proc_schedstat stat;

	if (!number_take(&text, &stat.on_cpu_ns) || !number_take(&text, &stat.runq_ns) ||
		!number_take(&text, &stat.slices))
		return false;
	*ret_stat = stat;
	return true;
}

uint64_t proc_list_count(const char *text)
{
	uint64_t count = 0, low, high;

	while (number_take(&text, &low)) {
		high = low;
		if (*text == '-' && (text++, !number_take(&text, &high)))
			return 0;
		if (high < low || high - low >= 1 << 20)
			return 0;
		count += high - low + 1;
		if (*text != ',')
			return *text && *text != '\n' ? 0 : count;
		text++;
	}
	return 0;
}

bool proc_status_parse(const char *text, struct proc_status *ret_status)
{
	const char *state = line_find(text, "State:"),
		   *cpus = line_find(text, "Cpus_allowed_list:");

	if (!state)
		return false;
	state += strspn(state, " \t");
	*ret_status = (struct proc_status){
		.state = *state,
		.voluntary = line_number(text, "voluntary_ctxt_switches:"),
		.involuntary = line_number(text, "nonvoluntary_ctxt_switches:"),
		.rss_bytes = line_kib(text, "VmRSS:"),
		.threads = line_number(text, "Threads:"),
		.cpus_allowed = cpus ? proc_list_count(cpus) : 0,
	};
	if (!ret_status->cpus_allowed)
		ret_status->cpus_allowed = UINT64_MAX;
	return true;
}

/* What a thread waits in, by the number of its system call. */
static const struct {
	long number;
	enum proc_wait wait;
} waits[] = {
	{SYS_fsync, PROC_WAIT_SYNC},
	{SYS_fdatasync, PROC_WAIT_SYNC},
	{SYS_msync, PROC_WAIT_SYNC},
	{SYS_sync_file_range, PROC_WAIT_SYNC},
	{SYS_recvfrom, PROC_WAIT_NETWORK},
	{SYS_recvmsg, PROC_WAIT_NETWORK},
	{SYS_sendto, PROC_WAIT_NETWORK},
	{SYS_sendmsg, PROC_WAIT_NETWORK},
	{SYS_accept, PROC_WAIT_NETWORK},
	{SYS_accept4, PROC_WAIT_NETWORK},
	{SYS_connect, PROC_WAIT_NETWORK},
	{SYS_epoll_pwait, PROC_WAIT_NETWORK},
	{SYS_ppoll, PROC_WAIT_NETWORK},
	{SYS_pselect6, PROC_WAIT_NETWORK},
#ifdef SYS_poll /* not on aarch64 */
	{SYS_poll, PROC_WAIT_NETWORK},
	{SYS_select, PROC_WAIT_NETWORK},
	{SYS_epoll_wait, PROC_WAIT_NETWORK},
#endif
	{SYS_read, PROC_WAIT_TRANSFER},
	{SYS_write, PROC_WAIT_TRANSFER},
	{SYS_readv, PROC_WAIT_TRANSFER},
	{SYS_writev, PROC_WAIT_TRANSFER},
	{SYS_pread64, PROC_WAIT_TRANSFER},
	{SYS_pwrite64, PROC_WAIT_TRANSFER},
	{SYS_nanosleep, PROC_WAIT_SLEEP},
	{SYS_clock_nanosleep, PROC_WAIT_SLEEP},
};

/* "running", "-1 SP PC", or "NUMBER 0xARG0 ... 0xARG5 SP PC". */
bool proc_wait_parse(const char *text, enum proc_wait *ret_wait, uint64_t *ret_address)
{
	uint64_t args[3] = {0};
	char *at;
	long number;

	*ret_wait = PROC_WAIT_NONE;
	*ret_address = 0;
	if (strncmp(text, "running", 7) == 0 || strncmp(text, "-1 ", 3) == 0)
		return true;
	number = strtol(text, &at, 10);
	if (at == text || number < 0)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		const char *from = at;

		args[i] = strtoull(from, &at, 16);
		if (at == from)
			return false;
	}
	*ret_wait = PROC_WAIT_OTHER;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (waits[i].number == number)
			*ret_wait = waits[i].wait;
	if (number == SYS_futex) {
		/* 2 is "taken, and others wait" in the locks of glibc, Rust and Go.  Rust waits
		 * with a set of bits and no clock; glibc waits in this way for conditions, on the
		 * real-time clock unless told otherwise, and not for a 2 before version 2.41. */
		uint64_t command = args[1] & ~(uint64_t)FUTEX_PRIVATE_FLAG;
		bool blocks = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;

		*ret_wait = blocks && (uint32_t)args[2] == 2 ? PROC_WAIT_LOCK : PROC_WAIT_FUTEX;
		*ret_address = args[0];
	}
	return true;
}

/* "1234 (a name) S PPID ...": the name may hold anything, its end is the last ')'. */
bool proc_stat_parse(const char *text, struct proc_stat *ret_stat)
{
	const char *at = strrchr(text, ')');
	uint64_t fields[23] = {0}; /* [10]: minflt, as proc(5) counts them */

	if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
		return false;
	at += 3;
	for (unsigned i = 4; i < 23; i++) {
		at += strspn(at, " ");
		if (*at == '-') /* tty, priority, nice */
			at++;
		if (!number_take(&at, &fields[i]))
			return false;
	}
	*ret_stat = (struct proc_stat){
		.minor_faults = fields[10] + fields[11],
		.major_faults = fields[12] + fields[13],
		.started = fields[22],
	};
	return true;
}

bool proc_io_parse(const char *text, struct proc_io *ret_io)
{
	const struct proc_io io = {
		.read_chars = line_number(text, "rchar:"),
		.write_chars = line_number(text, "wchar:"),
		.read_calls = line_number(text, "syscr:"),
		.write_calls = line_number(text, "syscw:"),
		.read_bytes = line_number(text, "read_bytes:"),
		.write_bytes = line_number(text, "write_bytes:"),
	};

	if (io.read_chars == UINT64_MAX || io.write_chars == UINT64_MAX ||
		io.read_calls == UINT64_MAX || io.write_calls == UINT64_MAX ||
		io.read_bytes == UINT64_MAX || io.write_bytes == UINT64_MAX)
		return false;
	*ret_io = io;
	return true;
}

bool proc_rollup_parse(const char *text, struct proc_rollup *ret_rollup)
{
	const struct proc_rollup rollup = {line_kib(text, "Rss:"), line_kib(text, "Pss:")};

	if (rollup.rss_bytes == UINT64_MAX || rollup.pss_bytes == UINT64_MAX)
		return false;
	*ret_rollup = rollup;
	return true;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" and the same with "full" */
static uint64_t pressure_total(const char *text, const char *name)
{
	const char *line = line_find(text, name), *total = line ? strstr(line, "total=") : NULL;
	uint64_t value;

	if (!total || memchr(line, '\n', (size_t)(total - line)))
		return UINT64_MAX;
	total += strlen("total=");
	return number_take(&total, &value) ? value : UINT64_MAX;
}

bool proc_pressure_parse(const char *text, struct proc_pressure *ret_pressure)
{
	const struct proc_pressure pressure = {
		pressure_total(text, "some "), pressure_total(text, "full ")};

	if (pressure.some_us == UINT64_MAX)
		return false;
	*ret_pressure = pressure;
	return true;
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..." */
bool proc_cpu_parse(const char *text, struct proc_cpu *ret_cpu)
{
	uint64_t fields[8];

	if (strncmp(text, "cpu ", 4) != 0)
		return false;
	text += 4;
	for (unsigned i = 0; i < 8; i++)
		if (!number_take(&text, &fields[i]))
			return false;
	*ret_cpu = (struct proc_cpu){
		.iowait = fields[4],
		.steal = fields[7],
		.busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6],
	};
	return true;
}

/* Version 2 tells microseconds, version 1 nanoseconds. */
bool proc_throttle_parse(const char *text, struct proc_throttle *ret_throttle)
{
	uint64_t periods = line_number(text, "nr_throttled ");
	uint64_t us = line_number(text, "throttled_usec "),
		 ns = line_number(text, "throttled_time ");

	if (us != UINT64_MAX && us <= UINT64_MAX / 1000)
		ns = us * 1000;
	if (periods == UINT64_MAX || ns == UINT64_MAX)
		return false;
	*ret_throttle = (struct proc_throttle){periods, ns};
	return true;
}

/* "   8   0 sda READS MERGED SECTORS MS WRITES MERGED SECTORS MS INFLIGHT BUSY_MS WAITED_MS ..." */
static bool disk_parse(const char *at, struct proc_disk *ret_disk)
{
	struct proc_disk disk = {.name = ""};
	uint64_t field = 0;
	size_t len;

	for (unsigned i = 0; i < 2; i++) /* major and minor number */
		if (!number_take(&at, &field))
			return false;
	at += strspn(at, " ");
	len = strcspn(at, " \n");
	if (!len || len >= sizeof(disk.name))
		return false;
	memcpy(disk.name, at, len);
	at += len;
	for (unsigned i = 1; i <= 11; i++) {
		if (!number_take(&at, &field))
			return false;
		if (i == 10)
			disk.busy_ms = field;
	}
	disk.waited_ms = field;
	*ret_disk = disk;
	return true;
}

bool proc_disk_next(const char **text, struct proc_disk *ret_disk)
{
	while (**text) {
		const char *line = *text;

		*text += strcspn(line, "\n");
		*text += **text == '\n';
		if (disk_parse(line, ret_disk))
			return true;
	}
	return false;
}
