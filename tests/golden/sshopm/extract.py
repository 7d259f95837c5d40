#!/usr/bin/env python3
"""Writes the published eigenpairs as plain numbers, for programs that read no JSON.

For every tensor of `published_eigenpairs.json`, beside this file, `published_<order>_<dimension>_tensor.txt` holds the
packed entries on one line, and `published_<order>_<dimension>_pairs.txt` one pair a line: lambda, the unit vector, the
eigenvalues of the projected Hessian in ascending order, and how many of them are negative.
"""

import json
from pathlib import Path


def line(numbers: list[float]) -> str:
    """Numbers that read back to the same doubles."""
    return " ".join(f"{number:.17g}" for number in numbers) + "\n"


def main() -> None:
    folder = Path(__file__).parent
    for tensor in json.loads((folder / "published_eigenpairs.json").read_text()):
        stem = f"published_{tensor['m']}_{tensor['n']}"
        (folder / f"{stem}_tensor.txt").write_text(line(tensor["packed_lex"]))
        rows = []
        for pair in sorted(tensor["eigenpairs"], key=lambda p: -p["lambda"]):
            hessian = sorted(pair["hess_eigs"])
            negative = sum(value < 0 for value in hessian)
            rows.append(line([pair["lambda"], *pair["x"], *hessian])[:-1] + f" {negative}\n")
        (folder / f"{stem}_pairs.txt").write_text("".join(rows))


if __name__ == "__main__":
    main()
