#!/usr/bin/env python3
"""fit.py DIR - fit the weights of data/confidence.rules to the answers of calibrate.py in DIR.

    --ridge R    1: how strongly weights are held at 0 (a feature of standard deviation 1)
    --part PART  train: the programs whose answers are fitted to
    --rules FILE data/confidence.rules: whose limits are kept, and whose weights are judged

Prints how good the present weights are on both parts, the fitted ones with their standard errors,
how good these are on programs that they were not fitted to (each program left out once), and lines
for data/confidence.rules.  Look at `check` once, when you have decided.

The model is that of src/analyze/answer/confidence.c: a logistic sum, unknown features count as 0,
and no more than the least limit of a feature that is not 0.  Right is what truth.py calls right;
answers that claim nothing are passed over.  The rounds of one program are not independent: standard
errors are rather too small, which is why whole programs are left out."""
import argparse
import math
import os
import sys

import keep
from truth import HERE, PARTS, judge, programs

RULES = os.path.join(HERE, "..", "..", "data", "confidence.rules")
WORDS = ("high", "medium", "low")
BINS = (0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001)
OTHERS = ("intercept", "high", "medium")


class Rules:
    """The file: weights and limits by name, in its order."""

    def __init__(self, text):
        self.weights, self.most = {}, {}
        for line in text.splitlines():
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, weight, *most = line.split()
            self.weights[name] = float(weight)
            if most:
                self.most[name] = float(most[0])
        self.names = [name for name in self.weights if name not in OTHERS]

    def values(self, features):
        """The features in the order of the file; what is not known is 0."""
        if unknown := set(features) - set(self.names):
            raise ValueError(f"unknown feature '{sorted(unknown)[0]}'")
        return [features.get(name) or 0.0 for name in self.names]

    def limit(self, features):
        return min([1.0, *(most for name, most in self.most.items() if features.get(name))])

    def probability(self, features, weights=None):
        """`weights`: intercept first; None: those of the file."""
        weights = weights or [self.weights["intercept"], *map(self.weights.get, self.names)]
        total = weights[0] + sum(w * x for w, x in zip(weights[1:], self.values(features)))
        return min(self.limit(features), sigmoid(total))

    def word(self, probability):
        return next((word for word in WORDS[:2] if probability >= self.weights[word]), "low")


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def solve(matrix, right):
    """Gauss with pivots: the columns of `right` for a symmetric positive matrix."""
    count, rows = len(matrix), [row[:] + extra[:] for row, extra in zip(matrix, right)]
    for i in range(count):
        pivot = max(range(i, count), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(count):
            if k != i:
                part = rows[k][i] / rows[i][i]
                rows[k] = [a - part * b for a, b in zip(rows[k], rows[i])]
    return [[value / rows[i][i] for value in rows[i][count:]] for i in range(count)]


def scales_of(points):
    """The standard deviation of each feature; a constant one cannot be fitted: 0."""
    scales = []
    for column in zip(*points):
        mean = sum(column) / len(column)
        scales.append(math.sqrt(sum((x - mean) ** 2 for x in column) / len(column)))
    return scales


def newton(points, rights, ridge, steps=100):
    """Weights and the inverse of the curvature, by Newton's method; the intercept is free.  A step
    that makes it worse is halved."""
    count = len(points[0])
    weights = [0.0] * count

    def loss(at):
        return sum(math.log1p(math.exp(-abs(z))) + max(z, 0) - y * z for z, y in (
            (sum(w * x for w, x in zip(at, row)), y) for row, y in zip(points, rights))) + \
            ridge / 2 * sum(w * w for w in at[1:])

    for _ in range(steps):
        guesses = [sigmoid(sum(w * x for w, x in zip(weights, row))) for row in points]
        slope = [sum((p - y) * row[i] for p, y, row in zip(guesses, rights, points))
                 + ridge * weights[i] * (i > 0) for i in range(count)]
        curve = [[sum(p * (1 - p) * row[i] * row[k] for p, row in zip(guesses, points))
                  + (ridge if i == k and i else 1e-9 * (i == k)) for k in range(count)]
                 for i in range(count)]
        step = [row[0] for row in solve(curve, [[s] for s in slope])]
        size, before = 1.0, loss(weights)
        while size > 1e-6 and loss([w - size * s for w, s in zip(weights, step)]) > before:
            size /= 2
        weights = [w - size * s for w, s in zip(weights, step)]
        if max(abs(s) for s in step) < 1e-9:
            break
    unit = [[float(i == k) for k in range(count)] for i in range(count)]
    return weights, solve(curve, unit)


def fit(rules, rows, ridge):
    """Weights and standard errors, intercept first, of features as they are; None: the feature is
    the same in all rows, so its weight stays 0."""
    points = [rules.values(row["features"]) for row in rows]
    scales = scales_of(points)
    used = [i for i, scale in enumerate(scales) if scale > 1e-12]
    scaled = [[1.0, *(point[i] / scales[i] for i in used)] for point in points]
    found, spread = newton(scaled, [row["right"] for row in rows], ridge)
    weights = [found[0]] + [0.0] * len(scales)
    errors = [math.sqrt(spread[0][0])] + [None] * len(scales)
    for at, i in enumerate(used, 1):
        weights[i + 1] = found[at] / scales[i]
        errors[i + 1] = math.sqrt(spread[at][at]) / scales[i]
    return weights, errors


def rows_of(kept, truths):
    """Answers that claim something and have features, with whether they are right."""
    found, passed = [], 0
    for row in kept:
        truth = truths.get(row["program"])
        features = None if row["error"] else row["answer"].get("confidence_features")
        if not truth or not features or row["answer"]["kind"] != "change":
            passed += 1
            continue
        found.append({"program": row["program"], "part": truth.part, "features": features,
                      "right": float(judge(truth, row["answer"]) == "right")})
    return found, passed


def left_out(rules, rows, ridge):
    """The probability of each row by weights that were fitted to the other programs."""
    guesses = {}
    for program in sorted({row["program"] for row in rows}):
        others = [row for row in rows if row["program"] != program]
        weights, _ = fit(rules, others, ridge)
        for row in rows:
            if row["program"] == program:
                guesses[id(row)] = rules.probability(row["features"], weights)
    return [guesses[id(row)] for row in rows]


def log_loss(guesses, rights):
    total = sum(math.log(max(p if y else 1 - p, 1e-12)) for p, y in zip(guesses, rights))
    return -total / len(rights)


def reliability(rules, guesses, rights):
    """How often what was called so is right, by word and by probability."""
    yield "| called | answers | mean probability | right |\n|---|---|---|---|"
    for word in WORDS:
        yield line_of(word, [(p, y) for p, y in zip(guesses, rights) if rules.word(p) == word])
    for low, high in zip(BINS, BINS[1:]):
        yield line_of(f"{low:.1f} to {min(high, 1):.1f}",
                      [(p, y) for p, y in zip(guesses, rights) if low <= p < high])


def line_of(title, pairs):
    if not pairs:
        return f"| {title} | 0 | - | - |"
    return (f"| {title} | {len(pairs)} | {sum(p for p, _ in pairs) / len(pairs):.2f} | "
            f"{100 * sum(y for _, y in pairs) / len(pairs):.0f} % |")


def page_of(rules, title, guesses, rows):
    rights = [row["right"] for row in rows]
    share, count = sum(rights) / len(rights), len({row["program"] for row in rows})
    yield (f"## {title}\n\n{len(rows)} answers of {count} programs, {100 * share:.0f} % right; "
           f"log loss {log_loss(guesses, rights):.3f}, of always the same guess "
           f"{log_loss([share] * len(rights), rights):.3f}")
    yield "\n".join(reliability(rules, guesses, rights))


def report(rules, rows, part, ridge):
    parts = {name: [row for row in rows if row["part"] == name] for name in PARTS}
    for name, own in parts.items():
        if own:
            yield from page_of(rules, f"Present weights, `{name}`",
                               [rules.probability(row["features"]) for row in own], own)
    train = parts[part]
    if len({row["program"] for row in train}) < 2 or len({row["right"] for row in train}) < 2:
        yield f"Not fitted: `{part}` needs right and wrong answers of two programs or more."
        return
    weights, errors = fit(rules, train, ridge)
    yield from page_of(rules, f"Fitted to `{part}`, each program by the others",
                       left_out(rules, train, ridge), train)
    yield "\n".join([f"## Weights (ridge {ridge:g})\n",
                     "| feature | present | fitted | standard error |", "|---|---|---|---|"] + [
        f"| {name} | {rules.weights[name]:g} | {weight:.2f} | "
        f"{'constant' if error is None else f'{error:.2f}'} |"
        for name, weight, error in zip(["intercept", *rules.names], weights, errors)])
    yield "\n".join(["Lines for data/confidence.rules:\n", "```"] + [
        f"{name:<18} {weight:.2f}" + (f"   {rules.most[name]:g}" if name in rules.most else "")
        for name, weight in zip(["intercept", *rules.names], weights)] + ["```"])


def read_rules(path):
    with open(path, encoding="utf-8") as file:
        return Rules(file.read())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--ridge", type=float, default=1.0)
    parser.add_argument("--part", choices=PARTS, default="train")
    parser.add_argument("--rules", default=RULES)
    options = parser.parse_args()
    rows, passed = rows_of(keep.read(options.folder).values(),
                           {truth.name: truth for truth in programs()})
    if not rows:
        sys.exit("fit.py: no answer there has features; run calibrate.py with this assay")
    print(f"{len(rows)} answers; passed over, because they claim nothing or have no features: "
          f"{passed}\n")
    print("\n\n".join(report(read_rules(options.rules), rows, options.part, options.ridge)))


if __name__ == "__main__":
    main()
