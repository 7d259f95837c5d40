"""Checks the built site: links.py FOLDER

Each link and picture of each page has a file and, with an anchor, an element of that name; nothing is loaded from a
network; each page can be reached from index.html; no sign of Markdown is left in the text. Pages of Doxygen and rustdoc,
which check their own, are only pointed to. Standard library only.
"""

from __future__ import annotations

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOREIGN = ("api/",)
CODE = {"code", "pre", "script", "style"}
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}
# Rows for readers that only search engines and the theme use.
RELATIONS = {"canonical", "next", "prev"}


# Signs of Markdown that stay visible where Python's Markdown did not understand them.
UNREAD = re.compile(r"\\[<*_\[\]|`]|`|\]\(")


class Page(HTMLParser):
    """The anchors of a page, its links, the files that it loads, and its text outside of code that is unread Markdown."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.unread: list[str] = []
        self._code = 0
        self.feed(text)

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in CODE

    def handle_data(self, data: str) -> None:
        if not self._code and UNREAD.search(data):
            self.unread.append(data.strip())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._code += tag in CODE
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in LOADED:
                self.loads.append(value)
        if tag == "link" and not RELATIONS & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def main() -> None:
    folder = Path(sys.argv[1])
    pages = {str(p.relative_to(folder)): Page(p.read_text(errors="replace")) for p in folder.rglob("*.html") if not str(p.relative_to(folder)).startswith(FOREIGN)}
    foreign: dict[str, set[str]] = {}
    wrong: list[str] = []
    reached, waiting, links = {"index.html", "404.html"}, ["index.html"], 0
    followed: dict[str, set[str]] = {}
    for name, page in pages.items():
        followed[name] = set()
        wrong += [f"{name}: Markdown that is shown as text: {text[:120]!r}" for text in page.unread]
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    wrong.append(f"{name}: loads {link} from a network")
                continue
            links += 1
            if name == "404.html":
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            path = "index.html" if path == "." else path
            if not (folder / path).is_file():
                wrong.append(f"{name}: {link}: there is no such file")
                continue
            followed[name].add(path)
            anchor = unquote(parts.fragment)
            if anchor and path.endswith(".html") and not anchor.startswith("__"):
                if path not in pages and path not in foreign:
                    foreign[path] = Page((folder / path).read_text(errors="replace")).anchors
                if anchor not in (pages[path].anchors if path in pages else foreign[path]):
                    wrong.append(f"{name}: {link}: there is no such anchor")
    while waiting:
        for path in followed.get(waiting.pop(), ()):
            if path not in reached:
                reached.add(path)
                waiting.append(path)
    wrong += [f"{name}: no page leads to it" for name in sorted(set(pages) - reached)]
    if len(pages) < 20 or links < 1000:
        wrong.append(f"{folder}: only {len(pages)} pages with {links} links")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(pages)} pages, {links} links")


if __name__ == "__main__":
    main()
