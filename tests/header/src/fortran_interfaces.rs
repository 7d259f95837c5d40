//! Interfaces of the header's functions in Fortran: the files that the modules `purlin_c*` include, and the
//! initializers that `purlin_library` includes.
//!
//! How an argument is passed follows from its C type, from whether its documentation speaks of NULL, and from the number
//! of elements that the function's `@pre` states for it (`passing`); the tables below have the exceptions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::fortran::{Declarations, interoperable, statement};
use crate::interface::{Function, Kind, Type, Variable};
use crate::{Generated, Interface};

/// Modules by the beginnings of the functions' names without `purlin_`; the longest beginning counts. Functions `x_...`
/// of a family that is not listed are in the module `purlin_c_x`.
const MODULES: &[(&str, &str)] = &[
    ("version", "purlin_c"),
    ("build_info", "purlin_c"),
    ("status_string", "purlin_c"),
    ("last_error_message", "purlin_c"),
    ("live_handles", "purlin_c"),
    ("device_", "purlin_c"),
    ("context_", "purlin_c"),
    ("stream_", "purlin_c"),
    ("group_", "purlin_c"),
    ("tensor_", "purlin_c"),
    ("matrix_create", "purlin_c"),
    ("matrix_borrow", "purlin_c"),
    ("matrix_copy", "purlin_c"),
    ("matrix_info_init", "purlin_c"),
    ("matrix_properties", "purlin_c"),
    ("matrix_destroy", "purlin_c"),
    ("symmetric_", "purlin_c"),
    ("sshopm_", "purlin_c"),
    ("dwi_", "purlin_c"),
    ("array_", "purlin_c_blocks"),
    ("source_", "purlin_c_blocks"),
    ("sink_", "purlin_c_blocks"),
    ("fdk_", "purlin_c_blocks"),
    ("matrix_from_source", "purlin_c_rsvd"),
    ("matrix_from_operator", "purlin_c_rsvd"),
    ("rsvd_", "purlin_c_rsvd"),
    ("pca_", "purlin_c_rsvd"),
    ("rpca_", "purlin_c_rsvd"),
    ("matrix_", "purlin_c_spectra"),
    ("matrix_copy_to", "purlin_c_spectra"),
    ("spmv_", "purlin_c_spectra"),
    ("lanczos_", "purlin_c_spectra"),
    ("tridiagonal_", "purlin_c_spectra"),
    ("graph_", "purlin_c_spectra"),
    ("tt_", "purlin_c_tt"),
    ("tt_norm_enqueue", "purlin_c_tt_enqueue"),
    ("tt_distance_enqueue", "purlin_c_tt_enqueue"),
    ("tt_sandwich_enqueue", "purlin_c_tt_enqueue"),
    ("tt_rayleigh_enqueue", "purlin_c_tt_enqueue"),
    ("tt_plan_", "purlin_c_tt_plan"),
    ("tt_inner_once", "purlin_c_tt_once"),
    ("tt_norm_once", "purlin_c_tt_once"),
    ("tt_distance_once", "purlin_c_tt_once"),
];

/// A sum in Fortran is a line of Fortran.
const NOT_IN_FORTRAN: &[&str] = &["purlin_graph_density_trace"];

/// Dummy arguments of other names than in C. `s` is the result of every function.
const NAMES: &[(&str, &str, &str)] = &[
    ("purlin_rsvd_compute", "s", "values"),
    ("purlin_rsvd_compute_once", "s", "values"),
    ("purlin_rsvd_error", "s", "values"),
    ("purlin_rsvd_residuals", "s", "values"),
    ("purlin_pca_singular_values", "singular_values", "values"),
    ("purlin_pca_explained_variance", "explained_variance", "values"),
    ("purlin_pca_explained_variance_ratio", "explained_variance_ratio", "values"),
    ("purlin_matrix_copy_to", "location", "place"),
];

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    /// A number, or the address of an object, of text or of memory.
    Value,
    /// A pointer as an address, which may be null or that of an array.
    Address,
    /// One variable that is read.
    In,
    /// One variable that is read, or is absent.
    OptionalIn,
    /// One variable that is written; `intent(inout)`, because a refused call leaves it as it was.
    InOut,
    /// One variable that is written, or is absent.
    OptionalInOut,
    /// One variable that every call writes, even if it fails.
    Out,
    /// An array that is read.
    ListIn,
    /// An array that is written.
    ListInOut,
}

