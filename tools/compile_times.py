#!/usr/bin/env python3
"""Where a build spends its time: a compiler launcher that writes down the processor time of each object.

    export COMPILE_TIMES=/tmp/times.txt
    cmake -S . -B /tmp/timed -G Ninja -DCMAKE_CXX_COMPILER_LAUNCHER=$PWD/tools/compile_times.py
    time cmake --build /tmp/timed
    sort -rn $COMPILE_TIMES | head

Each line is: seconds (user and system), MiB of memory, object. It takes the place of ccache.
"""
import os
import resource
import subprocess
import sys


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    target = command[command.index("-o") + 1] if "-o" in command else "?"
    if "COMPILE_TIMES" in os.environ:
        with open(os.environ["COMPILE_TIMES"], "a", encoding="utf-8") as file:
            file.write(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss // 1024} {target}\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
