"""Swaps two fields of a struct in abidw's output. The comparison of ABIs must report this change, or it does not work.

    abi_reorder.py FROM TO STRUCT
"""

import sys
import xml.etree.ElementTree as ElementTree


def main(source: str, destination: str, struct: str) -> None:
    tree = ElementTree.parse(source)
    places = [
        member
        for declaration in tree.iter("class-decl")
        if declaration.get("name") == struct
        for member in declaration.iter("data-member")
    ]
    if len(places) < 3:
        sys.exit(f"{source} has no fields of {struct}")
    # The second and the last: the first is the struct's size.
    offset = "layout-offset-in-bits"
    a, b = places[1], places[-1]
    a.attrib[offset], b.attrib[offset] = b.attrib[offset], a.attrib[offset]
    tree.write(destination, encoding="unicode")


if __name__ == "__main__":
    main(*sys.argv[1:4])