/// Arguments that are not passed as [`rule`] states.
const EXCEPTIONS: &[(&str, &str, Passing)] = &[
    // Documented elsewhere: that NULL is allowed, or that it is not.
    ("purlin_device_properties", "info", Passing::OptionalInOut),
    ("purlin_context_properties", "info", Passing::OptionalInOut),
    ("purlin_tensor_properties", "info", Passing::OptionalInOut),
    ("purlin_matrix_properties", "info", Passing::OptionalInOut),
    ("purlin_lanczos_tridiagonalize", "count", Passing::OptionalInOut),
    ("purlin_lanczos_cullum_willoughby", "count", Passing::OptionalInOut),
    ("purlin_graph_density", "count", Passing::OptionalInOut),
    ("purlin_sshopm_solve_all", "results", Passing::In),
    ("purlin_tt_sandwich_enqueue", "info", Passing::InOut),
    ("purlin_tt_svd", "modes", Passing::ListIn),
    ("purlin_tt_matrix_heisenberg", "couplings", Passing::ListIn),
    // Arrays that may be absent, or that are passed as addresses.
    ("purlin_tensor_shape", "dims", Passing::Address),
    ("purlin_tensor_shape", "strides", Passing::Address),
    ("purlin_tt_environments_shape", "dims", Passing::Address),
    ("purlin_tt_environments_shape", "dtype", Passing::Address),
    ("purlin_lanczos_tridiagonalize", "alpha", Passing::Address),
    ("purlin_lanczos_tridiagonalize", "beta", Passing::Address),
    ("purlin_lanczos_cullum_willoughby", "alpha", Passing::Address),
    ("purlin_lanczos_cullum_willoughby", "beta", Passing::Address),
    ("purlin_lanczos_cullum_willoughby", "accepted", Passing::Address),
    ("purlin_tridiagonal_eigenvalues", "diagonal", Passing::Address),
    ("purlin_tridiagonal_eigenvalues", "off", Passing::Address),
    ("purlin_tridiagonal_eigenvalues", "values", Passing::Address),
    ("purlin_tridiagonal_eigenvalues", "first", Passing::Address),
    ("purlin_tridiagonal_eigenvalues", "last", Passing::Address),
    // Written in any case.
    ("purlin_rsvd_error", "frobenius", Passing::Out),
    ("purlin_fdk_log_transform", "clamped", Passing::Out),
];

/// Whether the caller has an array for a result and not one variable; `None` if the documentation does not say it.
///
/// The `@pre` of the function says "`x` is NULL or valid for writing" for one variable, and "`x` and `y` are NULL or valid
/// for `m` elements, `z` for `n`" for arrays.
fn is_written_array(function: &Function, parameter: &str) -> Option<bool> {
    let promises = function.doc.split("@pre").nth(1)?.split_whitespace().collect::<Vec<_>>().join(" ");
    let after = promises.split(&format!("`{parameter}`")).nth(1)?;
    let length = after.split_once(" for ")?.1;
    Some(!length.starts_with("writing"))
}

