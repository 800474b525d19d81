/* quadratic.c - a loop that grows with the square of its input.
 *
 *     quadratic [ITEMS]
 *
 * Planted: before an item is added, list_contains() looks through the whole list that has grown so
 * far, so ITEMS items cost ITEMS^2 / 2 comparisons.  The list is one block of memory in the cache,
 * its branches are predicted: nothing but the number of steps is wrong.
 * First answer: list_contains() [mark: SCAN]; nearly all samples are there.  `assay scale` says
 * O(n^2), and a set would make it O(n). */
#include "planted.h"

struct list {
	uint32_t *items;
	size_t count;
};

__attribute__((noinline)) static int list_contains(const struct list *list, uint32_t item)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == item) /* SCAN */
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t count = (size_t)count_of(argc, argv, 90000);
	struct list list = {malloc(count * sizeof(uint32_t)), 0};
	uint64_t x = 1, sum = 0;

	if (!list.items) {
		perror("quadratic");
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		x = mix(x);
		if (list_contains(&list, (uint32_t)(x >> 32)))
			continue;
		list.items[list.count++] = (uint32_t)(x >> 32);
		sum += x;
	}
	tell("quadratic", list.count, sum);
	free(list.items);
	return 0;
}
