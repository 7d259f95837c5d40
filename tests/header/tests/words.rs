//! One name, one type and one default for one thing, in all families.

use purlin_header::interface::Variable;
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
