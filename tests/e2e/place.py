"""place.py - a place among the tests of a build folder, for those in Python and in C."""
import contextlib
import fcntl
import os


@contextlib.contextmanager
def place_for(build, alone=False):
    """Wait for all of a build folder, or for a place beside others.  Who waits for all of it holds
    the door, so that nobody else goes in.  A program of tests that a test runs is in its place."""
    with contextlib.ExitStack() as stack:
        if os.access(build, os.W_OK) and os.environ.get("ASSAY_TEST_INSIDE") != build:
            door, lock = (stack.enter_context(open(os.path.join(build, name), "wb"))
                          for name in ("tests.door", "tests.lock"))
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            if not alone:
                fcntl.flock(door, fcntl.LOCK_UN)
            os.environ["ASSAY_TEST_INSIDE"] = build
            stack.callback(os.environ.pop, "ASSAY_TEST_INSIDE")
        yield
