"""Writes a C file that defines every function the header declares, with nothing inside.

Compiled with debug information it has the ABI of the library: the header is generated from the library's source,
and another check compares the names of both. It compiles in a second, the library in minutes.
"""

import re
import sys

# At the start of a line, no `typedef`, up to the semicolon: a declaration of one function.
DECLARATION = re.compile(r"^(?!typedef)(\w[\w\s*]*?\bpurlin_\w+\s*\([^;{}]*\));", re.MULTILINE)


def main(source: str, destination: str) -> None:
    with open(source) as file:
        preprocessed = file.read()
    attribute = "__attribute__((warn_unused_result))"
    text, count = DECLARATION.subn(r"\1 { __builtin_trap(); }", preprocessed.replace(attribute, ""))
    if count == 0:
        sys.exit(f"{source} declares no function")
    with open(destination, "w") as file:
        file.write(text)
    print(f"{count} functions")


if __name__ == "__main__":
    main(*sys.argv[1:])
