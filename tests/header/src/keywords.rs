//! Which options a call has in Python and MATLAB: all of a struct, or some of it.

use std::path::Path;

use crate::interface::{Kind, Struct, Variable};
use crate::{Interface, conversions};

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
    pub name: &'static str,
    /// The struct of C without `purlin_`.
    pub of: &'static str,
    /// The classes that it extends in Python.
    pub base: &'static str,
    doc: &'static str,
    fields: Fields,
}

const LEFT_OUT: &str = "what is left out keeps the library's default.";

/// All classes of keyword options, a class after those it extends.
pub const KEYWORDS: &[Keywords] = &[
    Keywords {
        name: "SshopmOptions",
        of: "sshopm_options",
        base: "",
        doc: "Options of `solve`;",
        fields: But(&["starts", "max_starts"]),
    },
    Keywords {
        name: "SolverOptions",
        of: "sshopm_options",
        base: "SshopmOptions",
        doc: "Options of `Sshopm`, each call of which refuses what only the other uses; `max_starts` belongs to `solve_all`.",
        fields: Only(&["starts", "max_starts"]),
    },
    Keywords {
        name: "AllOptions",
        of: "sshopm_options",
        base: "",
        doc: "Options of `solve_all`;",
        fields: Only(&[
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
    },
    Keywords {
        name: "FitOptions",
        of: "dwi_options",
        base: "",
        doc: "Options of `fit`;",
        fields: Core("dwi/fit.rs", "FitOptions", &[]),
    },
    Keywords {
        name: "CsaOptions",
        of: "dwi_options",
        base: "",
        doc: "Options of `csa`;",
        fields: Core("dwi/csa.rs", "CsaOptions", &[]),
    },
    Keywords {
        name: "PeaksOptions",
        of: "dwi_options",
        base: "",
        doc: "Options of `peaks`;",
        fields: Core("dwi/peaks.rs", "PeaksOptions", &["basis"]),
    },
    Keywords {
        name: "DwiOptions",
        of: "dwi_options",
        base: "FitOptions, CsaOptions, PeaksOptions",
        doc: "Options of `Dwi`, each call of which refuses what only others use; `basis` belongs to `peaks`.",
        fields: Only(&["basis"]),
    },
    Keywords { name: "FdkOptions", of: "fdk_options", base: "", doc: "Options of a reconstruction;", fields: But(&[]) },
    Keywords {
        name: "CommonOptions",
        of: "rsvd_options",
        base: "",
        doc: "Options of a decomposition and of a PCA;",
        fields: But(&["rank", "right", "center", "scale"]),
    },
    Keywords {
        name: "RsvdOptions",
        of: "rsvd_options",
        base: "CommonOptions",
        doc: "Options of a decomposition.",
        fields: Only(&["center", "scale"]),
    },
    Keywords {
        name: "RpcaOptions",
        of: "rpca_options",
        base: "",
        doc: "Options of a separation; `lambda_` is the C option `lambda`;",
        fields: But(&[]),
    },
    Keywords {
        name: "TrainOptions",
        of: "tt_contraction_options",
        base: "",
        doc: "Options of a contraction;",
        fields: But(&[]),
    },
    Keywords {
        name: "SpmvOptions",
        of: "spmv_options",
        base: "",
        doc: "Options of a plan of products;",
        fields: But(&[]),
    },
    Keywords {
        name: "LanczosOptions",
        of: "lanczos_options",
        base: "",
        doc: "Options of a solve, as in the C struct `purlin_lanczos_options`;",
        fields: But(&["count", "which"]),
    },
];

/// A struct of the header.
pub fn structure<'a>(interface: &'a Interface, short: &str) -> &'a Struct {
    interface.structure(&format!("purlin_{short}")).unwrap_or_else(|| panic!("purlin_{short}: is not in the header"))
}

/// Fields that are options or figures: not the size, what is reserved, or functions with their users.
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
            Core(file, name, _) => conversions::core_fields(root, (file, name, "")),
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
        if self.doc.ends_with(';') { format!("{} {LEFT_OUT}", self.doc) } else { self.doc.to_owned() }
    }
}