/// How a parameter is passed unless it is in [`EXCEPTIONS`].
fn rule(function: &Function, parameter: &Variable) -> Passing {
    let Type { kind, stars, is_const, .. } = &parameter.of;
    let is_nullable = parameter.is_nullable();
    if is_written_number(&parameter.of) && is_written_array(function, &parameter.name) == Some(true) {
        return if is_nullable { Passing::Address } else { Passing::ListInOut };
    }
    match (stars, kind, is_const, is_nullable) {
        (0, ..) => Passing::Value,
        (1, Kind::Void | Kind::Char | Kind::Object(_), ..) => Passing::Address,
        (1, Kind::Struct(_), true, false) => Passing::In,
        (1, Kind::Struct(_), true, true) => Passing::OptionalIn,
        (1, _, true, true) => Passing::Address,
        (1, _, true, false) => Passing::ListIn,
        (1, _, false, false) => Passing::InOut,
        (1, _, false, true) => Passing::OptionalInOut,
        // Addresses: of one object, or of many; a list of texts is passed as an address of addresses.
        (_, Kind::Char, ..) | (.., true) => Passing::Address,
        (.., true, false) => Passing::ListIn,
        (.., false, false) => Passing::InOut,
    }
}

/// A pointer to numbers that the function may write.
fn is_written_number(of: &Type) -> bool {
    of.stars == 1 && !of.is_const && !matches!(of.kind, Kind::Void | Kind::Char | Kind::Object(_) | Kind::Struct(_))
}

fn exception(function: &Function, parameter: &Variable) -> Option<Passing> {
    EXCEPTIONS.iter().find(|e| e.0 == function.name && e.1 == parameter.name).map(|e| e.2)
}

fn passing(function: &Function, parameter: &Variable) -> Passing {
    exception(function, parameter).unwrap_or_else(|| rule(function, parameter))
}

/// Type with attributes, name with bounds, and the name to import.
fn dummy(passing: Passing, of: &Type, name: String) -> (String, String, String) {
    if matches!(passing, Passing::Value | Passing::Address) {
        let (of, import) = interoperable(of);
        return (format!("{of}, value"), name, import.to_owned());
    }
    // The type that the pointer points to.
    let (base, import) = match &of.kind {
        Kind::Struct(name) => (format!("type({name})"), name.clone()),
        _ => {
            let (base, import) = interoperable(&Type { stars: of.stars - 1, ..of.clone() });
            (base, import.to_owned())
        }
    };
    let (attributes, bounds) = match passing {
        Passing::In => ("intent(in)", ""),
        Passing::OptionalIn => ("intent(in), optional", ""),
        Passing::InOut => ("intent(inout)", ""),
        Passing::OptionalInOut => ("intent(inout), optional", ""),
        Passing::Out => ("intent(out)", ""),
        Passing::ListIn => ("intent(in)", "(*)"),
        _ => ("intent(inout)", "(*)"),
    };
    (format!("{base}, {attributes}"), format!("{name}{bounds}"), import)
}

/// The dummy argument's name. `purlin_init`, which is generic, has the same names for every struct.
fn name(function: &Function, at: usize) -> String {
    let name = &function.parameters[at].name;
    if function.name.ends_with("_init") && !uses_names_of_c(&function.name) {
        return ["object", "struct_size"][at].to_owned();
    }
    let other = NAMES.iter().find(|n| n.0 == function.name && n.1 == name);
    other.map_or_else(|| name.clone(), |n| n.2.to_owned())
}

fn uses_names_of_c(init: &str) -> bool {
    init.starts_with("purlin_spmv_") || init.starts_with("purlin_lanczos_")
}

fn write_interface(out: &mut String, function: &Function) {
    let mut declarations = Declarations::default();
    let mut imports = BTreeSet::new();
    let mut names = Vec::new();
    for (at, parameter) in function.parameters.iter().enumerate() {
        let name = name(function, at);
        names.push(name.clone());
        let (of, name, import) = dummy(passing(function, parameter), &parameter.of, name);
        declarations.add(of, name);
        imports.insert(import);
    }
    let (of, import) = interoperable(&function.result);
    imports.insert(import.to_owned());
    declarations.add(of, "s".to_owned());
    let short = function.name.trim_start_matches("purlin_");
    let names = names.join(", ");
    statement(out, 4, &format!("function c_{short}({names}) bind(c, name='{}') result(s)", function.name));
    statement(out, 6, &format!("import :: {}", imports.into_iter().collect::<Vec<_>>().join(", ")));
    declarations.write(out, 6);
    out.push_str("    end function\n");
}

