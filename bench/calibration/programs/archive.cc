/* archive.cc - a lock held too long: two threads draw pages and store them in one archive.
 *
 * Planted: Archive::store() packs the page while it holds the lock, which only the list needs.  To
 * draw a page takes less than to pack it, so that one thread always waits for the other.
 * Right: store(), or pack() below it.  Wrong: draw_page(), which both do at the same time. */
#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

constexpr int threads = 2, pages = 7000, page_bytes = 65536;
using Page = std::array<std::uint8_t, page_bytes>;

struct Packed {
	std::size_t bytes;
	std::uint32_t check;
};

/* Lines of one colour each, some longer and some shorter. */
[[gnu::noinline]] void draw_page(Page &page, std::uint32_t seed)
{
	std::uint32_t left = 0, colour = 0;

	for (auto &point : page) {
		seed = seed * 1664525u + 1013904223u;
		if (!left) {
			left = 24 + (seed >> 27);
			colour = seed >> 24;
		}
		left--;
		point = static_cast<std::uint8_t>(colour);
	}
}

/* Runs of one colour become two bytes; the checksum is taken over the page twice, once from its
 * beginning and once from its end. */
[[gnu::noinline]] Packed pack(const Page &page)
{
	Packed packed{0, 1};

#ifndef WITHOUT
	for (std::size_t i = 0; i < page.size();) {
		std::size_t run = 1;
		while (i + run < page.size() && run < 255 && page[i + run] == page[i])
			run++;
		packed.bytes += 2;
		i += run;
	}
	for (std::size_t i = 0; i < page.size(); i++)
		packed.check = (packed.check ^ page[i]) * 16777619u;
	for (std::size_t i = page.size(); i-- > 0;)
		packed.check = (packed.check + page[i]) * 2654435761u;
#else
	packed.check += page[0];
#endif
	return packed;
}

class Archive
{
      public:
	[[gnu::noinline]] void store(const Page &page)
	{
		std::lock_guard<std::mutex> guard(lock);
		list.push_back(pack(page));
	}

	void tell() const
	{
		std::size_t bytes = 0;
		std::uint32_t check = 0;

		for (const auto &packed : list) {
			bytes += packed.bytes;
			check ^= packed.check;
		}
		std::printf("%zu pages, %zu bytes, %08x\n", list.size(), bytes, check);
	}

      private:
	std::mutex lock;
	std::vector<Packed> list;
};

void print_job(Archive &archive, std::uint32_t thread)
{
	Page page;

	for (std::uint32_t i = 0; i < pages; i++) {
		draw_page(page, i * threads + thread);
		archive.store(page);
	}
}

} // namespace

int main()
{
	Archive archive;
	std::thread other(print_job, std::ref(archive), 1);

	print_job(archive, 0);
	other.join();
	archive.tell();
}
