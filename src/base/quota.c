/* quota.c - see quota.h.
 *
 * The promise is for the whole tool: 64 MiB and 20 times the file, 2 s and 1 s for each MB
 * (docs/commands/import.md).  A charge is what the reader keeps; growing arrays, the run that is
 * made of it and what looks at it come on top, so half of the promise is given out here. */
#include "base/quota.h"

#include <stdlib.h>

#include "base/str.h"

enum {
	BYTES_FLOOR = 24 << 20,
	BYTES_EACH = 10, /* for each byte of the file */
	STEPS_FLOOR = 32 << 20,
	STEPS_EACH = 16,
	PACE = 1 << 16, /* steps: 2 ms */
	FACTOR_MOST = 1000000,
};

const char quota_hint[] = "the file is damaged, or made to take much; set " QUOTA_FACTOR
			  "=10 to allow ten times as much";

static uint64_t factor(void)
{
	const char *text = getenv(QUOTA_FACTOR);
	uint64_t times;

	if (!text || str_to_u64(text, &times) < 0 || !times)
		return 1;
	return times < FACTOR_MOST ? times : FACTOR_MOST;
}

/* Files are smaller than 2^43 bytes, so nothing here overflows. */
void quota_join(struct quota *quota, uint64_t file_bytes)
{
	uint64_t times = factor();

	if (quota->end != QUOTA_LEFT)
		return;
	quota->file_bytes += file_bytes;
	quota->bytes += BYTES_EACH * file_bytes * times;
	quota->bytes_given += BYTES_EACH * file_bytes * times;
	quota->steps += STEPS_EACH * file_bytes * times;
	quota->steps_given += STEPS_EACH * file_bytes * times;
}

struct quota quota_of(uint64_t file_bytes, struct interrupt (*interrupted)(void))
{
	uint64_t times = factor();
	struct quota quota = {
		.steps = STEPS_FLOOR * times,
		.bytes = BYTES_FLOOR * times,
		.steps_given = STEPS_FLOOR * times,
		.bytes_given = BYTES_FLOOR * times,
		.interrupted = interrupted,
	};

	quota_join(&quota, file_bytes);
	return quota;
}

bool quota_stop(struct quota *quota, enum quota_end end)
{
	if (quota->end == QUOTA_LEFT)
		quota->end = end;
	quota->steps = quota->bytes = quota->pace = 0;
	return false;
}

bool quota_turn(struct quota *quota, uint64_t steps)
{
	uint64_t over = steps - quota->pace, next;

	if (quota->end != QUOTA_LEFT)
		return false;
	if (interrupt_now(quota->interrupted).count > quota->seen)
		return quota_stop(quota, QUOTA_INTERRUPTED);
	if (over >= quota->steps)
		return quota_stop(quota, QUOTA_STEPS);
	quota->steps -= over;
	next = quota->steps < PACE ? quota->steps : PACE;
	quota->pace = next;
	quota->steps -= next;
	return true;
}

void quota_tell(const struct quota *quota, const char *file, struct str *out)
{
	unsigned long long kib;

	str_addf(out, "%s: stopped after ", file);
	if (quota->end == QUOTA_STEPS)
		str_addf(out, "%llu million steps",
			(unsigned long long)(quota->steps_given / 1000000));
	else
		str_addf(out, "%llu MiB of memory", (unsigned long long)(quota->bytes_given >> 20));
	kib = quota->file_bytes / 1024;
	if (quota->file_bytes % 1024)
		kib++;
	str_addf(out, ", too much for %llu KiB; what was read before is kept", kib);
}
