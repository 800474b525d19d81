/* scale_sizes.c - sizes and laws as they are typed; see scale.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scale.h"
#include "base/sorted.h"
#include "base/str.h"

static int size_refuse(const char *text, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "'%s' is not a list of sizes", text);
	err_hint(err, "write whole numbers from 1: 10,100,1k or 1..64x2 or 10..50+10");
	return -EINVAL;
}

/* One number with its k, M or G; moves *text behind it. */
static int size_read(const char **text, uint64_t *ret_size)
{
	static const char letters[] = "kMG";
	const char *letter;
	char *end;
	uint64_t value;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(*text, &end, 10);
	letter = *end ? strchr(letters, *end) : NULL;
	for (const char *step = letters; letter && step <= letter; step++)
		if (value > SCALE_SIZE_LARGEST)
			errno = ERANGE;
		else
			value *= 1000;
	if (errno || !value || value > SCALE_SIZE_LARGEST)
		return -ERANGE;
	*text = end + (letter != NULL);
	*ret_size = value;
	return 0;
}

struct size_range {
	uint64_t from, to, step;
	bool adds; /* else the step multiplies */
};

/* "1..64x2"; a plain number is a range of one. */
static int range_read(const char **text, struct size_range *ret_range)
{
	struct size_range range = {.step = 2};
	int r = size_read(text, &range.from);

	range.to = range.from;
	if (r < 0 || !str_starts(*text, "..")) {
		*ret_range = range;
		return r;
	}
	*text += 2;
	r = size_read(text, &range.to);
	if (r >= 0 && (**text == 'x' || **text == '+')) {
		range.adds = *(*text)++ == '+';
		r = size_read(text, &range.step);
	}
	if (r >= 0 && (range.to < range.from || (!range.adds && range.step < 2)))
		r = -EINVAL;
	*ret_range = range;
	return r;
}

static int range_add(const struct size_range *range, struct scale_sizes *sizes)
{
	for (uint64_t size = range->from; size <= range->to;) {
		if (sizes->count == SCALE_SIZES_MAX)
			return -E2BIG;
		sizes->at[sizes->count++] = size;
		if (range->adds)
			size += range->step;
		else if (size > range->to / range->step)
			break;
		else
			size *= range->step;
	}
	return 0;
}

static void sizes_order(struct scale_sizes *sizes)
{
	uint32_t kept = 0;

	qsort(sizes->at, sizes->count, sizeof(*sizes->at), sorted_compare);
	for (uint32_t i = 0; i < sizes->count; i++)
		if (!kept || sizes->at[kept - 1] != sizes->at[i])
			sizes->at[kept++] = sizes->at[i];
	sizes->repeated = sizes->count - kept;
	sizes->count = kept;
}

int scale_sizes_parse(
	const char *text, struct arena *arena, struct scale_sizes *ret_sizes, struct err *err)
{
	struct scale_sizes sizes = {.at = arena_take(arena, SCALE_SIZES_MAX * sizeof(*sizes.at))};
	const char *at = text;

	for (;;) {
		struct size_range range;
		int r = range_read(&at, &range);

		if (r >= 0)
			r = range_add(&range, &sizes);
		if (r == -ERANGE || r == -E2BIG) {
			err_set(err, ERR_USAGE, -r,
				r == -E2BIG ? "'%s' has more than 1000 sizes"
					    : "'%s' has a size out of range",
				text);
			err_hint(err, r == -E2BIG
					      ? "a dozen is enough for a law; 1..1Mx10 multiplies"
					      : "sizes go from 1 to 9007199254740992 (2^53)");
			return r;
		}
		if (r < 0 || (*at && *at != ','))
			return size_refuse(text, err);
		if (!*at)
			break;
		at++;
	}
	sizes_order(&sizes);
	*ret_sizes = sizes;
	return 0;
}

int scale_law_parse(const char *text, enum law *ret_law, struct err *err)
{
	static const char *const names[LAW_COUNT] = {"1", "logn", "n", "nlogn", "n^2"};
	char bare[16] = "";
	size_t len = 0;
	const char *from = str_starts(text, "O(") ? text + 2 : text;
	bool closed = from != text && str_ends(text, ")");

	for (; *from && len + 1 < sizeof(bare); from++)
		if (*from != ' ' && *from != '*')
			bare[len++] = *from;
	if (closed && !*from)
		len--;
	bare[len] = '\0';
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++)
		if (str_equal(bare, names[law])) {
			*ret_law = law;
			return 0;
		}
	err_set(err, ERR_USAGE, EINVAL, "unknown law '%s' for --expect", text);
	err_hint(err, "laws: O(1), O(log n), O(n), O(n log n), O(n^2)");
	return -EINVAL;
}
