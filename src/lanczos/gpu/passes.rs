//! Passes over a space, which are enqueued, and the records that they write.

use super::space::{Krylov, columns};
use crate::alloc;
use crate::backend::gpu::Region;
use crate::backend::gpu::kernels::lanczos::{Pass, Scale, parts, pass, pieces, scale, total};
use crate::error::Result;
use crate::lanczos::algorithm::PROBES;
use crate::lanczos::algorithm::symmetry::expect_symmetric;
use crate::lanczos::ops::Projection;
use crate::scalar::DType;

const WHAT: &str = "Krylov space";

impl Krylov<'_> {
    /// Tests by products with random vectors u and v whether v . A u and u . A v are each other's conjugates.
    pub(super) fn sample(&mut self) -> Result<()> {
        (0..2).try_for_each(|j| self.random(0, PROBES + j, j as usize))?;
        let weights = self.numbers(&[0.0; 2])?;
        let numbers = parts(self.dtype);
        // For both vectors: |x|^2, |A x|^2, and the product of the other vector with A x.
        let each = 2 + numbers;
        for j in 0..2 {
            self.apply(j, 2)?;
            self.enqueue_distance(j, weights.whole(), j, each * j)?;
            self.enqueue_distance(2, weights.whole(), 2, each * j + 1)?;
            let partials = self.partials.whole();
            let one = Pass { partials: Some(partials), keep: true, ..self.reading((1 - j, 1), 2)? };
            pass(self.dtype, &self.gpu, &self.stream, one)?;
            let place = self.totals(each * j + 2, numbers)?;
            total(&self.gpu, &self.stream, partials, (numbers, pieces(self.n)), 1.0, place)?;
        }
        let mut read = [0.0f64; 8];
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut read[..2 * each])?;
        let sum = |j: usize, part: usize| if part < numbers { read[each * j + 2 + part] } else { 0.0 };
        let sums = [[sum(0, 0), sum(0, 1)], [sum(1, 0), sum(1, 1)]];
        // Rounding errors of A x are at least those of its terms.
        let product = |j: usize| read[each * j + 1].sqrt().max(self.terms_norm * read[each * j].sqrt());
        let norms = [product(0) * read[each].sqrt(), product(1) * read[0].sqrt()];
        // v . A u and u . A v are each other's conjugates.
        let far = (sums[0][0] - sums[1][0]).hypot(sums[0][1] + sums[1][1]);
        expect_symmetric(far, norms[0] + norms[1], self.dtype.epsilon())
    }

    /// Length of a step's record in F64: coefficients of the first pass and |w|^2 before it, coefficients of the second
    /// pass, and |w|^2 after it.
    pub(super) fn record(dtype: DType, columns: usize) -> usize {
        2 * parts(dtype) * columns + 2
    }

    pub(super) fn squares(&self, numbers: usize) -> Result<Region<'_>> {
        let each = 8 * pieces(self.n);
        self.partials.region(numbers * each, 2 * each)
    }

    /// A pass over `count` columns from `first` on and column `column`, without any operation yet.
    pub(super) fn reading(&self, (first, count): (usize, usize), column: usize) -> Result<Pass<'_>> {
        Ok(Pass {
            space: columns(&self.memory, self.dtype, self.n, first, count)?,
            vector: self.column(column)?,
            rows: self.n,
            count,
            weights: None,
            partials: None,
            squares: None,
            keep: false,
        })
    }

    /// Enqueues two passes of Gram-Schmidt on column `column` against `count` columns from `first` on and, with
    /// `scaled`, the division by the norm. The figures go to record `at`.
    pub(super) fn enqueue(&self, (first, count): (usize, usize), column: usize, at: usize, scaled: bool) -> Result<()> {
        let (gpu, stream, n) = (&self.gpu, &self.stream, self.n);
        let numbers = parts(self.dtype) * count;
        let base = at * Self::record(self.dtype, self.columns);
        let second = base + parts(self.dtype) * self.columns + 1;
        let last = base + Self::record(self.dtype, self.columns) - 1;
        let pieces = pieces(n);
        let empty = self.reading((first, count), column)?;
        let partials = self.partials.whole();
        pass(
            self.dtype,
            gpu,
            stream,
            Pass { partials: Some(partials), squares: Some(self.squares(numbers)?), ..empty },
        )?;
        total(gpu, stream, partials, (numbers + 1, pieces), 1.0, self.totals(base, numbers + 1)?)?;
        let weights = Some(self.totals(base, numbers)?);
        pass(self.dtype, gpu, stream, Pass { partials: Some(partials), weights, ..empty })?;
        total(gpu, stream, partials, (numbers, pieces), 1.0, self.totals(second, numbers)?)?;
        let weights = Some(self.totals(second, numbers)?);
        pass(self.dtype, gpu, stream, Pass { weights, squares: Some(self.squares(0)?), ..empty })?;
        let after = self.partials.region(8 * pieces, 8 * pieces)?;
        total(gpu, stream, after, (1, pieces), 1.0, self.totals(last, 1)?)?;
        if scaled {
            let own = self.column(column)?;
            let square = Some(self.totals(last, 1)?);
            let one = Scale { from: own, to: own, rows: n, square, parts: None, factor: 1.0, keep: 0.0 };
            scale(self.dtype, gpu, stream, one)?;
        }
        Ok(())
    }

    /// Enqueues one pass of Gram-Schmidt on column `column` against `count` columns from `first` on. Its coefficients
    /// and the square of the remainder's norm go to the totals from `at` on. A cuBLAS product with so few columns takes
    /// ten times as long.
    pub(super) fn enqueue_projection(&self, (first, count): (usize, usize), column: usize, at: usize) -> Result<()> {
        let (gpu, stream, n) = (&self.gpu, &self.stream, self.n);
        let (numbers, pieces) = (parts(self.dtype) * count, pieces(n));
        let partials = self.partials.whole();
        let empty = self.reading((first, count), column)?;
        if count > 0 {
            pass(self.dtype, gpu, stream, Pass { partials: Some(partials), ..empty })?;
            total(gpu, stream, partials, (numbers, pieces), 1.0, self.totals(at, numbers)?)?;
        }
        let weights = if count > 0 { Some(self.totals(at, numbers)?) } else { None };
        pass(self.dtype, gpu, stream, Pass { weights, squares: Some(self.squares(0)?), ..empty })?;
        let after = self.partials.region(8 * pieces, 8 * pieces)?;
        total(gpu, stream, after, (1, pieces), 1.0, self.totals(at + numbers, 1)?)
    }

    /// Reads records `0 .. steps`; step j was against `first + j` columns.
    pub(super) fn records(&self, first: usize, steps: usize) -> Result<Vec<Projection>> {
        let length = Self::record(self.dtype, self.columns);
        let mut read = alloc::filled(WHAT, steps * length, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut read)?;
        let mut found = alloc::with_capacity(WHAT, steps)?;
        for (j, record) in read.chunks_exact(length).enumerate() {
            let numbers = parts(self.dtype) * (first + j);
            let last = |from: usize| if numbers == 0 { 0.0 } else { record[from + numbers - parts(self.dtype)] };
            found.push(Projection {
                along: last(0) + last(parts(self.dtype) * self.columns + 1),
                before: record[numbers].sqrt(),
                after: record[length - 1].sqrt(),
            });
        }
        Ok(found)
    }

    /// Enqueues the sum |w - lambda x|^2; `weights` is lambda and a 0. The sum goes to total `at`.
    pub(super) fn enqueue_distance(&self, w: usize, weights: Region<'_>, x: usize, at: usize) -> Result<()> {
        let pieces = pieces(self.n);
        let squares = Some(self.squares(0)?);
        let one = Pass { weights: Some(weights), squares, keep: true, ..self.reading((x, 1), w)? };
        pass(self.dtype, &self.gpu, &self.stream, one)?;
        let after = self.partials.region(8 * pieces, 8 * pieces)?;
        total(&self.gpu, &self.stream, after, (1, pieces), 1.0, self.totals(at, 1)?)
    }
}
