"""`assay flame`: an SVG that is well formed whatever the names, true to the report, and alive."""
import json
import os
import re
import shutil
import xml.etree.ElementTree as xml

import runs
from tap import assay, case, chance, main, run, skip

SVG = "{http://www.w3.org/2000/svg}"


def drawn(path, *words, **how):
    """The parsed SVG and the numbers inside it."""
    r = assay("flame", path, "-o", "flame.svg", *words, **how)
    assert r.status == 0, r
    root = xml.parse("flame.svg").getroot()
    data = [s for s in root.iter(SVG + "script") if s.get("type") == "application/json"]
    return root, json.loads(data[0].text)


def names_of(data):
    return ["all"] + [data["labels"][i]["name"] for i in data["label"][1:]]


def chains_of(data):
    """(names from the outside in, own samples) of each box that has any."""
    path, names = [], names_of(data)
    for depth, name, own in zip(data["depth"], names, data["a"]["selfSamples"]):
        path[depth:] = [name]
        if own:
            yield path[1:], own


def browser(script, budget_ms=3000):
    """The page's DOM after `script` ran in it, or skip."""
    chromium = shutil.which("chromium") or skip("chromium is not installed")
    with open("flame.svg", encoding="utf-8") as file:
        text = file.read()
    with open("act.svg", "w", encoding="utf-8") as file:
        file.write(text.replace("</svg>", "<script><![CDATA[setTimeout(() => {" + script +
                                "}, 50)]]></script></svg>"))
    r = run(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,700",
            "--user-data-dir=" + os.path.abspath("profile"),
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--virtual-time-budget={budget_ms}",
            "--dump-dom", "file://" + os.path.abspath("act.svg"))
    if "<svg" not in r.out:
        skip("chromium does not start here")
    return r.out


FIND = 'const box = (name) => [...document.querySelectorAll(".f")].find(' \
       '(g) => g.querySelector("text") && g.querySelector("text").textContent === name);'


@case("self and total of each function are the report's")
def _():
    path = runs.made(runs.MIXED)
    _, data = drawn(path)
    summary, rows = runs.reported(path)
    assert data["a"]["totalSamples"][0] == summary["total_samples"], data
    assert runs.tally(chains_of(data)) == rows, (data, rows)


@case("inverted, the boxes on the root are the self column")
def _():
    path = runs.made(runs.MIXED)
    _, data = drawn(path, "--inverted")
    _, rows = runs.reported(path)
    leaves = {n: t for d, n, t in zip(data["depth"], names_of(data), data["a"]["totalSamples"])
              if d == 1}
    assert leaves == {n: own for n, (own, _) in rows.items() if own}, (leaves, rows)


@case("the file stands alone: nothing is loaded, no box is outside")
def _():
    root, data = drawn(runs.made(runs.MIXED), "--width", "800")
    with open("flame.svg", encoding="utf-8") as file:
        links = set(re.findall(r"https?://[^\s\"'<)]+", file.read()))
    assert links == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}, links
    assert root.get("width") == "800" and data["fixed"] is True
    for rect in root.iter(SVG + "rect"):
        assert -0.01 <= float(rect.get("x")), rect.attrib
        assert float(rect.get("x")) + float(rect.get("width")) <= 780.01, rect.attrib


@case("an icicle hangs from the root, a flame stands on it")
def _():
    path = runs.made(runs.MIXED)
    tops = []
    for words in ([], ["--icicle"]):
        root, _ = drawn(path, *words)
        frames = [g for g in root.iter(SVG + "g") if g.get("class") == "frames"][0]
        box = {g.find(SVG + "text").text: float(g.find(SVG + "rect").get("y"))
               for g in frames if g.find(SVG + "text") is not None}
        tops.append(box["main"] - box["all"])
    assert tops[0] < 0 < tops[1], tops


