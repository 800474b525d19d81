/* chase.c - pointers through memory that no cache holds.
 *
 *     chase [STEPS]
 *
 * Planted: walk() follows a ring of 2 million nodes of 64 bytes (128 MiB) in random order; each
 * step waits for the one before and misses all caches and the TLB.
 * First answer: walk() [mark: CHASE], memory latency: hardly any instructions per second, a miss
 * for each step.  Nodes in the order of the walk, or smaller ones, would help. */
#include <sys/mman.h>

#include "planted.h"

enum { NODES = 1 << 21 };

struct node {
	struct node *next;
	uint64_t value, rest[6];
};

/* One ring through all nodes (Sattolo's shuffle). */
__attribute__((noinline)) static void link_nodes(struct node *nodes)
{
	uint64_t x = 1;

	for (uint32_t i = 0; i < NODES; i++)
		nodes[i].value = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		uint64_t other, value = nodes[i].value;

		x = mix(x);
		other = (x >> 33) % i;
		nodes[i].value = nodes[other].value;
		nodes[other].value = value;
	}
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i].next = &nodes[nodes[i].value];
}

__attribute__((noinline)) static uint64_t walk(const struct node *node, uint64_t steps)
{
	uint64_t sum = 0;

	while (steps--) {
		sum += node->value;
		node = node->next; /* CHASE */
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t steps = count_of(argc, argv, 15000000);
	struct node *nodes = mmap(NULL, NODES * sizeof(struct node), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (nodes == MAP_FAILED) {
		perror("chase");
		return 1;
	}
	link_nodes(nodes);
	return tell("chase", steps, walk(nodes, steps));
}
