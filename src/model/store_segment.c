/* store_segment.c - stacks as the run file has them: many to a row.
 *
 * A stack that is new adds its frames one behind the other, each called by the one before, so a
 * row holds such a stretch: the caller of its first stack, and the locations as decimal digits of
 * one width.  A location then takes some four bytes where a row of its own took 17, and SQL still
 * finds any stack with one seek and one substr() (store_views.c).  A stretch ends at 64, so that
 * taking one of them out does not grow with the depth of the stack. */
#include "base/vec.h"
#include "store_schema.h"

const char store_create_segment[] =
	"CREATE TABLE segment(id INTEGER PRIMARY KEY, parent INTEGER, width INTEGER NOT NULL, "
	"locations TEXT NOT NULL)";

static uint32_t digits_of(uint32_t number)
{
	uint32_t digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits;
}

void store_segment_pack(const struct run *run, row_id first, struct store_segment *ret_segment)
{
	const struct stack_row *rows = &run->stacks.at[first - 1];
	uint32_t left = run->stacks.count - first + 1, count = 1, largest = rows[0].location;
	char *end = ret_segment->locations;

	for (; count < left && count < STORE_SEGMENT_STACKS; count++) {
		if (rows[count].parent != first + count - 1)
			break;
		largest = rows[count].location > largest ? rows[count].location : largest;
	}
	ret_segment->parent = rows[0].parent;
	ret_segment->count = count;
	ret_segment->width = digits_of(largest);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = rows[i].location;

		end += ret_segment->width;
		for (uint32_t digit = 1; digit <= ret_segment->width; digit++, number /= 10)
			end[-(int)digit] = (char)('0' + number % 10);
	}
}

/* The number in `width` digits, UINT64_MAX when it is none. */
static uint64_t number_at(const char *digits, size_t width)
{
	uint64_t number = 0;

	for (size_t i = 0; i < width; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return UINT64_MAX;
		number = number * 10 + (uint64_t)(digits[i] - '0');
	}
	return number;
}

const char *store_segment_unpack(
	struct run *run, int64_t parent, int64_t width, const char *digits, size_t len)
{
	if (parent < 0 || parent > run->stacks.count)
		return "parent";
	if (width < 1 || width > STORE_SEGMENT_WIDTH)
		return "width";
	if (!digits || !len || len % (size_t)width)
		return "locations";
	for (; len; digits += width, len -= (size_t)width) {
		uint64_t location = number_at(digits, (size_t)width);

		if (location > run->locations.count)
			return "locations";
		vec_push(&run->stacks, (struct stack_row){(row_id)parent, (row_id)location});
		parent = run->stacks.count;
	}
	return NULL;
}
