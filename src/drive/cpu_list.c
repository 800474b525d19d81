/* cpu_list.c - see cpu_list.h.  Strict: what a user mistyped must not pin a program somewhere. */
#include "drive/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static int number_take(const char **at, unsigned *ret_number)
{
	char *end;
	unsigned long number;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	errno = 0;
	number = strtoul(*at, &end, 10);
	if (errno || number >= CPU_SETSIZE)
		return -ERANGE;
	*ret_number = (unsigned)number;
	*at = end;
	return 0;
}

int cpu_list_parse(const char *text, cpu_set_t *ret_cpus)
{
	cpu_set_t cpus;
	int r;

	CPU_ZERO(&cpus);
	for (;; text++) {
		unsigned first = 0, last;

		r = number_take(&text, &first);
		last = first;
		if (r >= 0 && *text == '-') {
			text++;
			r = number_take(&text, &last);
		}
		if (r < 0)
			return r;
		if (last < first || (*text && *text != ','))
			return -EINVAL;
		for (unsigned cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, &cpus);
		if (!*text)
			break;
	}
	*ret_cpus = cpus;
	return 0;
}

void cpu_list_print(const cpu_set_t *cpus, struct str *out)
{
	const char *between = "";

	for (unsigned first = 0, last; first < CPU_SETSIZE; first = last + 1) {
		last = first;
		if (!CPU_ISSET(first, cpus))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus))
			last++;
		str_addf(out, last > first ? "%s%u-%u" : "%s%u", between, first, last);
		between = ",";
	}
}
