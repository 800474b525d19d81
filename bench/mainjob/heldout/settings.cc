/* settings.cc - allocator churn: a text like JSON becomes a tree of small objects and is dropped.
 *
 *     settings [DOCUMENTS]
 *
 * Planted: each value is an object of its own, with a name that is too long to stand in the string
 * itself; the tree lives for one question and then goes back piece by piece. Right:
 * allocator_churn, at the parser, the end of the tree, or malloc() and free() below them. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

struct Value {
	std::string name;
	long number = 0;
	std::vector<std::unique_ptr<Value>> members;
};

class Parser
{
      public:
	explicit Parser(const std::string &text) : at(text.c_str())
	{
	}

	std::unique_ptr<Value> value()
	{
		auto made = std::make_unique<Value>();

		made->name = word();
		at++; /* : */
		if (*at == '{') {
			do {
				at++; /* { or , */
				made->members.push_back(value());
			} while (*at == ',');
			at++; /* } */
		} else {
			made->number = *at++ - '0';
		}
		return made;
	}

      private:
	std::string word()
	{
		const char *from = at;

		while (*at != ':')
			at++;
		return std::string(from, at);
	}

	const char *at;
};

static std::string make_text(int depth)
{
	std::string text = "the_name_of_this_setting_" + std::to_string(depth) + ":";

	if (!depth)
		return text + "7";
	text += "{";
	for (int i = 0; i < 4; i++)
		text += (i ? "," : "") + make_text(depth - 1);
	return text + "}";
}

static long sum_of(const Value &value)
{
	long sum = value.number;

	for (const auto &member : value.members)
		sum += sum_of(*member);
	return sum;
}

int main(int argc, char **argv)
{
	long documents = argc > 1 ? std::atol(argv[1]) : 45000, sum = 0;
	const std::string text = make_text(5);

	for (long i = 0; i < documents; i++)
		sum += sum_of(*Parser(text).value());
	std::printf("%ld documents, sum %ld\n", documents, sum);
}
