/* rules.cc - repeated work: lines of a log, sorted into classes by patterns.
 *
 * Planted: classify() compiles each pattern anew for each line, with a table of 256 masks, and uses
 * it once.  The patterns never change: the caller could keep twelve compiled ones.
 * Right: compile_rule(), or classify(), which calls it.  Wrong: make_lines(). */
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace
{

/* All states of a pattern at once, one bit each: bit n of a character's mask says that it may be
 * the n-th of the pattern. */
struct Rule {
	std::array<std::uint64_t, 256> masks{};
	std::uint64_t last = 0;
};

const std::array<const char *, 12> patterns = {
	"error [0-9][0-9]",
	"timeout after [0-9]",
	"user [a-z]* logged in",
	"[a-z]: denied",
	"disk [a-d] .* full",
	"GET /[a-z]",
	"POST /[a-z]",
	"retry [1-9]",
	"peer .* closed",
	"cache miss [a-f0-9]",
	"[A-Z][A-Z][A-Z] .* 404",
	"shutting down",
};

/* A pattern has characters, sets in brackets, and dots for any character; a star is a character. */
[[gnu::noinline]] Rule compile_rule(const char *pattern)
{
	Rule rule;
	std::uint64_t bit = 1;

	for (const char *at = pattern; *at; at++, bit <<= 1) {
		if (*at == '.') {
			for (auto &mask : rule.masks)
				mask |= bit;
		} else if (*at == '[') {
			for (at++; *at != ']'; at++) {
				int from = at[0], to = at[0];
				if (at[1] == '-') {
					to = at[2];
					at += 2;
				}
				for (int c = from; c <= to; c++)
					rule.masks[static_cast<unsigned char>(c)] |= bit;
			}
		} else {
			rule.masks[static_cast<unsigned char>(*at)] |= bit;
		}
	}
	rule.last = bit >> 1;
	return rule;
}

[[gnu::noinline]] bool matches(const Rule &rule, const std::string &line)
{
	std::uint64_t states = 0;

	for (unsigned char c : line) {
		states = (states << 1 | 1) & rule.masks[c];
		if (states & rule.last)
			return true;
	}
	return false;
}

/* The number of the first pattern that is in the line, or of all patterns. */
[[gnu::noinline]] std::size_t classify(const std::string &line)
{
	for (std::size_t i = 0; i < patterns.size(); i++) {
#ifdef WITHOUT
		static std::array<Rule, 12> kept;
		if (!kept[i].last)
			kept[i] = compile_rule(patterns[i]);
		const Rule &rule = kept[i];
#else
		const Rule rule = compile_rule(patterns[i]);
#endif
		if (matches(rule, line))
			return i;
	}
	return patterns.size();
}

std::vector<std::string> make_lines(unsigned count)
{
	const char *texts[] = {"GET /index", "peer x closed", "retry 3 of 9", "nothing to report",
		"cache miss 7f", "shutting down", "the queue is empty again"};
	std::vector<std::string> lines;

	for (unsigned i = 0; i < count; i++)
		lines.push_back("2021-03-0" + std::to_string(i % 9 + 1) + " host" +
				std::to_string(i * 7919 % 97) + " daemon: " + texts[i * 31 % 7]);
	return lines;
}

} // namespace

int main()
{
	const auto lines = make_lines(2000);
	std::array<unsigned long, patterns.size() + 1> counts{};

	for (int round = 0; round < 1500; round++)
		for (const auto &line : lines)
			counts[classify(line)]++;
	for (unsigned long count : counts)
		std::printf("%lu ", count);
	std::printf("lines\n");
}
