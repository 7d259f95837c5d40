//! Order of a site's products, and their workspace.

use crate::tensor::train::Shape;

/// The sites of a train, starting at the cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sites<'a> {
    /// Shape of the train, whose cores repeat if `count` is a multiple of theirs.
    pub shape: &'a Shape,
    /// The bond at which it begins and ends.
    pub cut: usize,
    /// Number of sites: as many as cores, or a multiple.
    pub count: usize,
}

impl Sites<'_> {
    /// The core of a site.
    pub(super) fn at(self, k: usize) -> usize {
        (k + self.cut) % self.shape.len()
    }

    /// r, n, r' of a site.
    pub(super) fn core(self, k: usize) -> [usize; 3] {
        self.shape.core(self.at(k))
    }
}

/// Sizes of a site: of a core of the rows' train and of the columns' train.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    /// Left rank of the rows' train.
    pub s: usize,
    /// Right rank of the rows' train.
    pub s_next: usize,
    /// Left rank of the columns' train.
    pub r: usize,
    /// Right rank of the columns' train.
    pub r_next: usize,
    /// Mode size, the same in both.
    pub n: usize,
}

/// Sizes that are the same at all sites.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Real numbers of a vector.
    pub lanes: usize,
    /// Real numbers of an element of the rows' train, and so of the environment.
    pub row_parts: usize,
    /// Real numbers of an element of the columns' train.
    pub column_parts: usize,
}

impl Site {
    /// The sizes of site k. At the cut each bond has one value, that of the boundary pair.
    pub(super) fn at(rows: Sites<'_>, columns: Sites<'_>, k: usize) -> Self {
        let ([s, n, s_next], [r, _, r_next]) = (rows.core(k), columns.core(k));
        let (s, r) = if k == 0 { (1, 1) } else { (s, r) };
        let (s_next, r_next) = if k + 1 == rows.count { (1, 1) } else { (s_next, r_next) };
        Self { s, s_next, r, r_next, n }
    }
}

impl Form {
    /// Offset from one column of an environment with `s` rows to the next: at least one vector.
    pub(super) fn column(self, s: usize) -> usize {
        (self.row_parts * s).max(self.lanes)
    }

    /// Whether the rows (b i) of a core fill at least one vector and are stored contiguously. Otherwise each i has a
    /// vector of its own.
    pub(super) fn merged(self, site: &Site) -> bool {
        self.row_parts * site.s >= self.lanes
    }

    /// Vector multiplications of a site if the rows' core is multiplied first, and if the columns' core is.
    fn costs(self, site: &Site) -> [usize; 2] {
        let Site { s, s_next, r, r_next, n } = *site;
        let vectors = |rows: usize| (self.row_parts * rows).div_ceil(self.lanes);
        let stretch = if self.merged(site) { vectors(s * n) } else { n };
        let rows_first = stretch * r_next * s_next * self.row_parts + vectors(s) * r * n * r_next * self.column_parts;
        let columns_first =
            vectors(s_next) * r * n * r_next * self.column_parts + vectors(s) * r * n * s_next * self.row_parts;
        [rows_first, columns_first]
    }

    /// Whether the rows' core is multiplied first. Never at the last site, whose second product is a separate sum.
    pub(super) fn rows_first(self, site: &Site, last: bool) -> bool {
        let [rows_first, columns_first] = self.costs(site);
        !last && rows_first <= columns_first
    }

    /// Vector multiplications for one pair.
    pub(super) fn cost(self, rows: Sites<'_>, columns: Sites<'_>) -> f64 {
        let site = |k| self.costs(&Site::at(rows, columns, k));
        (0..rows.shape.len()).map(site).map(|[a, b]| a.min(b) as f64).sum()
    }

    /// Real numbers of workspace for the environment before the site.
    pub(super) fn environment(self, site: &Site) -> usize {
        self.column(site.s) * site.r
    }

    /// Real numbers of workspace for the product between the two multiplications.
    pub(super) fn between(self, site: &Site, rows_first: bool) -> usize {
        if !rows_first {
            self.column(site.s_next) * site.r * site.n
        } else if self.merged(site) {
            self.row_parts * site.s * site.n * site.r_next
        } else {
            self.lanes * site.n * site.r_next
        }
    }
}

/// Real numbers of workspace, by use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sizes {
    /// For one environment; there is one for each pair.
    pub environment: usize,
    /// For the product between the two multiplications, shared by all pairs.
    pub between: usize,
    /// For a gathered row of the first core of the rows' train.
    pub row: usize,
    /// For a gathered row of the first core of the columns' train.
    pub column: usize,
}

impl Sizes {
    /// Workspace that suffices for every boundary pair.
    pub(super) fn of(form: Form, rows: Sites<'_>, columns: Sites<'_>) -> Self {
        let mut sizes = Self { environment: form.column(1), ..Self::default() };
        // Two passes contain every combination of neighbouring sites.
        for k in (0..rows.count.min(2 * rows.shape.len())).chain([rows.count - 1]) {
            let site = Site::at(rows, columns, k);
            sizes.environment = sizes.environment.max(form.environment(&site));
            sizes.between = sizes.between.max(form.between(&site, form.rows_first(&site, k == 0)));
        }
        let row = |parts: usize, [r, n, next]: [usize; 3]| if r > 1 { parts * n * next } else { 0 };
        (sizes.row, sizes.column) = (row(form.row_parts, rows.core(0)), row(form.column_parts, columns.core(0)));
        sizes
    }

    /// Workspace for `pairs` pairs that are computed together.
    pub(super) fn total(self, pairs: usize) -> usize {
        self.environment.saturating_mul(pairs).saturating_add(self.between + self.row + self.column)
    }
}
