/* survey.cc - bad locality: the answers of many people to many questions, year by year.
 *
 * Planted: a person's answers are next to each other in memory, and column_means() goes from person
 * to person for one question after the other: each answer is in another cache line, and the table
 * is larger than the caches.  Person by person, with a sum for each question, it is read once.
 * Right: column_means().  Wrong: the two passes in the order of the memory. */
#include <cstdint>
#include <cstdio>
#include <vector>

namespace
{

class Survey
{
      public:
	Survey(std::size_t rows, std::size_t columns)
	    : people(rows), questions(columns), answers(rows * columns)
	{
		std::uint32_t random = 3;

		for (auto &answer : answers) {
			random = random * 1664525u + 1013904223u;
			answer = static_cast<float>(random >> 24) / 256;
		}
	}

	[[gnu::noinline]] std::vector<float> column_means() const
	{
		std::vector<float> means(questions);

#ifndef WITHOUT
		for (std::size_t question = 0; question < questions; question++) {
			float sum = 0;
			for (std::size_t person = 0; person < people; person++)
				sum += answers[person * questions + question];
			means[question] = sum / static_cast<float>(people);
		}
#endif
		return means;
	}

	/* The answers drift towards what most people say. */
	[[gnu::noinline]] void next_year(const std::vector<float> &means)
	{
		for (std::size_t person = 0; person < people; person++) {
			float *row = &answers[person * questions];
			for (std::size_t question = 0; question < questions; question++)
				row[question] += (means[question] - row[question]) * 0.03125f;
		}
	}

	/* How many people are far from the means, by the sum of the squares. */
	[[gnu::noinline]] long outsiders(const std::vector<float> &means) const
	{
		long found = 0;

		for (std::size_t person = 0; person < people; person++) {
			const float *row = &answers[person * questions];
			float distance = 0;
			for (std::size_t question = 0; question < questions; question++) {
				float away = row[question] - means[question];
				distance += away * away;
			}
			found += distance > 42.0f;
		}
		return found;
	}

      private:
	std::size_t people, questions;
	std::vector<float> answers;
};

} // namespace

int main()
{
	constexpr int years = 18;
	Survey survey(40000, 512);
	long outsiders = 0;
	float first = 0;

	for (int year = 0; year < years; year++) {
		const auto means = survey.column_means();
		outsiders += survey.outsiders(means);
		survey.next_year(means);
		first = means[0];
	}
	std::printf("%d years, %ld outsiders, mean %.4f\n", years, outsiders,
		static_cast<double>(first));
}
