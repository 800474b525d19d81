"""truth.py - the programs of the calibration: which there are, what is true of each, and what an
answer about one is worth.

truth.txt has the form of the table and the rule for the parts.  Nothing here runs anything but a
compiler."""
import os
import sys
from dataclasses import dataclass, field
from typing import Optional

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "mainjob"), os.path.dirname(HERE)]
from truth_table import NO_BLAME, TRUTH, built, plain, program_of, rows_of, truths  # noqa: E402

PARTS = ("train", "check")
TABLE = os.path.join(HERE, "truth.txt")
# What an answer is worth: judge().
OUTCOMES = ("right", "one_away", "wrong", "missed", "too_noisy", "not_measured")
# What a compiler needs to be told to omit the work of the place.
WITHOUT = {".c": ["-DWITHOUT"], ".cc": ["-DWITHOUT"], ".rs": ["--cfg", "without"],
           ".go": ["-ldflags", "-X main.without=yes"]}


@dataclass
class Truth:
    """One program.  `which`: the set it is of; `place` None: none is first; `causes`: the
    explanations that are true of it, None: nobody wrote them down; `same_gain`: the names for which
    `gain` holds; `gain` None: not known; `clean`: nothing is planted."""
    name: str
    which: str
    part: str
    place: Optional[str]
    right: set
    near: set = field(default_factory=set)
    never: set = field(default_factory=set)
    causes: Optional[set] = None
    same_gain: set = field(default_factory=set)
    gain: Optional[float] = None
    clean: bool = False

    @property
    def short(self):
        """Its name on the command line: without directory and ending."""
        return os.path.splitext(os.path.basename(self.name))[0]

    def path(self, build, without=False):
        """The built program, or the one without the work of the place.  None: no compiler."""
        if self.which != "calibration":
            return program_of(build, self.which, self.name)
        name, kind = os.path.splitext(self.name)
        made = os.path.join(build, "bench", "calibration", name + without * "-without")
        return built(os.path.join(HERE, "programs", self.name), made,
                     WITHOUT[kind] if without else ())


def names(text):
    return {word.lstrip("=") for word in text.split(",") if word not in ("", "-")}


def own(program, part, place, also, near, never, gain):
    same = {word[1:] for word in also.split(",") if word.startswith("=")}
    is_clean = gain == "-"
    return Truth(program, "calibration", part, None if place == "-" else place,
                 names(place) | names(also), names(near), names(never),
                 set() if is_clean else None, same | names(place),
                 None if is_clean else float(gain), is_clean)


def referred(which, clean, begin):
    """The programs of another table; `begin` is how many other tables had before it."""
    for number, (program, supported, first, never) in enumerate(truths(TRUTH[which]), begin):
        yield Truth(program, which, PARTS[number % 2], first[0] if first[0] != "*" else None,
                    names(",".join(first)), never=names(",".join(never)),
                    causes=names(",".join(supported)), clean=program in names(clean))


def programs():
    """All of them, in the order of truth.txt."""
    begin = 0
    for row in rows_of(TABLE):
        if row[0].startswith("@"):
            found = list(referred(row[0][1:], row[1], begin))
            begin += len(found)
            yield from found
        else:
            yield own(*row)


def said_of(answer):
    """What an answer names: the function, or the explanation when it is not about a place."""
    return plain(answer.get("function")) or answer.get("hypothesis") or answer["kind"]


def judge(truth, answer):
    """What the first answer (`answer` of `assay run --json`) is worth, one of OUTCOMES.

    right         it names the place or what the table has as also right (*: any function); or it
                  names no place but a true explanation (own threads without a CPU); or nothing
                  stands out, and nothing is planted
    one_away      it names what the table has as one call away
    wrong         it names anything else; the names under `never` always
    missed        nothing stands out, where something is planted
    too_noisy, not_measured    it says so: neither right nor wrong, in a clean program too

    Only the place is judged here; the explanation is reason()'s.  ValueError: a kind of answer that
    is not known here."""
    kind = answer["kind"]
    if kind in ("too_noisy", "not_measured"):
        return kind
    if kind == "nothing_stands_out":
        return "right" if truth.clean else "missed"
    if kind != "change":
        raise ValueError(f"unknown kind of answer '{kind}'")
    said = plain(answer.get("function"))
    if not said:
        return "right" if answer.get("hypothesis") in (truth.causes or ()) else "wrong"
    if said in truth.never:
        return "wrong"
    if "*" in truth.right or said in truth.right:
        return "right"
    return "one_away" if said in truth.near else "wrong"


def reason(truth, answer):
    """Whether the explanation of an answer is true: `right`, `none` (it gives none, or only where
    and how noisy), `blame` (it gives one, and none is true) or `another`.  None: nobody wrote down
    which explanations are true of the program."""
    if truth.causes is None:
        return None
    said = answer.get("hypothesis")
    if said is None or said in NO_BLAME:
        return "none"
    if not truth.causes:
        return "blame"
    return "right" if said in truth.causes else "another"
