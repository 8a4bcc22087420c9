"""What the tests of the program share."""
import os
import subprocess

MINFER = os.environ["MINFER"]
DATA = os.environ["MINFER_TEST_DATA_DIR"]
# Generous: a test on a busy machine must not fail for its slowness.
TIMEOUT_S = int(os.environ.get("MINFER_TEST_TIMEOUT_S", "240"))


def minfer(*arguments, env=None):
    """Runs to the end; stdout and stderr as bytes."""
    environment = dict(os.environ, **(env or {}))
    return subprocess.run([MINFER, *map(str, arguments)], capture_output=True, env=environment, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL)


def write_ids(path, prompts):
    with open(path, "w") as file:
        for ids in prompts:
            file.write(" ".join(map(str, ids)) + "\n")
