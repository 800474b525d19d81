// objects.cc - planted shapes of C++: containers, strings, streams, counted pointers.
#include <fstream>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "plants.h"

WHOLE static void write_table(std::ostream &out, uint64_t i)
{
	out << i << ',' << i * 17 << ',' << static_cast<double>(i) / 7 << '\n';
}

static void iostream_format(uint64_t rounds)
{
	std::ofstream out("/dev/null");

	for (uint64_t i = 0; i < rounds; i++)
		write_table(out, i);
}

WHOLE static uint64_t read_numbers(std::istream &in)
{
	uint64_t sum = 0, number;

	while (in >> number)
		sum += number;
	return sum;
}

static void istream_parse(uint64_t rounds)
{
	std::string text;

	for (unsigned i = 0; i < 100000; i++)
		text += std::to_string(i * 7919) + " ";
	for (uint64_t i = 0; i < rounds; i++) {
		std::istringstream in(text);

		plant_sum += read_numbers(in);
	}
}

WHOLE static size_t label_of(uint64_t i)
{
	std::ostringstream label;

	label << char('a' + i % 26);
	return label.str().size();
}

static void stringstream_each(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += label_of(i);
}

WHOLE static uint64_t parse_digit(char c)
{
	if (c < '0' || c > '9')
		throw c;
	return static_cast<uint64_t>(c - '0');
}

WHOLE static uint64_t digit_or_zero(char c)
{
	try {
		return parse_digit(c);
	} catch (char) {
		return 0;
	}
}

static void exceptions_as_flow(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += digit_or_zero(i % 10 ? 'x' : '7');
}

struct item {
	uint64_t value = 1;
};

WHOLE static uint64_t value_of(std::shared_ptr<item> item)
{
	return item->value;
}

static void shared_counts(uint64_t rounds)
{
	std::vector<std::shared_ptr<item>> items;

	for (unsigned i = 0; i < 1000; i++)
		items.push_back(std::make_shared<item>());
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += value_of(items[i % 1000]);
}

WHOLE static uint64_t apply_all(const std::vector<uint64_t> &values,
	const std::function<uint64_t(uint64_t, uint64_t)> &step)
{
	uint64_t sum = 0;

	for (uint64_t value : values)
		sum = step(sum, value);
	return sum;
}

static void function_objects(uint64_t rounds)
{
	std::vector<uint64_t> values(10000, 3);
	uint64_t by = rounds;

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += apply_all(values, [by](uint64_t a, uint64_t b) { return a ^ b * by; });
}

WHOLE static size_t escape(const std::string &text)
{
	std::string out;

	for (char c : text)
		out = out + (c == '<' ? "&lt;" : std::string(1, c));
	return out.size();
}

static void string_building(uint64_t rounds)
{
	std::string text(3000, 'x');

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += escape(text);
}

WHOLE static uint64_t sum_prices(const std::map<uint64_t, uint64_t> &prices, uint64_t i)
{
	uint64_t sum = 0;

	for (uint64_t k = 0; k < 1000; k++) {
		auto at = prices.find((i * 1000 + k) * 7919 % 100000);

		sum += at == prices.end() ? 0 : at->second;
	}
	return sum;
}

static void map_walk(uint64_t rounds)
{
	std::map<uint64_t, uint64_t> prices;

	for (uint64_t i = 0; i < 100000; i++)
		prices[i] = i;
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += sum_prices(prices, i);
}

WHOLE static uint64_t list_total(const std::list<uint64_t> &values)
{
	uint64_t sum = 0;

	for (uint64_t value : values)
		sum += value;
	return sum;
}

static void list_walk(uint64_t rounds)
{
	std::list<uint64_t> values, others;

	for (uint64_t i = 0; i < 100000; i++) {
		(i * 7919 % 13 ? values : others).push_back(i);
		if (i % 3 == 0)
			values.splice(values.begin(), values, std::prev(values.end()));
	}
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += list_total(values);
}

struct poor_hash {
	size_t operator()(uint64_t key) const
	{
		return key % 8;
	}
};

WHOLE static uint64_t visits_of(
	const std::unordered_map<uint64_t, uint64_t, poor_hash> &visits, uint64_t key)
{
	auto at = visits.find(key);

	return at == visits.end() ? 0 : at->second;
}

static void full_buckets(uint64_t rounds)
{
	std::unordered_map<uint64_t, uint64_t, poor_hash> visits;

	for (uint64_t i = 0; i < 10000; i++)
		visits[i] = i;
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += visits_of(visits, i * 7919 % 10000);
}

WHOLE static uint64_t queue_take(std::vector<uint64_t> &queue)
{
	uint64_t first = queue.front();

	queue.erase(queue.begin());
	queue.push_back(first + 1);
	return first;
}

static void vector_front(uint64_t rounds)
{
	std::vector<uint64_t> queue(20000, 1);

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += queue_take(queue);
}

WHOLE static uint64_t third_of(std::vector<uint64_t> values)
{
	return values[3];
}

static void container_copy(uint64_t rounds)
{
	std::vector<uint64_t> values(5000, 1);

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += third_of(values);
}

struct shape {
	virtual ~shape()
	{
	}
	virtual uint64_t area() const = 0;
};
struct square : shape {
	uint64_t area() const override;
};
struct circle : shape {
	uint64_t area() const override;
};
struct ring : circle {
	uint64_t area() const override;
};
WHOLE uint64_t square::area() const
{
	return 4;
}
WHOLE uint64_t circle::area() const
{
	return 3;
}
WHOLE uint64_t ring::area() const
{
	return 2;
}

static std::vector<std::unique_ptr<shape>> shapes_make()
{
	std::vector<std::unique_ptr<shape>> shapes;

	for (uint64_t i = 0, x = 1; i < 5000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		if (x >> 62 == 0)
			shapes.emplace_back(new square);
		else if (x >> 62 == 1)
			shapes.emplace_back(new circle);
		else
			shapes.emplace_back(new ring);
	}
	return shapes;
}

WHOLE static uint64_t count_rings(const std::vector<std::unique_ptr<shape>> &shapes)
{
	uint64_t rings = 0;

	for (const auto &shape : shapes)
		rings += dynamic_cast<const ring *>(shape.get()) != nullptr;
	return rings;
}

static void dynamic_casts(uint64_t rounds)
{
	auto shapes = shapes_make();

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += count_rings(shapes);
}

WHOLE static uint64_t total_area(const std::vector<std::unique_ptr<shape>> &shapes)
{
	uint64_t sum = 0;

	for (const auto &shape : shapes)
		sum += shape->area();
	return sum;
}

static void virtual_calls(uint64_t rounds)
{
	auto shapes = shapes_make();

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += total_area(shapes);
}

int main(int argc, char **argv)
{
	static const struct plant plants[] = {
		{"iostream_format", iostream_format, 500000},
		{"istream_parse", istream_parse, 26},
		{"stringstream_each", stringstream_each, 500000},
		{"exceptions_as_flow", exceptions_as_flow, 200000},
		{"shared_counts", shared_counts, 33333333},
		{"function_objects", function_objects, 16666},
		{"string_building", string_building, 1250},
		{"map_walk", map_walk, 249},
		{"list_walk", list_walk, 249},
		{"full_buckets", full_buckets, 66666},
		{"vector_front", vector_front, 100000},
		{"container_copy", container_copy, 133333},
		{"dynamic_casts", dynamic_casts, 2666},
		{"virtual_calls", virtual_calls, 10000},
	};

	return plants_main(plants, sizeof(plants) / sizeof(*plants), argc, argv);
}
