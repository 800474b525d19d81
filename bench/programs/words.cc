// words.cc - C++ with templates and inlines: regex, maps, sorts with lambdas, N times.  `words N`.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <vector>

static std::string text(unsigned words)
{
	std::string out;
	unsigned state = 12345;

	for (unsigned i = 0; i < words; i++) {
		state = state * 1103515245 + 12345;
		for (unsigned k = 0; k < 2 + (state >> 16) % 7; k++)
			out += static_cast<char>('a' + (state >> (k + 8)) % 26);
		out += i % 17 ? ' ' : '\n';
	}
	return out;
}

static std::map<std::string, unsigned> count(const std::string &in)
{
	static const std::regex word("[a-z]+(ing|ed|s)?");
	std::map<std::string, unsigned> seen;

	for (std::sregex_iterator at(in.begin(), in.end(), word), end; at != end; ++at)
		seen[at->str()]++;
	return seen;
}

int main(int argc, char **argv)
{
	const unsigned times = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 5;
	const std::string in = text(4000);
	unsigned long sum = 0;

	for (unsigned i = 0; i < times; i++) {
		const auto seen = count(in);
		std::vector<std::pair<std::string, unsigned>> rows(seen.begin(), seen.end());

		std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
			return a.second != b.second ? a.second > b.second : a.first < b.first;
		});
		sum += rows.front().second;
	}
	std::printf("%lu\n", sum);
	return 0;
}
