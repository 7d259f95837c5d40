//! Which options a call has in Python and MATLAB: all of a struct, or some of it.
//!
//! A family `x` has the class `XOptions` of all options of `purlin_x_options`, unless `listed` has classes of that struct.

use std::path::Path;

use crate::interface::{Kind, Struct, Variable};
use crate::words::first_sentence;
use crate::{Interface, conversions, families};

/// The fields of a class of keyword options.
enum Fields {
    /// All fields but these.
    But(&'static [&'static str]),
    /// These fields alone, in the struct's order.
    Only(&'static [&'static str]),
    /// Those of a struct of the core: the file under `src` and the struct; but these.
    Core(&'static str, &'static str, &'static [&'static str]),
}

use Fields::{But, Core, Only};

/// A class of keyword options.
pub struct Keywords {
    /// Name of the class in Python.
    pub name: String,
    /// The struct of C without `purlin_`.
    pub of: String,
    /// The classes that it extends in Python.
    pub base: &'static str,
    doc: String,
    fields: Fields,
}

const LEFT_OUT: &str = "those left out keep the library's defaults.";

/// Classes that do not have all options of a struct, or that document more than the struct.
fn listed() -> Vec<Keywords> {
    let class = |name: &str, of: &str, base, doc: &str, fields| Keywords {
        name: name.to_owned(),
        of: of.to_owned(),
        base,
        doc: doc.to_owned(),
        fields,
    };
    vec![
        class("SshopmOptions", "sshopm_options", "", "Options of `solve`;", But(&["starts", "max_starts"])),
        class(
            "SolverOptions",
            "sshopm_options",
            "SshopmOptions",
            "Options of `Sshopm`, each call of which refuses those that only the other uses; `max_starts` belongs to `solve_all`.",
            Only(&["starts", "max_starts"]),
        ),
        class(
            "AllOptions",
            "sshopm_options",
            "",
            "Options of `solve_all`;",
            Only(&[
                "sign",
                "max_iterations",
                "starts",
                "max_starts",
                "seed",
                "tolerance",
                "merge_angle",
                "merge_value",
                "degeneracy_tolerance",
            ]),
        ),
        class("FitOptions", "dwi_options", "", "Options of `fit`;", Core("dwi/options.rs", "FitOptions", &[])),
        class("CsaOptions", "dwi_options", "", "Options of `csa`;", Core("dwi/options.rs", "CsaOptions", &[])),
        class(
            "PeaksOptions",
            "dwi_options",
            "",
            "Options of `peaks`;",
            Core("dwi/options.rs", "PeaksOptions", &["basis"]),
        ),
        class(
            "DwiOptions",
            "dwi_options",
            "FitOptions, CsaOptions, PeaksOptions",
            "Options of `Dwi`, each call of which refuses those that only others use; `basis` belongs to `peaks`.",
            Only(&["basis"]),
        ),
        class("FdkOptions", "fdk_options", "", "Options of a reconstruction;", But(&[])),
        class(
            "CommonOptions",
            "rsvd_options",
            "",
            "Options of a decomposition and of a PCA;",
            But(&["rank", "right", "center", "scale"]),
        ),
        class(
            "RsvdOptions",
            "rsvd_options",
            "CommonOptions",
            "Options of a decomposition.",
            Only(&["center", "scale"]),
        ),
        class(
            "RpcaOptions",
            "rpca_options",
            "",
            "Options of a separation; `lambda_` is the C option `lambda`;",
            But(&[]),
        ),
        class("TrainOptions", "tt_contraction_options", "", "Options of a contraction;", But(&[])),
        class("SpmvOptions", "spmv_options", "", "Options of a plan of products;", But(&[])),
        class(
            "LanczosOptions",
            "lanczos_options",
            "",
            "Options of a solve, as in the C struct `purlin_lanczos_options`;",
            But(&["count", "which"]),
        ),
    ]
}

/// All classes of keyword options, a class after those it extends.
pub fn keywords(interface: &Interface, root: &Path) -> Vec<Keywords> {
    let mut all = listed();
    for (short, _) in families::structs(interface, root, "options") {
        if all.iter().all(|keywords| keywords.of != short) {
            let sentence = first_sentence(&structure(interface, &short).doc);
            let doc = format!("{};", sentence.trim_end_matches('.'));
            all.push(Keywords { name: families::class(&short), of: short, base: "", doc, fields: But(&[]) });
        }
    }
    all
}

/// A struct of the header.
pub fn structure<'a>(interface: &'a Interface, short: &str) -> &'a Struct {
    interface.structure(&format!("purlin_{short}")).unwrap_or_else(|| panic!("purlin_{short}: is not in the header"))
}

/// Fields that are options or figures: not the size, reserved members, or functions with their users.
pub fn fields(of: &Struct) -> impl Iterator<Item = &Variable> {
    of.fields.iter().filter(|f| {
        !matches!(f.of.kind, Kind::Callback(_) | Kind::Size)
            && !matches!((&f.of.kind, f.of.stars), (Kind::Void, _))
            && f.name != "reserved"
    })
}

impl Keywords {
    /// The fields of the class itself.
    pub fn fields<'a>(&self, of: &'a Struct, root: &Path) -> Vec<&'a Variable> {
        let core = match self.fields {
            Core(file, name, _) => conversions::core_fields(root, file, name),
            _ => Vec::new(),
        };
        let has = |name: &str| match self.fields {
            But(others) => !others.contains(&name),
            Only(names) => names.contains(&name),
            Core(_, _, others) => core.iter().any(|c| c.0 == name) && !others.contains(&name),
        };
        fields(of).filter(|f| has(&f.name)).collect()
    }

    /// Documentation of the class in Python.
    pub fn doc(&self) -> String {
        if self.doc.ends_with(';') { format!("{} {LEFT_OUT}", self.doc) } else { self.doc.clone() }
    }
}
