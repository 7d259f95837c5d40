//! One name, one type and one default for one thing, in all families.

use std::collections::{BTreeMap, BTreeSet};

use purlin_header::interface::{Type, Variable};
use purlin_header::words::{default, type_text, uses};
use purlin_header::{Interface, header, root};

/// Options that have no default of their own.
const WITHOUT: &[&str] = &["progress_user", "log_user", "lower", "upper"];

/// Names with different meanings or defaults, and the reasons.
const DIFFERENT: &[(&str, &str)] = &[
    ("basis", "of spherical harmonics in dwi; the size of the Krylov space in lanczos"),
    ("block", "pairs of a ring at a time in tt, which may choose; vectors of a block in lanczos, where 1 is no block"),
    ("center", "which means are subtracted in rsvd; whether, in pca, which does by default"),
    ("max_iterations", "of one start in sshopm and dwi, 0 to choose; of the whole method in rpca"),
    ("method", "each family names its own"),
    ("power_iterations", "of a single decomposition in rsvd; of one that the next iteration repeats in rpca"),
    ("progress", "its documentation in lanczos is longer"),
    ("scale", "whether columns are divided by their deviation in rsvd and pca; a factor in rpca"),
    ("sign", "each family names its own"),
    ("tolerance", "0 chooses by the number type; rpca has the one of the literature"),
    ("bytes", "of contractions a count of work, which is estimated"),
    ("converged", "whether in rsvd and rpca; how many pairs in lanczos"),
];

const ADDRESS: &str = "an address on a device is a number";
const OPERAND: &str = "an operand, of the type that the function is for";
const PLACE: &str = "a tensor, or a source or sink that stands for a larger one";

/// Arguments of one name with several types, without pointers and `const`, and the reasons.
const ARGUMENTS: &[(&str, &[&str], &str)] = &[
    ("a", &["purlin_matrix", "purlin_tensor"], OPERAND),
    (
        "alpha",
        &["double", "void"],
        "a factor, in spmv of the matrix's type; the diagonal of a tridiagonal matrix in lanczos",
    ),
    ("b", &["purlin_matrix", "purlin_tensor"], OPERAND),
    ("beta", &["double", "void"], "as alpha"),
    ("col_idx", &["uint64_t", "void"], ADDRESS),
    (
        "cols",
        &["int64_t", "purlin_tensor"],
        "a number or a list of columns; of purlin_matrix_scale a factor of each column",
    ),
    ("cores", &["uint64_t", "void"], ADDRESS),
    (
        "count",
        &["int32_t", "int64_t", "purlin_tensor"],
        "a number, of devices as in the driver; of dwi a number of each voxel",
    ),
    ("data", &["uint64_t", "void"], ADDRESS),
    ("destination", &["purlin_matrix", "purlin_tensor", "purlin_tt"], OPERAND),
    (
        "diagonal",
        &["double", "purlin_tensor"],
        "of a matrix; of a tridiagonal one the caller's array, as its other arguments",
    ),
    ("exponents", &["int64_t", "purlin_tensor"], "of the monomials of a packed tensor; of scaled numbers in tt"),
    (
        "first",
        &["double", "int64_t"],
        "a site in tt; first components of eigenvectors in purlin_tridiagonal_eigenvalues",
    ),
    ("last", &["double", "int64_t"], "as first"),
    ("low_rank", &["purlin_matrix", "purlin_sink"], PLACE),
    ("m", &["int64_t", "purlin_matrix"], "the matrix M of rpca, as in the literature; a size in lanczos"),
    ("mask", &["purlin_matrix", "purlin_tensor"], OPERAND),
    (
        "matrix",
        &["purlin_matrix", "purlin_tt_matrix"],
        "the object of functions named purlin_matrix_ and purlin_tt_matrix_",
    ),
    ("order", &["int64_t", "purlin_tensor"], "of a tensor; of the vertices of a graph in purlin_matrix_order"),
    ("out", &["purlin_matrix", "purlin_tensor"], OPERAND),
    ("points", &["double", "purlin_matrix", "purlin_tensor"], "in a space; of a quadrature in purlin_graph_density"),
    ("projections", &["purlin_source", "purlin_tensor"], PLACE),
    (
        "result",
        &["double", "purlin_tensor", "purlin_tt_scaled"],
        "a number, a number with an exponent, or one on a device",
    ),
    ("row_ptr", &["uint64_t", "void"], ADDRESS),
    ("rows", &["int64_t", "purlin_tensor"], "as cols"),
    ("scale", &["double", "purlin_tensor"], "a factor; the deviations that pca divides by"),
    ("source", &["purlin_matrix", "purlin_source", "purlin_tensor", "purlin_tt"], OPERAND),
    ("sparse", &["purlin_matrix", "purlin_sink"], PLACE),
    ("status", &["int32_t", "purlin_tensor"], "that a function returned; of dwi one of each voxel"),
    ("v", &["purlin_matrix", "purlin_tensor"], OPERAND),
    ("values", &["double", "purlin_tensor", "uint64_t", "void"], "of a sparse matrix as data; else results"),
    ("vectors", &["purlin_matrix", "purlin_tensor"], "of one matrix in lanczos; of a batch or a train else"),
    ("volume", &["purlin_sink", "purlin_tensor"], PLACE),
    ("weighted", &["int32_t", "purlin_tensor"], "projections in fdk; whether a file of edges has weights"),
    ("weights", &["double", "purlin_tensor"], "of signals in dwi; of points in graph"),
    ("x", &["purlin_matrix", "purlin_tensor", "purlin_tt"], OPERAND),
    ("y", &["purlin_matrix", "purlin_tensor", "purlin_tt"], OPERAND),
];

