/* memory.c - planted shapes of code that takes, clears, copies and gives back memory. */
#include <malloc.h>
#include <sys/mman.h>

#include "plants.h"

enum { RECORDS = 600, RECORD_BYTES = 100 };

WHOLE static char *records_add(char *records, size_t count)
{
	records = realloc(records, (count + 1) * RECORD_BYTES);
	memset(records + count * RECORD_BYTES, (int)count, RECORD_BYTES);
	return records;
}

/* What is taken in between stands behind the records and is larger than every gap: they must move
 * each time. */
static void grows_by_constant(uint64_t rounds)
{
	static void *others[RECORDS];

	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (uint64_t i = 0; i < rounds; i++) {
		char *records = NULL;

		for (size_t k = 0; k < RECORDS; k++) {
			records = records_add(records, k);
			others[k] = malloc((k + 3) * RECORD_BYTES);
		}
		plant_sum += (unsigned char)records[i % RECORDS];
		for (size_t k = 0; k < RECORDS; k++)
			free(others[k]);
		free(records);
	}
}

WHOLE static void table_reset(unsigned char *table, size_t size)
{
	memset(table, 0, size);
	__asm__ volatile("" : : "r"(table) : "memory");
}

WHOLE static uint64_t table_use(unsigned char *table, uint64_t i)
{
	uint64_t sum = 0;

	for (uint64_t k = 0; k < 300; k++)
		sum += table[(i * 31 + k * 977) % 65536]++;
	return sum;
}

static void memset_again(uint64_t rounds)
{
	static unsigned char table[65536];

	for (uint64_t i = 0; i < rounds; i++) {
		table_reset(table, sizeof(table));
		plant_sum += table_use(table, i);
	}
}

WHOLE static uint64_t count_marks(uint64_t i)
{
	unsigned char *marks = calloc(1, 4096);
	uint64_t sum = 0;

	for (uint64_t k = 0; k < 20; k++)
		sum += marks[(i * 31 + k * 977) % 4096]++;
	free(marks);
	return sum;
}

static void calloc_again(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += count_marks(i);
}

struct state {
	uint64_t cells[4096];
};

WHOLE static uint64_t state_use(const struct state *state, uint64_t i)
{
	uint64_t sum = 0;

	for (uint64_t k = 0; k < 400; k++)
		sum += state->cells[(i * 31 + k * 977) % 4096];
	return sum;
}

WHOLE static void state_copy(struct state *to, const struct state *from)
{
	memcpy(to, from, sizeof(*to));
}

static void large_copies(uint64_t rounds)
{
	static struct state state, copy;

	for (uint64_t i = 0; i < rounds; i++) {
		state_copy(&copy, &state);
		plant_sum += state_use(&copy, i);
	}
}

struct node {
	struct node *next;
	uint64_t value;
};

WHOLE static struct node *node_add(struct node *list, uint64_t value)
{
	struct node *node = malloc(sizeof(*node));

	node->next = list;
	node->value = value;
	return node;
}

WHOLE static uint64_t node_drop(struct node **list)
{
	struct node *node = *list;
	uint64_t value = node->value;

	*list = node->next;
	free(node);
	return value;
}

static void tiny_objects(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		struct node *list = NULL;

		for (uint64_t k = 0; k < 100; k++)
			list = node_add(list, k);
		while (list)
			plant_sum += node_drop(&list);
	}
}

WHOLE static void list_free(struct node *list)
{
	while (list) {
		struct node *next = list->next;

		free(list);
		list = next;
	}
}

WHOLE static uint64_t list_sum(const struct node *list, unsigned times)
{
	uint64_t sum = 0;

	while (times--)
		for (const struct node *node = list; node; node = node->next)
			sum = sum * 31 + node->value;
	return sum;
}

static void freed_one_by_one(uint64_t rounds)
{
	struct node *list = NULL;

	for (uint64_t i = 0; i < rounds; i++) {
		struct node *node = malloc(sizeof(*node) + i % 7 * 16);

		node->next = list;
		node->value = i;
		list = node;
	}
	plant_sum += list_sum(list, 1);
	list_free(list);
}

/* The top of the heap is given back and taken again in each round. */
WHOLE static uint64_t use_blocks(uint64_t i)
{
	char *blocks[20];
	uint64_t sum = 0;

	for (unsigned k = 0; k < 20; k++) {
		blocks[k] = malloc(30000);
		for (unsigned at = 0; at < 30000; at += 4096)
			blocks[k][at] = (char)i;
		sum += (unsigned char)blocks[k][0];
	}
	for (unsigned k = 20; k-- > 0;)
		free(blocks[k]);
	return sum;
}

static void heap_trim(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += use_blocks(i);
}

/* Larger than any threshold that the allocator would learn. */
WHOLE static uint64_t use_large(uint64_t i)
{
	char *block = malloc(40u << 20);
	uint64_t sum;

	for (unsigned at = 0; at < 10; at++)
		block[at * 4096] = (char)i;
	sum = (unsigned char)block[0];
	free(block);
	return sum;
}

static void large_allocations(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += use_large(i);
}

WHOLE static uint64_t use_mapping(uint64_t i)
{
	char *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pages[0] = (char)i;
	munmap(pages, 65536);
	return i;
}

static void mmap_each(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += use_mapping(i);
}

int main(int argc, char **argv)
{
	static const struct plant plants[] = {
		{"grows_by_constant", grows_by_constant, 100},
		{"memset_again", memset_again, 133333},
		{"calloc_again", calloc_again, 1500000},
		{"large_copies", large_copies, 600000},
		{"tiny_objects", tiny_objects, 166666},
		{"freed_one_by_one", freed_one_by_one, 1120000},
		{"heap_trim", heap_trim, 833},
		{"large_allocations", large_allocations, 7998},
		{"mmap_each", mmap_each, 33333},
	};

	return plants_main(plants, sizeof(plants) / sizeof(*plants), argc, argv);
}