@case("hostile names stay text: markup, entities, control characters, 64 kB")
def _():
    path = runs.made(runs.MIXED)
    evil = "</script></style>]]><script>alert(1)</script>&amp;\x01\u202e\"'"
    runs.rename(path, "lex", evil)
    runs.rename(path, "parse", "long" * 16384)
    runs.rename(path, "work", "nonchar \ufffe\uffff end")
    root, data = drawn(path, "--title", "<b>&\"title")
    kept = evil.replace("\x01", "\ufffd").replace("\u202e", "\ufffd")
    assert any(label["name"] == kept for label in data["labels"]), data["labels"]
    assert max(len(label["name"]) for label in data["labels"]) < 2100
    assert len(list(root.iter(SVG + "script"))) == 2
    assert os.path.getsize("flame.svg") < 200000


@case("bytes that are no UTF-8 do not break the file")
def _():
    path = runs.made("event cpu-clock ns\nthread 1 1 a\n5 main;\udcff\udcc0le\udce2\udc82af\n")
    _, data = drawn(path)
    assert names_of(data)[2] == "\ufffd\ufffdle\ufffd\ufffdaf", names_of(data)


@case("10,000 frames deep: cut with a word about it, or whole when asked")
def _():
    path = runs.made("event cpu-clock ns\nthread 1 1 a\n3 " + ";".join(["f"] * 10000) + "\n1 g\n")
    root, data = drawn(path)
    assert max(data["depth"]) == 1024 and data["a"]["totalSamples"][0] == 4
    assert any("more frames than shown" in (t.text or "") for t in root.iter(SVG + "text"))
    _, data = drawn(path, "--depth", "20000")
    assert max(data["depth"]) == 10000 and data["a"]["selfSamples"][10000] == 3


@case("a tree of 120,000 boxes is cut to a bound, and the cut is counted")
def _():
    lines = [f"{1 + i % 3} main;f{i % 300};g{i // 300};h" for i in range(60000)]
    path = runs.made("event cpu-clock ns\nthread 1 1 a\n" + "\n".join(lines) + "\n")
    d = runs.document("flame", path)["data"]
    assert d["boxes"] <= 100000 and d["boxes"] + d["boxes_left_out"] == 120302, d
    assert 0 < d["narrowest_share"] < 0.001 and d["total_samples"] == 120000, d
    assert d["bytes"] < 8 << 20, d
    r = assay("flame", path, "--min", "0.3")
    assert "boxes narrower than 0.3 % are omitted" in r.out, r
    root = xml.parse("assay.flame.svg").getroot()
    assert any("are omitted" in (t.text or "") for t in root.iter(SVG + "text"))


BEFORE = "event cpu-clock ns\nthread 1 1 a\n400 main;steady\n400 main;slow\n200 main;gone\n"
AFTER = "event cpu-clock ns\nthread 1 1 a\n800 main;steady\n200 main;slow\n1000 main;new\n"


@case("two runs: grown, shrunk, vanished and new are told apart from chance")
def _():
    a, b = runs.made(BEFORE, "a.assay"), runs.made(AFTER, "b.assay")
    _, data = drawn(a, "--diff", b)
    change = dict(zip(names_of(data), data["change"]))
    assert change["steady"] == 0 and change["all"] == 0 and change["main"] == 0, change
    assert change["slow"] == -4 and change["gone"] == -4 and change["new"] == 4, change
    assert data["a"]["whole"] == 1000 and data["b"]["whole"] == 2000, data
    both = list(zip(data["a"]["totalSamples"], data["b"]["totalSamples"]))
    assert both[names_of(data).index("gone")] == (200, 0), both
    assert both[names_of(data).index("new")] == (0, 1000), both


@case("a run compared with itself shows no change")
def _():
    path = runs.made(runs.MIXED)
    _, data = drawn(path, "--diff", path)
    assert set(data["change"]) == {0} and data["a"] == data["b"], data


@case("by line, a box is a line of a function")
def _():
    _, data = drawn(runs.made(runs.MIXED), "--by", "line")
    names = names_of(data)
    assert "prog.c:3 parse" in names and "prog.c:4 parse" in names, names