/// Words that are replaced by another word.
const INSTEAD: &[(&str, &str)] = &[
    ("tol", "tolerance"),
    ("eps", "tolerance"),
    ("maxiter", "max_iterations"),
    ("verbose", "log_level"),
    ("nthreads", "threads"),
    ("algorithm", "method"),
    ("seconds_total", "seconds"),
    ("order", "ordering"),
    ("contexts_count", "group"),
];

fn interface() -> Interface {
    Interface::parse(&header::text(&root()))
}

fn is_different(name: &str) -> bool {
    DIFFERENT.iter().any(|(n, _)| *n == name)
}

#[test]
fn each_option_says_its_default() {
    let interface = interface();
    for (name, places) in uses(&interface, "_options") {
        for (family, field) in places {
            let has = default(&field.doc).is_some() || WITHOUT.contains(&name) || is_different(name);
            assert!(has, "{family}_options.{name}: its documentation names no default: {}", field.doc);
        }
    }
}

#[test]
fn a_name_has_one_type_and_one_default() {
    let interface = interface();
    for end in ["_options", "_info"] {
        for (name, places) in uses(&interface, end) {
            if is_different(name) {
                continue;
            }
            let (first, of) = places[0];
            for (family, field) in &places {
                assert_eq!(type_text(&of.of), type_text(&field.of), "{first}{end} and {family}{end}: type of {name}");
                if end == "_options" {
                    assert_eq!(
                        default(&of.doc),
                        default(&field.doc),
                        "{first}{end} and {family}{end}: default of {name}"
                    );
                }
            }
        }
    }
}

/// A handle and its out-pointer, a number and a list of numbers are of one type.
#[test]
fn an_argument_has_one_type() {
    let interface = interface();
    let mut types: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for parameter in interface.functions.iter().flat_map(|f| &f.parameters) {
        let plain = Type { stars: 0, is_const: false, ..parameter.of.clone() };
        types.entry(&parameter.name).or_default().insert(type_text(&plain));
    }
    // Each family has structs of its own for them.
    types.retain(|name, _| !["options", "info"].contains(name));
    let mut wrong = Vec::new();
    for (name, found) in &types {
        let listed = ARGUMENTS.iter().find(|exception| exception.0 == *name).map(|exception| exception.1);
        if listed.map_or(found.len() > 1, |listed| !found.iter().eq(listed)) {
            wrong.push(format!("{name}: {found:?}, listed are {listed:?}"));
        }
    }
    assert!(wrong.is_empty(), "arguments of several types:\n{}", wrong.join("\n"));
    for (name, listed, _) in ARGUMENTS {
        assert!(types.contains_key(name) && listed.len() > 1, "{name}: is listed as an argument of several types");
    }
}

#[test]
fn exceptions_are_needed() {
    let interface = interface();
    let (options, infos) = (uses(&interface, "_options"), uses(&interface, "_info"));
    for (name, _) in DIFFERENT {
        let differ = [&options, &infos].iter().filter_map(|u| u.get(name)).any(|places| {
            let of = |(_, f): &(&str, &Variable)| (type_text(&f.of), default(&f.doc).map(String::from));
            places.iter().any(|p| of(p) != of(&places[0]))
        });
        assert!(differ, "{name}: is listed as different and is not");
    }
}

#[test]
fn one_word_stands_for_one_thing() {
    let interface = interface();
    for end in ["_options", "_info"] {
        for (name, places) in uses(&interface, end) {
            for (word, instead) in INSTEAD {
                assert!(name != *word, "{}{end}.{name}: the interface says {instead}", places[0].0);
            }
        }
    }
}
