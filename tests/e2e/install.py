"""`make install`: what is installed works from where it was put."""
import glob
import os
import re

from tap import BUILD, case, commands, main, run


def install(folder):
    r = run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", env={"DESTDIR": folder})
    assert r.status == 0, r
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            found.setdefault(name, os.path.join(top, name))
    return found


@case("the installed program runs and is the one that was built")
def _():
    install(os.path.abspath("there"))
    (program,) = glob.glob("there/**/bin/assay", recursive=True)
    r = run(os.path.abspath(program), "--version")
    assert r.status == 0 and r.out == run(os.path.join(BUILD, "assay"), "--version").out, r


@case("each command has a man page, and each shell its completions, where they are looked for")
def _():
    folder = os.path.abspath("there")
    files = install(folder)
    for name in ["assay.1", *(f"assay-{command}.1" for command in commands())]:
        assert re.search(r"/share/man/man1/", files[name]), name
        with open(files[name], encoding="utf-8") as page:
            assert page.read().startswith(".TH ASSAY"), name
    for path in ("bash-completion/completions/assay", "zsh/site-functions/_assay",
                 "fish/vendor_completions.d/assay.fish"):
        prefix = files["assay.1"].split("/share/")[0]
        assert os.path.getsize(f"{prefix}/share/{path}") > 500, path


@case("nothing but the product is installed")
def _():
    folder = os.path.abspath("there")
    wrong = [path for path in install(folder).values()
             if re.search(r"\.part$|/tests?/|/examples/|\.a$", path[len(folder):])]
    assert not wrong, wrong


main()
