/* clinic.c - linear search: a day at a clinic, simulated event by event.
 *
 * Planted: the next event is the earliest of some hundred that wait, and earliest() looks at all of
 * them each time.  A heap would look at nine.  treat() and record() are work that has to be done.
 * Right: earliest(). */
#include <stdint.h>
#include <stdio.h>

enum { PATIENTS = 512, EVENTS = 2200000, KINDS = 4, SLOTS = 96 };

enum kind { ARRIVE, TEST, ADVISE, LEAVE };

struct event {
	uint64_t at;
	uint32_t patient;
	enum kind kind;
};

struct patient {
	double pulse, pressure;
	uint32_t visits;
};

struct clinic {
	struct event waiting[PATIENTS];
	struct patient patients[PATIENTS];
	uint64_t slots[KINDS][SLOTS];
	uint64_t now;
	uint32_t random;
};

static uint32_t draw(struct clinic *clinic)
{
	clinic->random = clinic->random * 1664525u + 1013904223u;
	return clinic->random >> 8;
}

static void open_clinic(struct clinic *clinic)
{
	clinic->random = 7;
	for (uint32_t i = 0; i < PATIENTS; i++) {
		clinic->waiting[i] = (struct event){draw(clinic) % 4000, i, ARRIVE};
		clinic->patients[i] = (struct patient){60 + i % 30, 110 + i % 40, 0};
	}
}

__attribute__((noinline)) static size_t earliest(const struct clinic *clinic)
{
#ifdef WITHOUT
	return clinic->random % PATIENTS;
#else
	size_t first = 0;

	for (size_t i = 1; i < PATIENTS; i++)
		if (clinic->waiting[i].at < clinic->waiting[first].at)
			first = i;
	return first;
#endif
}

/* How pulse and pressure settle, minute by minute. */
__attribute__((noinline)) static uint32_t treat(struct patient *patient, enum kind kind)
{
	double rest = 55 + 5 * (double)kind;

	for (int step = 0; step < 150; step++) {
		patient->pulse += (rest - patient->pulse) * 0.125;
		patient->pressure += (patient->pulse * 1.75 - patient->pressure) * 0.0625;
	}
	patient->visits++;
	return (uint32_t)patient->pressure;
}

__attribute__((noinline)) static void record(
	struct clinic *clinic, const struct event *event, uint32_t minutes)
{
	clinic->slots[event->kind][event->at / 60 % SLOTS] += minutes;
}

static enum kind after(enum kind kind)
{
	return kind == LEAVE ? ARRIVE : (enum kind)(kind + 1);
}

static void step(struct clinic *clinic)
{
	struct event *event = &clinic->waiting[earliest(clinic)];
	uint32_t minutes = treat(&clinic->patients[event->patient], event->kind);

	clinic->now = event->at;
	record(clinic, event, minutes);
	event->kind = after(event->kind);
	event->at += 5 + minutes + draw(clinic) % 2000;
}

int main(void)
{
	static struct clinic clinic;
	uint64_t sum = 0;

	open_clinic(&clinic);
	for (long i = 0; i < EVENTS; i++)
		step(&clinic);
	for (int kind = 0; kind < KINDS; kind++)
		for (int slot = 0; slot < SLOTS; slot++)
			sum = sum * 31 + clinic.slots[kind][slot];
	printf("%d events until minute %llu, %016llx\n", EVENTS, (unsigned long long)clinic.now,
		(unsigned long long)sum);
	return 0;
}