/// The module of a function.
fn module(function: &str) -> String {
    let short = function.trim_start_matches("purlin_");
    let fits = MODULES.iter().filter(|m| short.starts_with(m.0));
    let family = short.split('_').next().unwrap_or(short);
    fits.max_by_key(|m| m.0.len()).map_or_else(|| format!("purlin_c_{family}"), |m| m.1.to_owned())
}

/// The procedures of the generic `purlin_init`: their names, and their bodies.
fn initializers(interface: &Interface) -> [String; 2] {
    let note = "! The initializers of the structs of purlin.h. Generated by tests/header: do not edit.\n";
    let (mut names, mut bodies) = (Vec::new(), note.to_owned());
    for function in interface.functions.iter().filter(|f| f.name.ends_with("_init")) {
        let of = function.name.trim_start_matches("purlin_").trim_end_matches("_init");
        names.push(format!("init_{of}"));
        let _ = write!(
            bodies,
            "\n  subroutine init_{of}(object)\n    type(purlin_{of}), intent(inout) :: object\n    \
             call initialized(c_{of}_init(object, c_sizeof(object)))\n  end subroutine\n"
        );
    }
    let mut generic = note.to_owned();
    statement(&mut generic, 4, &format!("module procedure {}", names.join(", ")));
    [generic, bodies]
}

