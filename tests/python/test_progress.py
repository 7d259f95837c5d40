"""`progress=True`: a bar on a terminal, tqdm's where it is installed, and one line elsewhere."""

from __future__ import annotations

import fcntl
import importlib.util
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap
from pathlib import Path

import numpy as np
import pytest

import purlin
from purlin import rsvd
from purlin._progress import Bar, ProgressLine

PROGRAM = textwrap.dedent(
    """
    import numpy as np
    import purlin
    rng = np.random.default_rng(0)
    frames = np.outer(rng.standard_normal(60), rng.standard_normal(40)) + (rng.random((60, 40)) < 0.05)
    with purlin.Context("cpu", threads=1) as context:
        purlin.rpca.compute(frames, progress=True, context=context)
    """
)

TQDM = textwrap.dedent(
    """
    class tqdm:
        def __init__(self, desc, file, leave, total):
            self.file, self.leave = file, leave
            self.file.write(f"<{desc} {leave}>")
        def set_postfix_str(self, text):
            self.file.write(f"<{self.n} of {self.total} {text}>")
        def close(self):
            self.file.write("<closed>")
    """
)


def on_terminal(program: str, **environment: str) -> str:
    """What a program writes to stderr on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    settings = {name: value for name, value in {**os.environ, **environment}.items() if name not in ("COLUMNS", "LINES")}
    running = subprocess.Popen(
        [sys.executable, "-c", program], stderr=theirs, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=settings
    )
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 4096):
            text += piece
    except OSError:
        pass  # Linux's answer when the other end is closed
    os.close(ours)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0 and out == b"", text.decode()
    return text.decode()


def with_module(folder: Path, text: str) -> str:
    """PYTHONPATH with a module `tqdm` of this text first."""
    (folder / "tqdm.py").write_text(text)
    return paths(folder)


def paths(folder: Path) -> str:
    """PYTHONPATH with a folder first."""
    return f"{folder}:{os.environ.get('PYTHONPATH', '')}"


def test_a_plain_bar_stays_on_a_terminal(tmp_path: Path) -> None:
    text = on_terminal(PROGRAM, PYTHONPATH=with_module(tmp_path, "raise ImportError\n"))
    drawn = re.findall(r"\rpurlin \[[#.]{10,40}\] +\d+ %(?: \d\.\d\de[-+]\d\d)?\033\[K", text)
    assert drawn and text.endswith("\r\n") and text.count("\n") == 1
    assert "".join(drawn) == text[: -len("\r\n")]


def test_tqdm_draws_the_bar_where_it_is_installed(tmp_path: Path) -> None:
    text = on_terminal(PROGRAM, PYTHONPATH=with_module(tmp_path, TQDM))
    assert re.fullmatch(r"<purlin True>(<\d+ of \d+ (?:\d\.\d\de[-+]\d\d)?>)+<closed>", text), text


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="needs tqdm")
def test_the_bar_of_tqdm_itself() -> None:
    text = on_terminal(PROGRAM)
    assert re.search(r"purlin: +\d+%\|", text) and text.endswith("\r\n")


def test_a_pipe_gets_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == ""
    # The call converges long before its last step.
    assert re.fullmatch(r"purlin: ended, at most 1000 steps, \S+\n", done.stderr), done.stderr


def test_the_line_of_other_calls_has_the_last_step(capsys: pytest.CaptureFixture[str]) -> None:
    for step, of_rpca in ((90, False), (12, True)):
        line = ProgressLine(of_rpca)
        line(step, 90, 0.0)
        line.finish()
        assert capsys.readouterr().err == f"purlin: step {step} of 90\n"


def test_a_call_that_reports_nothing_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    ProgressLine().finish()
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_last_step_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    line = ProgressLine()
    for step in range(100):
        line(step, 1000, 0.5)
    line.finish()
    text = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert text.rpartition("\r")[2] == "purlin [" + "#" * 3 + "." * 37 + "]  10 % 5.00e-01\033[K\n"
    # A bar that is removed leaves nothing.
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar("a", True) as bar:
        bar(1, 2, 0.0)
    assert sys.stderr.getvalue().endswith("\r\033[K")  # type: ignore[attr-defined]


class Full(Terminal):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


class Broken(Terminal):
    def write(self, text: str) -> int:
        raise RuntimeError("no")


class Plain:
    """A logger that stands for stderr: it has what `print` needs."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_a_terminal_that_cannot_be_written_ends_nothing(cpu: purlin.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    closed = Terminal()
    closed.close()
    mute = Plain()
    mute.flush = None  # type: ignore[assignment, method-assign]
    for stream in (Full(), Broken(), closed, mute, object(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        assert rsvd.compute(np.eye(5), 2, progress=True, context=cpu).s.shape == (2,)


def test_a_stream_without_isatty_gets_one_line(cpu: purlin.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Plain()
    monkeypatch.setattr(sys, "stderr", stream)
    rsvd.compute(np.eye(5), 2, progress=True, context=cpu)
    assert re.fullmatch(r"purlin: step (\d+) of \1\n", stream.text), stream.text


@pytest.mark.parametrize(
    "text", ["", "tqdm = None", "raise RuntimeError('no')", "raise SyntaxError", "def tqdm(**_): raise OSError"]
)
def test_a_tqdm_that_does_not_work_ends_nothing(text: str, tmp_path: Path) -> None:
    shown = on_terminal(PROGRAM, PYTHONPATH=with_module(tmp_path, f"{text}\n"))
    assert ("purlin [" in shown) == (not text.startswith("def")), shown


def test_a_folder_named_tqdm_is_none(tmp_path: Path) -> None:
    (tmp_path / "tqdm").mkdir()
    program = "import sys\nsys.path = [path for path in sys.path if 'site-packages' not in path]\n"
    shown = on_terminal(PROGRAM.replace("import purlin\n", "import purlin\n" + program), PYTHONPATH=paths(tmp_path))
    assert "purlin [" in shown


def test_the_command_draws_nothing_without_stderr(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(9))
    command = [sys.executable, "-m", "purlin", "svd", str(tmp_path / "a.npy"), "--rank", "2"]
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command], stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_a_bar_is_left_where_the_call_fails(tmp_path: Path) -> None:
    program = PROGRAM.replace("progress=True", "progress=True, max_iterations=3").replace(
        "    purlin.rpca", "    with contextlib.suppress(purlin.NoConvergence):\n        purlin.rpca"
    )
    text = on_terminal("import contextlib\n" + program, PYTHONPATH=with_module(tmp_path, "raise ImportError\n"))
    assert "purlin [" in text and text.endswith("\r\n")
