//! Messages about an index out of range, which Fortran and MATLAB rewrite to count from 1.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use purlin_header::root;

/// Messages with `0 to` that are not about an index: choices, degrees and numbers of things.
const NOT_INDICES: &[&str] = &[
    "src/base/choice.rs",
    "src/base/dtype.rs",
    "src/base/shape.rs",
    "src/fdk/plan.rs",
    "src/ffi/context.rs",
    "src/ffi/dlpack.rs",
    "src/ffi/symmetric.rs",
    "src/ffi/tensor.rs",
    "src/lanczos/options.rs",
    "src/spmv/filter.rs",
    "src/tt/operator/environments/apply.rs",
];

/// Calls of `index_in_list` whose argument is a variable, with its values.
const VARIABLES: &[(&str, &[&str])] = &[("src/base/matrix/sparse/transform.rs", &["rows", "cols"])];

/// The sources of the library without those of tests, as paths from the root and texts without test modules at their end.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&root().join("src"), &mut paths);
    let named = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    paths
        .iter()
        .map(|path| (named(path), fs::read_to_string(path).unwrap()))
        .filter(|(name, _)| !name.contains("/tests") && !name.ends_with("_tests.rs"))
        .map(|(name, text)| (name, text.split("\n#[cfg(test)]\nmod tests {").next().unwrap().to_owned()))
        .collect()
}

/// The strings of a list that begins behind `start` and ends with `end`.
fn list(file: &str, start: &str, end: &str, quote: char) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let from = text.find(start).unwrap_or_else(|| panic!("{file}: has no {start}")) + start.len();
    let body = &text[from..];
    body[..body.find(end).unwrap()].split(quote).skip(1).step_by(2).map(str::to_owned).collect()
}

/// The first argument of each call of `function`, as the source has it.
fn arguments<'a>(text: &'a str, function: &str) -> Vec<&'a str> {
    let call = format!("{function}(");
    let calls = text.split(&call).skip(1);
    calls.map(|rest| rest.split(',').next().unwrap().trim()).filter(|a| !a.starts_with("argument:")).collect()
}

/// The words before indices, by which other messages are rewritten.
#[test]
fn fortran_and_matlab_know_the_same_words() {
    let fortran = list("bindings/fortran/purlin_library.f90", "parameter :: words(", "]\n", '\'');
    let file = "bindings/matlab/src/errors.c";
    let singular = list(file, "const words[] = {", "}", '"');
    let plural = list(file, "const plurals[] = {", "}", '"');
    assert_eq!(fortran, singular.union(&plural).cloned().collect());
    let text = fs::read_to_string(root().join("bindings/fortran/purlin_library.f90")).unwrap();
    assert!(text.contains(&format!("singulars = {}\n", singular.len())) && !plural.is_empty());
}

#[test]
fn fortran_and_matlab_count_each_index_from_one() {
    let fortran = list("bindings/fortran/purlin_library.f90", "parameter :: forms(", "]", '\'');
    let matlab = list("bindings/matlab/src/errors.c", "const forms[] = {", "}", '"');
    assert_eq!(fortran, matlab);
    let mut found = BTreeSet::new();
    for (file, text) in sources() {
        for (function, form) in [
            ("index", "is %, outside 0 to %"),
            ("index_in_list", "element % is %, outside 0 to %"),
            ("index_in_tuple", "tuple %: element % is %, outside 0 to %"),
        ] {
            let calls =
                if file == "src/base/shape.rs" { Vec::new() } else { arguments(&text, &format!("shape::{function}")) };
            let variable = VARIABLES.iter().filter(|(f, _)| *f == file).flat_map(|(_, names)| names.iter().copied());
            let variable = variable.filter(|_| text.contains(&format!("{function}(argument")));
            for argument in calls.into_iter().map(|a| a.trim_matches('"')).chain(variable) {
                let form = format!("{argument}: {form}");
                assert!(fortran.contains(&form), "{file}: Fortran and MATLAB do not know \"{form}\"");
                found.insert(form);
            }
        }
        let is_other = NOT_INDICES.contains(&file.as_str());
        let said = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        let said: Vec<&str> = said.filter(|l| l.contains("outside 0 to")).collect();
        assert!(is_other || said.is_empty(), "{file}: shape::index is for indices: {said:?}");
    }
    let forms = fortran.iter().filter(|form| form.ends_with("outside 0 to %"));
    let idle: Vec<_> = forms.filter(|form| !found.contains(*form)).collect();
    assert!(idle.is_empty(), "no call says {idle:?}");
}
