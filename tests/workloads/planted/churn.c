/* churn.c - memory taken and given back all the time.
 *
 *     churn [RECORDS]
 *
 * Planted: build_record() takes a piece of memory for each of 24 small fields, writes its first
 * word, and drop_record() gives them back at once.  There are more pieces of one size than malloc
 * keeps at hand for a thread, so half of the calls go its longer ways.
 * First answer: build_record() [mark: FIELD] and malloc and free below it, allocator churn: most CPU
 * time in the malloc family, millions of calls a second, nothing lives longer than its record.  One
 * piece for the whole record, or an arena, would help. */
#include "planted.h"

enum { FIELDS = 24 };

__attribute__((noinline)) static void build_record(uint64_t **fields, uint64_t x)
{
	for (unsigned i = 0; i < FIELDS; i++) {
		fields[i] = malloc(24 + 16 * (i % 3)); /* FIELD */
		if (!fields[i])
			abort();
		*fields[i] = x + i;
	}
}

__attribute__((noinline)) static uint64_t drop_record(uint64_t **fields)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FIELDS; i++) {
		sum += *fields[i];
		free(fields[i]);
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t count = count_of(argc, argv, 3000000), sum = 0;
	uint64_t *fields[FIELDS];

	for (uint64_t i = 0; i < count; i++) {
		build_record(fields, i);
		sum = mix(sum + drop_record(fields));
	}
	return tell("churn", count, sum);
}
