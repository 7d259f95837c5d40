"""Circles of calls between the C files of the MATLAB gateway: there is none.

    python3 tools/checks/gateway.py     checks the gateway, and first itself: a planted circle must be found
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IGNORED = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
FUNCTION = re.compile(r"^(?!static\b)[A-Za-z_][\w \*]*?\b([a-z_0-9]+)\([^;{]*\)\s*\{", re.M)


def circles(files: dict[str, str]) -> list[str]:
    """The calls of files that call each other, directly or by way of others, a line each."""
    texts = {name: IGNORED.sub("", text) for name, text in files.items()}
    owners = {function: name for name, text in texts.items() for function in FUNCTION.findall(text)}
    calls: dict[str, dict[str, set[str]]] = {name: {} for name in texts}
    for name, text in texts.items():
        for word in set(re.findall(r"\b[a-z_0-9]+\b", text)) & set(owners):
            if owners[word] != name:
                calls[name].setdefault(owners[word], set()).add(word)
    reach: dict[str, set[str]] = {}
    for name in texts:
        reach[name], found = set(), [name]
        while found:
            new = set(calls[found.pop()]) - reach[name]
            reach[name] |= new
            found += new
    return [
        f"{name} calls {', '.join(sorted(words))} of {other}, which needs {name}"
        for name in sorted(texts)
        for other, words in sorted(calls[name].items())
        if name in reach[other]
    ]


def main() -> int:
    planted = {"a.c": "int a(void) {\n  return b();\n}\n", "b.c": "int b(void) {\n  return c();\n}\n", "c.c": "int c(void) {\n  return a();\n}\n"}
    straight = planted | {"c.c": 'int c(void) {\n  return 0; /* a() */\n}\nstatic const char *text = "a";\n'}
    problems = circles({file.name: file.read_text() for file in sorted((ROOT / "bindings/matlab/src").glob("*.c"))})
    if len(circles(planted)) != 3 or circles(straight):
        problems.append("self-test: a circle of three files is not found, or one that is not there is")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
