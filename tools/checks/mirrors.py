"""Compares, name by name, what is written twice: include/purlin.h with the Fortran module's types and interfaces, and the
parameter structs of cuda/*_launch.h with their Rust mirrors. Two members of one size that change places leave every size and
the last offset as they were; here they show.

    python3 tools/checks/mirrors.py               compares the files
    python3 tools/checks/mirrors.py --self-test   also swaps members and arguments, each of which must be found
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A sum in Fortran is a line of Fortran.
NOT_IN_FORTRAN = {"purlin_graph_density_trace"}

# Names that differ: Fortran's generic `purlin_init` calls every struct `object`, and has `size` for an intrinsic function.
FORTRAN_NAMES = {
    "info": "object", "options": "object", "results": "object", "geometry": "object", "grid": "object",
    "size": "struct_size", "s": "values", "singular_values": "values", "explained_variance": "values",
    "explained_variance_ratio": "values", "location": "place",
}

# Structs that stay on the device, or that the host packs word by word.
NOT_IN_RUST = {
    "purlin_spmv_tile", "purlin_spmv_bin", "purlin_spmv_long", "purlin_spmv_unit", "purlin_tt_site", "purlin_tt_state",
    "purlin_tt_bond", "purlin_tt_bond_core", "purlin_tt_chain", "purlin_tt_ring_core", "purlin_tt_result", "purlin_tt_term",
}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", " ", text, flags=re.S))


# ---- the header ------------------------------------------------------------------------------------------------------------

C_KINDS = {
    "int32_t": "i4", "int64_t": "i8", "uint32_t": "i4", "uint64_t": "i8", "size_t": "size", "float": "r4", "double": "r8",
    "char": "char", "uint8_t": "i1", "void": "void", "int": "i4",
}


def header_aliases(text):
    """typedefs of integers, and of pointers to functions."""
    aliases = dict(C_KINDS)
    for kind, name in re.findall(r"typedef\s+(\w+)\s+(\w+)\s*;", text):
        if kind in aliases:
            aliases[name] = aliases[kind]
    for name in re.findall(r"typedef\s+[\w\s\*]+\(\s*\*\s*(\w+)\s*\)\s*\(", text):
        aliases[name] = "function"
    for name in re.findall(r"typedef\s+enum\s+(\w+)", text) + re.findall(r"enum\s+(\w+)\s*\{", text):
        aliases.setdefault(name, "i4")
    return aliases


def declarator(text, aliases):
    """(name, kind, length, stars) of `const struct x *name[3]`."""
    text = re.sub(r"\b(const|struct|enum)\b", " ", text).strip()
    match = re.fullmatch(r"(\w+)\s*((?:\*\s*)*)(\w*)\s*((?:\[[^\]]*\]\s*)*)", text)
    if not match:
        raise SystemExit(f"mirrors: cannot read {text!r}")
    base, stars, name, length = match.groups()
    lengths = tuple(re.findall(r"\[([^\]]*)\]", length))
    return name, aliases.get(base, base), lengths, stars.count("*")


def header_structs(text, aliases):
    structs = {}
    for body, name in re.findall(r"typedef\s+struct\s+\w*\s*\{([^{}]*)\}\s*(\w+)\s*;", text):
        structs[name] = members(body, aliases)
    for name, body in re.findall(r"\bstruct\s+(\w+)\s*\{([^{}]*)\}\s*;", text):
        structs.setdefault(name, members(body, aliases))
    return structs


def members(body, aliases):
    return [declarator(part, aliases) for part in (p.strip() for p in body.split(";")) if part]


def header_functions(text, aliases):
    functions = {}
    pattern = r"\b((?:const\s+)?\w+\s*\**)\s*\b(purlin_\w+)\s*\(([^()]*)\)\s*;"
    for result, name, arguments in re.findall(pattern, text):
        if "typedef" in result:
            continue
        parts = [p.strip() for p in arguments.split(",")]
        parts = [] if parts in ([""], ["void"]) else parts
        functions[name] = (declarator(result, aliases)[1::2], [declarator(p, aliases) for p in parts])
    return functions


# ---- Fortran ---------------------------------------------------------------------------------------------------------------

FORTRAN_KINDS = {
    "integer(c_int32_t)": "i4", "integer(c_int64_t)": "i8", "integer(c_size_t)": "size", "real(c_double)": "r8",
    "real(c_float)": "r4", "type(c_ptr)": "pointer", "type(c_funptr)": "function", "character(kind=c_char)": "char",
    "integer(c_intptr_t)": "i8", "integer(c_int8_t)": "i1",
}


def fortran_lines(text):
    """Statements: comments gone, continued lines joined."""
    text = re.sub(r"!.*", "", text)
    text = re.sub(r"&\s*\n\s*&?", " ", text)
    return [line.strip() for line in text.split("\n") if line.strip()]


def fortran_entities(line):
    """(kind, attributes, [(name, length)]) of a declaration."""
    left, right = line.split("::", 1)
    pieces = re.split(r",\s*(?![^()]*\))", left.strip())
    base = re.sub(r"\s", "", pieces[0]).lower()
    struct = re.fullmatch(r"type\((purlin_\w+)\)", base)
    kind = struct.group(1) if struct else FORTRAN_KINDS.get(base)
    if kind is None:
        raise SystemExit(f"mirrors: unknown Fortran type {base!r} in {line!r}")
    attributes = {re.sub(r"\s", "", p).lower() for p in pieces[1:]}
    entities = []
    for entity in re.split(r",\s*(?![^()]*\))", right):
        match = re.match(r"\s*(\w+)\s*(\([^)]*\))?", entity)
        entities.append((match.group(1).lower(), tuple(re.findall(r"[^(),\s]+", match.group(2) or ""))))
    return kind, attributes, entities


def fortran_structs(text):
    structs, current = {}, None
    for line in fortran_lines(text):
        begin = re.fullmatch(r"type\s*,\s*bind\(c\)\s*::\s*(\w+)", line, re.I)
        if begin:
            current = structs.setdefault(begin.group(1).lower(), [])
        elif re.match(r"end\s*type", line, re.I):
            current = None
        elif current is not None and "::" in line:
            kind, _, entities = fortran_entities(line)
            current.extend((name, kind, length) for name, length in entities)
    return structs


def fortran_functions(text):
    functions, current = {}, None
    for line in fortran_lines(text):
        begin = re.match(
            r"(?:function|subroutine)\s+(\w+)\s*\(([^)]*)\)\s*bind\(c\s*,\s*name\s*=\s*['\"](purlin_\w+)['\"]\s*\)"
            r"(?:\s*result\((\w+)\))?", line, re.I)
        if begin:
            arguments = [a.strip().lower() for a in begin.group(2).split(",") if a.strip()]
            current = (begin.group(3), arguments, (begin.group(4) or "").lower(), {})
        elif re.match(r"end\s*(function|subroutine)", line, re.I):
            if current:
                functions.setdefault(current[0], []).append(current[1:])
            current = None
        elif current is not None and "::" in line and not line.lower().startswith("import"):
            kind, attributes, entities = fortran_entities(line)
            for name, length in entities:
                current[3][name] = (kind, attributes, length)
    return functions


# ---- comparisons -----------------------------------------------------------------------------------------------------------

def member_kind(kind, stars):
    return "pointer" if stars else kind


def same_kind(c_kind, f_kind):
    return c_kind == f_kind or {c_kind, f_kind} == {"size", "i8"}


def compare_structs(header, fortran):
    wrong = []
    for name, c_members in header.items():
        f_members = fortran.get(name.lower())
        if f_members is None:
            if any(m[0] == "struct_size" for m in c_members) or name in ("purlin_tt_scaled",):
                wrong.append(f"{name}: is not in the Fortran module")
            continue
        for i in range(max(len(c_members), len(f_members))):
            c = c_members[i] if i < len(c_members) else None
            f = f_members[i] if i < len(f_members) else None
            if c is None or f is None:
                wrong.append(f"{name}: member {i} is {c and c[0]} in C and {f and f[0]} in Fortran")
                break
            kind = member_kind(c[1], c[3])
            if c[0].lower() != f[0] or not same_kind(kind, f[1]) or len(c[2]) != len(f[2]):
                wrong.append(f"{name}: member {i} is {c[0]} ({kind}{list(c[2])}) in C and {f[0]} ({f[1]}{list(f[2])}) in Fortran")
    for name in fortran:
        if name not in {n.lower() for n in header}:
            wrong.append(f"{name}: is in the Fortran module, not in the header")
    return wrong


def argument_fits(c, f):
    """Whether a Fortran dummy argument passes what a C parameter takes."""
    _, kind, lengths, stars = c
    f_kind, attributes, length = f
    by_value = "value" in attributes
    depth = stars + len(lengths)
    if kind == "function":
        return f_kind == "function" and by_value
    if depth == 0:
        return by_value and same_kind(kind, f_kind)
    if depth == 1:
        if by_value:
            return f_kind == "pointer"
        if kind == "void":
            return True
        return same_kind(kind, f_kind) or (kind == "char" and f_kind == "char")
    # A pointer to pointers: an array of addresses, or a place for one.
    return f_kind == "pointer"


def compare_functions(header, fortran):
    wrong, missing = [], []
    for name, (result, parameters) in header.items():
        found = fortran.get(name)
        if found is None:
            missing.append(name)
            if name not in NOT_IN_FORTRAN:
                wrong.append(f"{name}: has no interface in Fortran")
            continue
        for arguments, f_result, declared in found:
            names = [p[0].lower() for p in parameters]
            if len(arguments) != len(names):
                wrong.append(f"{name}: has {len(names)} parameters in C and {len(arguments)} in Fortran")
                continue
            for i, (c, f) in enumerate(zip(parameters, arguments)):
                if f not in (c[0].lower(), FORTRAN_NAMES.get(c[0])):
                    wrong.append(f"{name}: parameter {i} is {c[0]} in C and {f} in Fortran")
                elif f not in declared:
                    wrong.append(f"{name}: {f} is not declared in Fortran")
                elif not argument_fits(c, declared[f]):
                    wrong.append(f"{name}: {f} is {c[1]}{'*' * c[3]} in C and {declared[f]} in Fortran")
            kind = declared.get(f_result, (None,))[0]
            want = member_kind(result[0], result[1])
            if want == "void":
                if f_result:
                    wrong.append(f"{name}: has no result in C")
            elif kind is None or not same_kind(want, kind):
                wrong.append(f"{name}: gives {want} in C and {kind} in Fortran")
    for name in fortran:
        if name not in header:
            wrong.append(f"{name}: is in the Fortran module, not in the header")
    return wrong, missing


# ---- CUDA ------------------------------------------------------------------------------------------------------------------

RUST_KINDS = {"u64": "i8", "i64": "i8", "u32": "i4", "i32": "i4", "f64": "r8", "f32": "r4", "u8": "i1", "usize": "i8"}


def rust_members(body):
    body = re.sub(r"#\[[^\]]*\]", "", body)
    found = []
    for field, kind in re.findall(r"(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:\s*(\[[^\]]*\]|[\w:<>]+)\s*,?", body):
        array = re.fullmatch(r"\[\s*([\w:]+)\s*;\s*([^\]]*)\]", kind)
        found.append((field, (array.group(1) if array else kind), array.group(2).strip() if array else None))
    return found


def rust_mirrors(text):
    """Size constant -> (Rust name, members), of one file."""
    text = without_comments(text)
    structs = {n: rust_members(b) for n, b in re.findall(r"\bstruct\s+(\w+)\s*\{([^{}]*)\}", text)}
    mirrors = {}
    pattern = r"size_of::<(\w+)>\(\)\s*==\s*(?:\w+::)*size\(\s*(?:\w+::)*(\w+)\s*\)"
    for rust, constant in re.findall(pattern, text):
        if rust in structs:
            mirrors[constant] = (rust, structs[rust])
    for block in re.findall(r"parameters!\s*\{((?:[^{}]|\{[^{}]*\})*)\}", text):
        for rust, constant, body in re.findall(r"(\w+)\s+(\w+)\s*\{([^{}]*)\}", block):
            mirrors[constant] = (rust, rust_members(body))
    return mirrors


def compare_launch(structs, mirrors):
    wrong, compared = [], 0
    names = {c: r for c, (r, _) in mirrors.items()}
    for name, c_members in structs.items():
        constant = name.upper().removeprefix("PURLIN_") + "_BYTES"
        if name in NOT_IN_RUST:
            continue
        if constant not in mirrors:
            wrong.append(f"{name}: no Rust struct is compared with {constant}")
            continue
        rust, r_members = mirrors[constant]
        compared += 1
        for i in range(max(len(c_members), len(r_members))):
            c = c_members[i] if i < len(c_members) else None
            r = r_members[i] if i < len(r_members) else None
            if c is None or r is None:
                wrong.append(f"{name}: member {i} is {c and c[0]} in CUDA and {r and r[0]} in Rust's {rust}")
                break
            nested = names.get(c[1].upper().removeprefix("PURLIN_") + "_BYTES")
            kind = RUST_KINDS.get(r[1], r[1].split("::")[-1])
            same = kind == c[1] or (nested is not None and kind == nested)
            if c[0] != r[0] or not same or bool(c[2]) != (r[2] is not None):
                wrong.append(f"{name}: member {i} is {c[0]} ({c[1]}{list(c[2])}) in CUDA and {r[0]} ({r[1]}) in Rust's {rust}")
    return wrong, compared


# ---- all of it -------------------------------------------------------------------------------------------------------------

def main():
    text = without_comments((ROOT / "include/purlin.h").read_text())
    text = re.sub(r"^\s*#.*(?:\\\n.*)*", "", text, flags=re.M).replace("PURLIN_MUST_USE", "").replace("PURLIN_API", "")
    aliases = header_aliases(text)
    structs, functions = header_structs(text, aliases), header_functions(text, aliases)
    folder = ROOT / "bindings/fortran"
    fortran = "\n".join(p.read_text() for p in [*sorted(folder.glob("*.f90")), *sorted(folder.glob("generated/*.inc"))])
    f_structs, f_functions = fortran_structs(fortran), fortran_functions(fortran)
    launch = {}
    for path in sorted((ROOT / "cuda").glob("*_launch.h")):
        launch.update(header_structs(re.sub(r"^\s*#.*", "", without_comments(path.read_text()), flags=re.M), C_KINDS))
    mirrors = {}
    for path in sorted((ROOT / "src/backend/gpu").rglob("*.rs")):
        mirrors.update(rust_mirrors(path.read_text()))

    wrong = compare_structs(structs, f_structs)
    wrong_functions, missing = compare_functions(functions, f_functions)
    wrong_launch, compared = compare_launch(launch, mirrors)
    wrong += wrong_functions + wrong_launch
    both = sum(name.lower() in f_structs for name in structs)
    bound = len(functions) - len(missing)
    print(f"{both} structs and {bound} of {len(functions)} functions of the header in Fortran, {compared} structs in CUDA")
    for line in wrong:
        print(line)
    if min(both, bound, compared) == 0:
        wrong.append("nothing was compared")
    if "--self-test" in sys.argv and not wrong:
        wrong += self_test(structs, f_structs, functions, f_functions, launch, mirrors)
    return 1 if wrong else 0


def self_test(structs, f_structs, functions, f_functions, launch, mirrors):
    """Swaps every pair of neighbours; the comparison must find each."""
    missed, swaps = [], 0

    def swapped(items, i):
        return items[:i] + [items[i + 1], items[i]] + items[i + 2:]

    for name, items in f_structs.items():
        for i in range(len(items) - 1):
            swaps += 1
            if not compare_structs(structs, {**f_structs, name: swapped(items, i)}):
                missed.append(f"{name}: members {i} and {i + 1} changed places unseen")
    for name, found in f_functions.items():
        arguments, result, declared = found[0]
        for i in range(len(arguments) - 1):
            swaps += 1
            changed = {name: [(swapped(arguments, i), result, declared)]}
            if not compare_functions({name: functions[name]}, changed)[0]:
                missed.append(f"{name}: arguments {i} and {i + 1} changed places unseen")
    for constant, (rust, items) in mirrors.items():
        if "purlin_" + constant.lower().removesuffix("_bytes") not in launch:
            continue
        for i in range(len(items) - 1):
            swaps += 1
            if not compare_launch(launch, {**mirrors, constant: (rust, swapped(items, i))})[0]:
                missed.append(f"{rust}: members {i} and {i + 1} changed places unseen")
    print(f"{swaps} swaps, {len(missed)} unseen")
    for line in missed:
        print(line)
    return missed


if __name__ == "__main__":
    sys.exit(main())
