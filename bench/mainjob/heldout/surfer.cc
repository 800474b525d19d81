/* surfer.cc - cache misses: random walks over a large graph, as in an estimate of page ranks.
 *
 *     surfer [STEPS]
 *
 * Planted: the next page is known only when the link of this one has come from memory, and the
 * links (256 MB) are in no cache.  No branch is hard to foresee. Right: follow(), because of memory
 * latency.  Wrong: the making of the graph. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

class Graph
{
      public:
	explicit Graph(std::size_t pages) : mask(pages - 1), links(pages * degree)
	{
		std::uint32_t x = 1;

		for (auto &link : links) {
			x = x * 1664525u + 1013904223u;
			link = static_cast<std::uint32_t>((x >> 7) * 2654435761u) & mask;
		}
	}

	std::uint32_t follow(std::uint32_t page, long steps, std::uint32_t seed) const
	{
		while (steps--) {
			seed = seed * 1664525u + 1013904223u;
			page = links[static_cast<std::size_t>(page) * degree + (seed >> 29)];
		}
		return page;
	}

      private:
	static constexpr std::size_t degree = 8;
	std::uint32_t mask;
	std::vector<std::uint32_t> links;
};

int main(int argc, char **argv)
{
	long steps = argc > 1 ? std::atol(argv[1]) : 18000000;
	Graph graph(8 << 20);
	std::uint32_t page = 0;

	for (std::uint32_t walk = 0; walk < 100; walk++)
		page = graph.follow(page ^ walk, steps / 100, walk);
	std::printf("%ld steps, page %u\n", steps, page);
}
