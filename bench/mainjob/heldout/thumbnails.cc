/* thumbnails.cc - off the critical path: statistics of a picture beside the chain that makes it
 * small.
 *
 *     thumbnails [PICTURES]
 *
 * Planted: each picture goes through unpack(), soften() and shrink() in the main thread, 3 + 5 + 3
 * passes over 64 KiB, while count_colours(), 8 passes in one function, runs beside it.  The picture
 * is done when both are, so count_colours() waits 3 of 11 passes.  A CPU profile has it first (8 of
 * 19). Right: soften(), or one of the two others of the chain.  Wrong: count_colours(). */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

namespace
{

constexpr std::size_t picture_bytes = 65536;
using Picture = std::vector<std::uint8_t>;

/* Each step: so many passes, each byte from the one before it, so that all passes take the same
 * time. */
[[gnu::noinline]] std::uint32_t unpack(Picture &picture, std::uint32_t carry)
{
	for (std::size_t i = 0; i < 3 * picture_bytes; i++) {
		std::uint8_t &pixel = picture[i % picture_bytes];
		carry = (carry ^ pixel) * 16777619u;
		pixel = static_cast<std::uint8_t>(carry >> 24);
	}
	return carry;
}

[[gnu::noinline]] std::uint32_t soften(Picture &picture, std::uint32_t carry)
{
	for (std::size_t i = 0; i < 5 * picture_bytes; i++) {
		std::uint8_t &pixel = picture[i % picture_bytes];
		carry = (carry + pixel) * 2654435761u;
		pixel = static_cast<std::uint8_t>(carry >> 23);
	}
	return carry;
}

[[gnu::noinline]] std::uint32_t shrink(Picture &picture, std::uint32_t carry)
{
	for (std::size_t i = 0; i < 3 * picture_bytes; i++) {
		std::uint8_t &pixel = picture[i % picture_bytes];
		carry = (carry - pixel) * 1664525u;
		pixel = static_cast<std::uint8_t>(carry >> 22);
	}
	return carry;
}

[[gnu::noinline]] std::uint32_t count_colours(Picture &colours, const Picture &original)
{
	std::uint32_t carry = 0;

	for (std::size_t i = 0; i < 8 * picture_bytes; i++) {
		carry = (carry ^ original[i % picture_bytes]) * 1099087573u;
		colours[i % picture_bytes] = static_cast<std::uint8_t>(carry >> 24);
	}
	return carry;
}

} // namespace

int main(int argc, char **argv)
{
	long pictures = argc > 1 ? std::atol(argv[1]) : 4000;
	Picture original(picture_bytes, 7), work(picture_bytes), colours(picture_bytes);
	std::uint32_t sum = 0;

	for (long i = 0; i < pictures; i++) {
		original[0] = static_cast<std::uint8_t>(i);
		auto statistics = std::async(
			std::launch::async, count_colours, std::ref(colours), std::cref(original));
		work = original;
		std::uint32_t seed = unpack(work, static_cast<std::uint32_t>(i));
		seed = soften(work, seed);
		seed = shrink(work, seed);
		sum += seed ^ statistics.get();
	}
	std::printf("%ld pictures, %08x\n", pictures, sum);
}
