/* objects.cc - C++: large frames, templates, virtual calls, an exception that is caught. */
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "witness.h"

namespace
{
volatile long sum;

struct shape {
	virtual ~shape() = default;
	virtual long area(int n) const = 0;
};

struct square : shape {
	OUT_OF_LINE long area(int n) const override
	{
		volatile char room[2000];

		room[n] = static_cast<char>(n);
		if (n == 3)
			throw std::string("three");
		return room[n] * n;
	}
};

OUT_OF_LINE void measure(const shape &one, int n)
{
	try {
		sum = sum + one.area(n);
	} catch (const std::string &word) {
		sum = sum + static_cast<long>(word.size());
	}
}
} // namespace

int main()
{
	std::vector<int> numbers{5, 3, 9, 1};
	std::map<int, std::string> names;
	square one;

	witness_begin();
	for (int i = 0; i < 3; i++)
		measure(one, i);
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return b < a; });
	names[numbers[0]] = "largest";
	measure(one, 3);
	witness_end();
	return witness_report(5);
}
