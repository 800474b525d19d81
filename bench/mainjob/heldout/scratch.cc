/* scratch.cc - page-fault storm: a new table of "seen" marks for each question.
 *
 *     scratch [QUESTIONS]
 *
 * Planted: a question marks some thousand of the 64 million places, in a table that it takes from
 * calloc() and gives back.  Each mark is the first touch of a page: the kernel's work, again and
 * again. One table kept, with the marks taken back, has none of it. Right: page_fault_storm, at
 * Search::mark() or its caller. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace
{

constexpr std::size_t places = 64u << 20;

class Search
{
      public:
	Search() : seen(static_cast<std::uint8_t *>(std::calloc(places, 1)))
	{
	}
	~Search()
	{
		std::free(seen);
	}
	Search(const Search &) = delete;

	[[gnu::noinline]] bool mark(std::uint64_t place)
	{
		bool was = seen[place % places];

		seen[place % places] = 1;
		return was;
	}

      private:
	std::uint8_t *seen;
};

std::uint64_t ask(std::uint64_t question)
{
	Search search;
	std::uint64_t again = 0, at = question;

	for (int i = 0; i < 4000; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		again += search.mark(at >> 30);
	}
	return again;
}

} // namespace

int main(int argc, char **argv)
{
	long questions = argc > 1 ? std::atol(argv[1]) : 300;
	std::uint64_t again = 0;

	for (long i = 0; i < questions; i++)
		again += ask(static_cast<std::uint64_t>(i));
	std::printf("%ld questions, %llu marks again\n", questions,
		static_cast<unsigned long long>(again));
}
