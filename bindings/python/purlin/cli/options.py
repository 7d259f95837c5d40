"""Options that commands share, and options that are the library's own, with its defaults."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from .. import Context, Group
from .._context import initialized
from .. import _structs
from .._options import WORDS
from .._progress import Bar, is_terminal
from .failures import Huge, StdoutFailure, Usage

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


# The largest number of the library's integers.
_MOST = 2**63 - 1


def _expected(found: re.Match[str]) -> str:
    return f": is {found[2]}, expected {'a number' if found[1] == 'number' else 'an integer'}"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        # Python before 3.14 takes -1e-3 for an option.
        self._negative_number_matcher = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^-(inf|nan)$")

    def error(self, message: str) -> NoReturn:
        """Ends the process with code 2."""
        text = re.sub(r"^argument (\S+): ", lambda found: f"{found[1].rpartition('/')[2]}: ", message)
        text = re.sub(r": invalid choice: ('[^']*') \(choose from (.*)\)$", r": is \1, expected one of \2", text)
        text = re.sub(r": invalid (whole|integer|number) value: (.*)$", _expected, text)
        self.exit(2, f"{self.prog}: error: {' '.join(text.split())} ({self.prog} --help has the options)\n")


def _plain(text: str) -> str:
    """The text of a number. Python takes 1_0 for 10, and digits of all scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return text


def number(text: str) -> float:
    """A number of floating point."""
    return float(_plain(text))


def integer(text: str) -> int:
    """An integer of any size."""
    return int(_plain(text))


def whole(text: str) -> int:
    """An integer; one that 64 bits do not hold as a `Huge`, so that the check of the option's own range refuses it."""
    value = integer(text)
    return value if -_MOST - 1 <= value <= _MOST else Huge.of(value)


def memory_size(text: str) -> int:
    """A number of bytes, such as 8GiB, 500MB or 1000000."""
    found = re.fullmatch(r"(\d{1,40}(?:\.\d{1,40})?)\s*([KMGT]?I?)B?", text.strip().upper(), re.ASCII)
    size = int(Fraction(found[1]) * _UNITS[found[2]]) if found and found[2] in _UNITS else 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"is {text!r}, expected a size of at least 1 byte such as 8GiB or 500MB")
    if size > _MOST:
        raise argparse.ArgumentTypeError(f"is {text!r}, expected at most {_MOST} bytes, which are less than 8388608TiB")
    return size


def device(text: str) -> tuple[str, list[int]]:
    """A backend, and the numbers of GPUs: auto, cpu, gpu, or numbers with commas."""
    if text in ("auto", "cpu"):
        return text, [0]
    if text == "gpu":
        return "cuda", [0]
    if not re.fullmatch(r"\d{1,4}(,\d{1,4})*", text):
        raise argparse.ArgumentTypeError(f"is {text!r}, expected auto, cpu, gpu, or numbers of GPUs such as 0 or 0,1")
    numbers = [int(word) for word in text.split(",")]
    if len(set(numbers)) != len(numbers):
        raise argparse.ArgumentTypeError(f"is {text!r}, which names a GPU twice")
    return "cuda", numbers


