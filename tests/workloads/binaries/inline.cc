// inline.cc - templates, lambdas and the standard library, inlined; only looked at, never run.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

volatile int sink;

namespace
{
struct quiet {
	int value;
	__attribute__((always_inline)) void store() const { sink = value; }
};
}

namespace shop
{
template <class T> struct box {
	T value;
	__attribute__((noinline)) void keep(const T &other) { value = other; }
	__attribute__((noinline)) void keep(const T &other, int times)
	{
		for (int i = 0; i < times; i++)
			value += other;
	}
};
}

__attribute__((noinline)) void marked(int x)
{
	auto lambda = [x](int y) __attribute__((always_inline)) { sink = x + y; };

	lambda(3);
	quiet{x}.store();
}

int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> words;
	shop::box<int> number{1};
	shop::box<std::string> text{"a"};

	for (int i = 0; i < argc; i++)
		words[argv[i]].push_back(i);
	number.keep(argc);
	number.keep(argc, 2);
	text.keep(argv[0]);
	marked(argc);
	for (auto &[word, places] : words)
		std::sort(places.begin(), places.end(), [](int a, int b) { return a > b; });
	return static_cast<int>(words.size()) + number.value + static_cast<int>(text.value.size());
}