/// The files `generated/purlin_c*.inc` and `generated/purlin_init*.inc`.
pub fn files(interface: &Interface) -> Vec<Generated> {
    let is_bound = |f: &&Function| !NOT_IN_FORTRAN.contains(&f.name.as_str());
    let all = interface.functions.iter().filter(is_bound).map(|f| module(&f.name));
    let modules: BTreeSet<_> = all.chain(MODULES.iter().map(|m| m.1.to_owned())).collect();
    let write = |of: &String| {
        let mut text = String::from("! Functions of purlin.h. Generated by tests/header: do not edit.\n");
        for function in interface.functions.iter().filter(is_bound) {
            if module(&function.name) == *of {
                write_interface(&mut text, function);
            }
        }
        Generated::new(format!("bindings/fortran/generated/{of}.inc"), text)
    };
    let [generic, bodies] = initializers(interface);
    let mut files: Vec<_> = modules.iter().map(write).collect();
    files.push(Generated::new("bindings/fortran/generated/purlin_init_generic.inc", generic));
    files.push(Generated::new("bindings/fortran/generated/purlin_init.inc", bodies));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    #[test]
    fn arguments_are_passed_as_their_types_say() {
        let interface = Interface::parse(
            "typedef struct purlin_tensor purlin_tensor;
             typedef struct purlin_info { size_t struct_size; } purlin_info;
             /**
              * @param a the tensor.
              * @param dims the sizes.
              * @param strides NULL for packed.
              * @param options NULL for defaults.
              * @param[out] made the new tensor.
              * @param[out] count the number.
              * @param[out] info report; may be NULL.
              */
             int32_t purlin_make(const struct purlin_tensor *a, double factor, const int64_t *dims, \
             const int64_t *strides, const struct purlin_info *options, struct purlin_tensor **made, int64_t *count, \
             struct purlin_info *info);",
        );
        let mut text = String::new();
        write_interface(&mut text, &interface.functions[0]);
        assert_eq!(
            text,
            "    function c_make(a, factor, dims, strides, options, made, count, info) bind(c, name='purlin_make') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr, purlin_info
      type(c_ptr), value :: a, strides
      real(c_double), value :: factor
      integer(c_int64_t), intent(in) :: dims(*)
      type(purlin_info), intent(in), optional :: options
      type(c_ptr), intent(inout) :: made
      integer(c_int64_t), intent(inout) :: count
      type(purlin_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
"
        );
    }

    #[test]
    fn every_initializer_is_a_procedure_of_the_generic_one() {
        let text = "typedef struct purlin_a_info { size_t struct_size; } purlin_a_info;
            int32_t purlin_a_info_init(struct purlin_a_info *info, size_t size);
            int32_t purlin_a_info_show(const struct purlin_a_info *info);";
        let [generic, bodies] = initializers(&Interface::parse(text));
        assert!(generic.ends_with("\n    module procedure init_a_info\n"), "{generic}");
        let body = "  subroutine init_a_info(object)\n    type(purlin_a_info), intent(inout) :: object\n    \
                    call initialized(c_a_info_init(object, c_sizeof(object)))\n  end subroutine\n";
        assert!(bodies.ends_with(body), "{bodies}");
    }

    #[test]
    fn the_longest_beginning_names_the_module() {
        assert_eq!(module("purlin_matrix_copy"), "purlin_c");
        assert_eq!(module("purlin_matrix_copy_to"), "purlin_c_spectra");
        assert_eq!(module("purlin_tt_inner"), "purlin_c_tt");
        assert_eq!(module("purlin_tt_plan_norm"), "purlin_c_tt_plan");
        assert_eq!(module("purlin_novel_compute"), "purlin_c_novel");
    }

    /// One variable of Fortran for a result of several numbers would have the library overwrite the caller's memory.
    #[test]
    fn how_many_numbers_a_call_writes_is_documented() {
        let interface = Interface::parse(&header::text(&root()));
        for function in interface.functions.iter().filter(|f| !NOT_IN_FORTRAN.contains(&f.name.as_str())) {
            for parameter in function.parameters.iter().filter(|p| is_written_number(&p.of)) {
                let known =
                    exception(function, parameter).is_some() || is_written_array(function, &parameter.name).is_some();
                let (function, name) = (&function.name, &parameter.name);
                assert!(
                    known,
                    "{function}: # Safety says for `{name}` neither \"valid for writing\" nor \"valid for n elements\""
                );
            }
        }
    }

    #[test]
    fn the_promises_of_a_function_decide_between_a_variable_and_an_array() {
        let text = |promises: &str| {
            format!(
                "/**
                  * @param[out] one a number.
                  * @param[out] pair real and imaginary part.
                  * @param[out] many n numbers; may be NULL.
                  * @return the status.
                  *
                  * @pre {promises}
                  */
                 int32_t purlin_make(double *one, double *pair, double *many);"
            )
        };
        let passed = |promises: &str| {
            let interface = Interface::parse(&text(promises));
            let function = &interface.functions[0];
            function.parameters.iter().map(|p| passing(function, p)).collect::<Vec<_>>()
        };
        assert_eq!(
            passed("`one` is NULL or valid for writing, `pair` NULL or valid\n* for 2 elements, `many` for `n`."),
            [Passing::InOut, Passing::ListInOut, Passing::Address]
        );
        assert_eq!(
            passed("`pair` and `many` are NULL or valid for `n` elements; `one` is NULL or valid for writing."),
            [Passing::InOut, Passing::ListInOut, Passing::Address]
        );
        let unknown = Interface::parse(&text("The arrays are valid."));
        assert_eq!(is_written_array(&unknown.functions[0], "pair"), None);
    }

    #[test]
    fn every_exception_is_needed() {
        let interface = Interface::parse(&header::text(&root()));
        let parameter = |function: &str, name: &str| {
            let function = interface.functions.iter().find(|f| f.name == function);
            let found = function.and_then(|f| f.parameters.iter().find(|p| p.name == name).map(|p| (f, p)));
            found.unwrap_or_else(|| panic!("{name} is in the header"))
        };
        for (name, argument, passing) in EXCEPTIONS {
            let (function, found) = parameter(name, argument);
            assert_ne!(rule(function, found), *passing, "{name}, {argument}: the rule says so already");
        }
        for (function, name, _) in NAMES {
            parameter(function, name);
        }
        for name in NOT_IN_FORTRAN {
            assert!(interface.functions.iter().any(|f| f.name == *name), "{name} is in the header");
        }
    }
}