@case("filters are the report's, and --root starts at a function")
def _():
    path = runs.made(runs.MIXED)
    _, data = drawn(path, "--thread", "worker", "--root", "work")
    assert data["a"]["totalSamples"][0] == 20 and names_of(data)[1] == "work", data
    r = assay("flame", path, "--thread", "wroker")
    assert r.status == 2 and "did you mean 'worker'" in r.err, r


@case("what spoils the picture stands below it")
def _():
    root, _ = drawn(runs.made(runs.MIXED))
    words = " ".join(t.text or "" for t in root.iter(SVG + "text"))
    assert "4.8 % of the stacks are incomplete" in words and "inlined" in words, words


@case("--agent is short and ends with the next command; -o - is the SVG itself")
def _():
    path = runs.made(runs.MIXED)
    r = assay("flame", path, "--agent")
    assert r.status == 0 and r.out.isascii() and len(r.out.splitlines()) <= 40, r
    assert r.out.splitlines()[-1].startswith("next: assay report"), r
    r = assay("flame", path, "-o", "-")
    assert r.out.startswith("<?xml") and "83 samples" in r.err, r


@case("in a browser: search tells the share, once for recursion")
def _():
    drawn(runs.made(runs.MIXED))
    dom = browser('const i = document.querySelector("input"); i.value = "^(fib|lex)$";'
                  'i.dispatchEvent(new Event("input"));')
    assert re.search(r"<output[^>]*>matched 7\d\.\d % in 5 boxes</output>", dom), dom[-3000:]
    assert len(re.findall(r'class="f [^"]*hit', dom)) == 5, dom[-3000:]


@case("in a browser: a click zooms, Escape goes back, the mouse explains")
def _():
    drawn(runs.made(runs.MIXED))
    dom = browser(FIND + 'box("parse").dispatchEvent(new MouseEvent("click", {bubbles: true}));'
                  'const b = box("lex"), r = b.getBoundingClientRect();'
                  'b.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, '
                  'clientX: r.left + 5, clientY: r.top + 5}));')
    assert len(re.findall(r'class="f [^"]*above', dom)) == 2, dom[-3000:]
    assert "of this view" in dom and "prog.c:10 · inlined" in dom, dom[-3000:]
    dom = browser(FIND + 'box("parse").dispatchEvent(new MouseEvent("click", {bubbles: true}));'
                  'window.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));')
    assert "above" not in dom.split("<g class=\"frames", 1)[1].split("</g></g>")[0], dom[-3000:]


@case("in a browser: the keyboard alone reaches a box and zooms into it")
def _():
    drawn(runs.made(runs.MIXED))
    keys = "".join('f.dispatchEvent(new KeyboardEvent("keydown", {key: "%s", bubbles: true}));' % k
                   for k in ("ArrowUp", "ArrowUp", "Enter"))
    dom = browser('const f = document.querySelector(".frames"); f.focus();' + keys)
    status = re.search(r'role="status"[^>]*>([^<]*)<', dom)[1]
    assert status.startswith("work") and "100.0 % of this view" in status, status


@case("a tree with too many boxes to hold loses the narrowest, and is not told to be too deep")
def _():
    names = [f"f{i}" for i in range(90)]
    with open("many.folded", "w", encoding="ascii") as f:
        f.write("main;wide 200\n")
        for _ in range(115000):  # 4.5 million boxes: stacks that share next to nothing
            f.write(f"{';'.join(chance.choices(names, k=40))} 1\n")
        f.write("main;late 100\n")
    assert assay("import", "many.folded", "-o", "many.assay").status == 0
    r = assay("flame", "many.assay", "-o", "flame.svg", "--json=flame.json")
    assert r.status == 0 and "deeper than" not in r.out and " are omitted" in r.out, r
    with open("flame.json", encoding="utf-8") as file:
        d = json.load(file)["data"]
    assert d["samples_cut_at_depth"] == 0 and d["boxes_left_out"] > 100000, d
    _, data = drawn("many.assay")
    total = dict(zip(names_of(data), data["a"]["totalSamples"]))
    assert (total["wide"], total["late"]) == (200, 100) and total["main"] == 300, total


main()