def command(
    commands: Any, name: str, run: Any, short: str, text: str, example: str, several: bool = True, output: bool = True
) -> Parser:
    """The parser of a command with the options that all have. `several` = several GPUs may share the work."""
    made: Parser = commands.add_parser(
        name,
        help=short,
        description=text,
        epilog="example:\n" + "\n".join(f"  {line}" for line in example.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.set_defaults(run=run, names={}, files={}, contents={}, memory=0, gpu_memory=0, several=several)
    common = made.add_argument_group("machine and messages")
    if output:
        common.add_argument("--force", action="store_true", help="replace output files that exist (default: refuse)")
        numbers = "numbers of GPUs with commas, which share the work" if several else "the number of a GPU"
        common.add_argument(
            "--device", type=device, default="auto", help=f"auto, cpu, gpu, or {numbers} (default: auto)"
        )
        common.add_argument(
            "--memory",
            type=memory_size,
            default=0,
            metavar="SIZE",
            help="limit of host memory, such as 8GiB (default: none)",
        )
        common.add_argument(
            "--gpu-memory",
            type=memory_size,
            default=0,
            metavar="SIZE",
            help="limit of memory of each GPU (default: none)",
        )
        common.add_argument("--threads", type=whole, default=0, metavar="N", help="threads of the CPU (default: all)")
    common.add_argument("--quiet", action="store_true", help="no progress bar and no summary (default: both)")
    common.add_argument("--debug", action="store_true", help="traceback of a failure (default: one line)")
    return made


@contextmanager
def machine(given: argparse.Namespace) -> Iterator[tuple[Context, dict[str, Any]]]:
    """The context of a command, and the option `group` where several GPUs share the work."""

    def log(_level: int, text: str) -> None:
        warn(given, text)

    backend, numbers = given.device
    if len(numbers) > 1 and not given.several:
        raise Usage(f"--device: names {len(numbers)} GPUs, this command uses one")
    given.names.update(
        host_memory_limit="--memory", device_memory_limit="--gpu-memory", device="--device", group="--device"
    )
    limits: dict[str, Any] = {"host_memory_limit": given.memory, "device_memory_limit": given.gpu_memory}
    with ExitStack() as stack:
        contexts = [
            stack.enter_context(
                Context(backend, device=number, threads=given.threads, log=log, log_level="warn", **limits)
            )
            for number in numbers
        ]
        options: dict[str, Any] = {}
        if len(contexts) > 1:
            options["group"] = stack.enter_context(Group(contexts))
        yield contexts[0], options


def bar(given: argparse.Namespace, measure: str | None = None) -> Bar:
    """A progress bar on a terminal's stderr; elsewhere, and with --quiet, one that draws nothing."""
    return Bar(f"purlin {given.command}", not given.quiet and is_terminal(), measure)


def warn(given: argparse.Namespace, text: str) -> None:
    """A line on stderr, with --quiet too."""
    print(f"purlin {given.command}: warning: {text}", file=sys.stderr)


def show(text: str) -> None:
    """Prints results."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StdoutFailure(f"stdout: cannot be written: {error.strerror}") from error


def say(given: argparse.Namespace, text: str) -> None:
    """A line of the summary."""
    if not given.quiet:
        show(text)


def _default(value: Any, words: dict[str, int] | None) -> str:
    if words is not None:
        return next(word for word, number in words.items() if number == value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def library_options(parser: Any, struct: str, options: Any, texts: dict[str, str]) -> None:
    """Declares options of the library by the names in `texts`, with the types of the class `options` and the defaults of
    the C struct. Those that are not given are None, so that the library's default acts."""
    name = "".join(word.capitalize() for word in struct.split("_"))
    raw = initialized(getattr(_structs, name), struct)
    # Of these alone: before Python 3.10 the types of others, as `str | PathLike`, are no expressions.
    own = {key: options.__annotations__[key] for key in texts}
    hints = get_type_hints(SimpleNamespace(__annotations__=own), vars(sys.modules[options.__module__]))
    words = WORDS[struct]
    for key, text in texts.items():
        option, hint = "--" + key.rstrip("_").replace("_", "-"), hints[key]
        found = getattr(raw, key.rstrip("_"))
        shown = _default(found, words.get(key))
        settings: dict[str, Any] = {
            "dest": key,
            "default": None,
            "help": f"{text} (default: {shown})".replace("%", "%%"),
        }
        if hint is bool:
            settings["help"] = f"{text} (default: {'yes' if found else 'no'})".replace("%", "%%")
            parser.add_argument(
                f"--no-{option[2:]}" if found else option, action="store_const", const=not found, **settings
            )
        elif get_origin(hint) is Literal:
            parser.add_argument(option, choices=get_args(hint), **settings)
        else:
            metavar = "N" if hint is int else "X"
            # A seed has all numbers of its type, which the message of a larger one says.
            kinds: dict[Any, Any] = {int: integer if key == "seed" else whole, float: number}
            parser.add_argument(option, type=kinds.get(hint, hint), metavar=metavar, **settings)


def chosen(given: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The options that were given, and the names of all for messages."""
    for name in names:
        given.names.setdefault(name.rstrip("_"), "--" + name.rstrip("_").replace("_", "-"))
        given.names.setdefault(name, given.names[name.rstrip("_")])
    return {name: getattr(given, name) for name in names if getattr(given, name) is not None}
