/* tiles.cc - clean: a worker for each of two CPUs, tiles of equal work from one counter.
 *
 *     tiles [TILES]
 *
 * Nothing is planted: shade() computes a polynomial for each point of a tile, point by point of its
 * own, and the counter is touched once in a tile of some milliseconds. */
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace
{

constexpr int side = 64;
using Tile = std::array<float, side * side>;
std::atomic<int> next_tile;

[[gnu::noinline]] void shade(Tile &tile, float x)
{
	for (int pass = 0; pass < 400; pass++) {
		for (float &point : tile) {
			float t = point + x;
			point = ((t * 0.11f - 0.07f) * t + 0.23f) * t - 0.05f;
		}
	}
}

void work(int tiles, double *sum)
{
	Tile tile;

	for (int i = next_tile++; i < tiles; i = next_tile++) {
		tile.fill(0.001f * static_cast<float>(i % 100));
		shade(tile, 0.5f);
		*sum += static_cast<double>(tile[0]);
	}
}

} // namespace

int main(int argc, char **argv)
{
	int tiles = argc > 1 ? std::atoi(argv[1]) : 26000;
	double sums[2] = {};

	std::thread other(work, tiles, &sums[1]);
	work(tiles, &sums[0]);
	other.join();
	std::printf("%d tiles, %.3f\n", tiles, sums[0] + sums[1]);
}
