// small.cc - C++ names and the C++ library; only looked at, never run.
#include <string>
#include <vector>

extern "C" int helper(int value);

#ifndef WITH_HELPER
extern "C" int helper(int value)
{
	return value + 1;
}
#endif

struct shape {
	virtual ~shape() = default;
	virtual std::string name(int n) const { return "shape" + std::to_string(n); }
};

__attribute__((noinline)) std::vector<std::string> names(const shape &s, int n)
{
	std::vector<std::string> list;

	for (int i = 0; i < n; i++)
		list.push_back(s.name(helper(i)));
	return list;
}

int main(int argc, char **)
{
	return static_cast<int>(names(shape(), argc).size());
}
