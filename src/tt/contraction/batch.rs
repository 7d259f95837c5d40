//! Many inner products in one call, and Gram matrices.
//!
//! Trains of one shape share a plan. Small contractions are distributed over the threads, the largest first. Large
//! ones, each of which keeps all threads busy, follow one after the other. On the CPU every result has the same bits as
//! a single call. A GPU has other kernels for many small products; the same list always gives the same bits.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use super::finite::Known;
use super::ops::{ContractOps, Item};
use super::peaks::{self, Sizes};
use super::session::{Call, Contraction, Goal, common};
use crate::alloc;
use crate::backend::cpu::flags;
use crate::error::{Error, Result};
use crate::operator::rings;
use crate::operator::wider;
use crate::progress::{CancelFlag, Progress, ProgressFn};
use crate::scalar::Complex;
use crate::shape::to_i64;
use crate::stream::{self, Stream};
use crate::team;
use crate::tensor::train::TensorTrain;
use crate::trains::balance::{balanced_all, listed};
use crate::trains::info::{Info, Kernel, Outcome};
use crate::trains::largest;
use crate::trains::options::{Conjugate, Method};
use crate::trains::scaled::Scaled;

/// Index of x, index of y, and index of the result.
type Indices = (usize, usize, usize);

/// The trains of a call and their classes. All trains of a class have the same shape and type.
struct Lists<'a> {
    x: &'a [&'a TensorTrain],
    y: &'a [&'a TensorTrain],
    x_class: Vec<usize>,
    y_class: Vec<usize>,
    plans: HashMap<Classes, Call>,
    last: Option<(Classes, Call)>,
}

/// The products of a chunk, by how they are computed: `small` ones together by the backend, the largest first; `large`
/// ones one after the other; `single` ones by single calls. The flag of a small or large product says whether its
/// result is conjugated at the end.
struct Groups<'a> {
    small: Vec<Item<'a>>,
    small_places: Vec<(Indices, bool)>,
    large: Vec<(Item<'a>, Indices, bool)>,
    single: Vec<Indices>,
}

/// The class of x, that of y, and whether they are one train.
type Classes = (usize, usize, bool);

impl Contraction {
    /// The inner product of x\[k\] and y\[k\] for each k, with a separate exponent as from
    /// [`Contraction::inner_scaled`]; [`plain_batch`] rounds them. The shapes may differ from product to product, and the
    /// lists may be empty.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`], naming the train as in `x[3]`; [`Error::InvalidArgument`] for lists of
    /// different lengths. After an error `sums` is unspecified.
    pub fn inner_batch(
        &mut self,
        stream: Option<&Stream>,
        x: &[&TensorTrain],
        y: &[&TensorTrain],
        sums: &mut [Scaled],
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let count = x.len();
        expect_pairs(x, y)?;
        expect_length("results", sums.len(), count)?;
        let info = self.all(stream, x, y, count, &|k| Some((k, k, k)), report, &mut |(_, _, k), sum| sums[k] = sum)?;
        Ok(Info { outcome: worst(sums), ..info })
    }

    /// G[i, j], the inner product of x_i and y_j, first index fastest; [`plain_gram`] rounds them. If both lists are the
    /// same, and the products Hermitian, half of them are computed.
    ///
    /// # Errors
    /// As [`Contraction::inner_batch`].
    pub fn gram(
        &mut self,
        stream: Option<&Stream>,
        x: &[&TensorTrain],
        y: &[&TensorTrain],
        sums: &mut [Scaled],
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let rows = x.len();
        let count = crate::shape::product("results", rows, y.len())?;
        expect_length("results", sums.len(), count)?;
        let same = is_same(x, y);
        let hermitian = self.options().conjugate == Conjugate::Bra;
        let info = self.all(stream, x, y, count, &entries(x, y), report, &mut |(i, j, k), sum| {
            sums[k] = sum;
            if same && i != j {
                // Without conjugation the matrix is symmetric.
                sums[j + rows * i] = if hermitian { sum.conj() } else { sum };
            }
        })?;
        Ok(Info { outcome: worst(sums), ..info })
    }

    /// The report of [`Contraction::inner_batch`] before it runs: method and kernel of its first product, operations
    /// and bytes of all products, and the peak workspace.
    ///
    /// # Errors
    /// As [`Contraction::inner_batch`] for arguments that do not fit.
    pub fn plan_batch(&mut self, x: &[&TensorTrain], y: &[&TensorTrain]) -> Result<Info> {
        expect_pairs(x, y)?;
        self.predict_report(x, y, x.len(), &|k| Some((k, k, k)))
    }

    /// The report of [`Contraction::gram`] before it runs, as for [`Contraction::plan_batch`].
    ///
    /// # Errors
    /// As [`Contraction::gram`] for arguments that do not fit.
    pub fn plan_gram(&mut self, x: &[&TensorTrain], y: &[&TensorTrain]) -> Result<Info> {
        let count = crate::shape::product("results", x.len(), y.len())?;
        self.predict_report(x, y, count, &entries(x, y))
    }

    /// The report of [`Contraction::all`] without computing the results.
    fn predict_report(
        &mut self,
        x: &[&TensorTrain],
        y: &[&TensorTrain],
        count: usize,
        place: &dyn Fn(usize) -> Option<Indices>,
    ) -> Result<Info> {
        let mut info = nothing(self.contexts.len());
        expect_ready(self, x, y)?;
        let mut lists = Lists::new(x, y)?;
        self.chunks(count, place, |session, chunk, _| session.group(&mut lists, chunk, &mut info).map(|_| ()))?;
        Ok(info)
    }

    /// Calls `each` with chunks of the products that `place` lists for 0 to `count`, and with the end of the chunk in
    /// that range. A chunk has as many products as the backend accepts at a time.
    fn chunks(
        &mut self,
        count: usize,
        place: &dyn Fn(usize) -> Option<Indices>,
        mut each: impl FnMut(&mut Self, &[Indices], usize) -> Result<()>,
    ) -> Result<()> {
        let most = self.machines[0].machine().batch.min(count);
        let mut chunk = alloc::with_capacity("batch of contractions", most)?;
        for k in 0..count {
            chunk.extend(place(k));
            if chunk.len() == most || k + 1 == count {
                each(self, &chunk, k + 1)?;
                chunk.clear();
            }
        }
        Ok(())
    }

    /// Computes the products that `place` lists for 0 to `count`, and calls `put` with each result; again with a result
    /// that replaces an earlier one. The callers set the report's outcome.
    #[expect(clippy::too_many_arguments, reason = "the arguments of the public calls")]
    fn all(
        &mut self,
        stream: Option<&Stream>,
        x: &[&TensorTrain],
        y: &[&TensorTrain],
        count: usize,
        place: &dyn Fn(usize) -> Option<Indices>,
        report: Option<&ProgressFn<'_>>,
        put: &mut dyn FnMut(Indices, Scaled),
    ) -> Result<Info> {
        let (start, progress) = (Instant::now(), self.progress(report));
        stream::expect_not_captured(stream::select(&self.contexts[0], stream)?)?;
        let mut info = nothing(self.contexts.len());
        expect_ready(self, x, y)?;
        let same = is_same(x, y);
        let given = (x, y);
        // The CPU reports lost digits afterwards, so the bonds need no examination beforehand.
        let is_watched = self.is_watched();
        let (mut x_copies, mut y_copies, mut takes_single) = (Vec::new(), Vec::new(), false);
        if !is_watched {
            let turns = rings::turns(self.options());
            let balance = |trains| flags::watch(|| balanced_all(&self.contexts[0], stream, trains, turns));
            let (found, x_lost) = balance(x);
            (x_copies, takes_single) = found?;
            takes_single |= x_lost;
            if !same {
                let (found, y_lost) = balance(y);
                let (copies, is_at_risk) = found?;
                (y_copies, takes_single) = (copies, takes_single || is_at_risk || y_lost);
            }
            // If x and y are one train in two lists, their copies count as two trains, whose product has other bits.
            let is_any_copied = !x_copies.is_empty() || !y_copies.is_empty();
            takes_single |= is_any_copied && !same && !self.computes_on_device();
        }
        let (x_list, y_list);
        let (mut x, mut y) = (x, y);
        if !x_copies.is_empty() || !y_copies.is_empty() {
            x_list = listed(x, &x_copies)?;
            y_list = if same { Vec::new() } else { listed(y, &y_copies)? };
            (x, y) = (&x_list, if same { &x_list } else { &y_list });
        }
        if takes_single {
            return self.one_by_one(stream, given, count, place, &progress, put);
        }
        let mut lists = Lists::new(x, y)?;
        progress.check()?;
        let quiet = progress.without_reports();
        let mut known = Known::default();
        self.chunks(count, place, |session, chunk, reached| {
            let mut dealt = session.group(&mut lists, chunk, &mut info)?;
            let mut single = std::mem::take(&mut dealt.single);
            let (done, lost) = flags::watch(|| {
                session.run(stream, dealt, &progress, &mut known, &mut |place, sum| {
                    if is_watched && !sum.is_finite() {
                        alloc::push("batch of contractions", &mut single, place)
                    } else {
                        put(place, sum);
                        Ok(())
                    }
                })
            });
            done?;
            let all = lost && wider::applies(session.options(), session.computes_on_device());
            for &place in if all { chunk } else { &single } {
                put(place, session.contract(stream, given.0[place.0], given.1[place.1], Goal::Inner, &quiet)?.0);
                progress.check()?;
            }
            progress.report(to_i64(reached), to_i64(count), 0.0)
        })?;
        info.seconds = start.elapsed().as_secs_f64();
        Ok(info)
    }

    /// [`Contraction::all`] by single calls, for rings in which entries that contribute to the result may underflow.
    fn one_by_one(
        &mut self,
        stream: Option<&Stream>,
        (x, y): (&[&TensorTrain], &[&TensorTrain]),
        count: usize,
        place: &dyn Fn(usize) -> Option<Indices>,
        progress: &Progress<'_>,
        put: &mut dyn FnMut(Indices, Scaled),
    ) -> Result<Info> {
        let (quiet, mut info) = (progress.without_reports(), nothing(self.contexts.len()));
        for place in (0..count).filter_map(place) {
            let (sum, own) = self.contract(stream, x[place.0], y[place.1], Goal::Inner, &quiet)?;
            let (flops, bytes, seconds) = (info.flops + own.flops, info.bytes + own.bytes, info.seconds + own.seconds);
            info = Info { flops, bytes, seconds, ..own };
            put(place, sum);
        }
        Ok(info)
    }

    /// Plans these products and divides them by how they are computed. Adds their operations, bytes and workspace to
    /// `info`.
    fn group<'a>(&mut self, lists: &mut Lists<'a>, places: &[Indices], info: &mut Info) -> Result<Groups<'a>> {
        let what = "batch of contractions";
        let (mut small, mut small_places) =
            (alloc::with_capacity(what, places.len())?, alloc::with_capacity(what, places.len())?);
        let (mut large, mut single) = (Vec::new(), Vec::new());
        for &place in places {
            let Call { plan, swapped } = lists.plan(self, place)?;
            let (x, y) = (lists.x[place.0], lists.y[place.1]);
            let conjugate = plan.conjugate_result;
            let (x, y) = if swapped { (y, x) } else { (x, y) };
            if info.flops == 0.0 {
                let workspace_bytes = info.workspace_bytes;
                *info = Info { flops: 0.0, bytes: 0.0, workspace_bytes, ..plan.info(self.contexts.len()) };
            }
            (info.flops, info.bytes) = (info.flops + plan.flops, info.bytes + plan.bytes);
            if self.bounds_losses(&plan) {
                info.workspace_bytes = info.workspace_bytes.max(in_bytes(plan.workspace));
                alloc::push(what, &mut single, place)?;
            } else if self.machines[0].takes(&plan) {
                small.push(Item { plan, x, y });
                small_places.push((place, conjugate));
            } else {
                info.workspace_bytes = info.workspace_bytes.max(in_bytes(plan.workspace));
                alloc::push(what, &mut large, (Item { plan, x, y }, place, conjugate))?;
            }
        }
        // Items of one shape are in order already.
        if !small.is_sorted_by(|a: &Item<'_>, b| a.plan.flops >= b.plan.flops) {
            let mut order = alloc::with_capacity(what, small.len())?;
            order.extend(0..small.len());
            order.sort_unstable_by(|a: &usize, b: &usize| {
                let size = |i: usize| small[i].plan.flops;
                size(*b).partial_cmp(&size(*a)).unwrap_or(Ordering::Equal).then(a.cmp(b))
            });
            let (mut items, mut places) =
                (alloc::with_capacity(what, small.len())?, alloc::with_capacity(what, small.len())?);
            items.extend(order.iter().map(|&i| small[i].clone()));
            places.extend(order.iter().map(|&i| small_places[i]));
            (small, small_places) = (items, places);
        }
        info.workspace_bytes = info.workspace_bytes.max(in_bytes(self.machines[0].many_bytes(&small)));
        Ok(Groups { small, small_places, large, single })
    }

    /// Computes the products of a chunk.
    fn run(
        &mut self,
        stream: Option<&Stream>,
        dealt: Groups<'_>,
        progress: &Progress<'_>,
        known: &mut Known,
        put: &mut dyn FnMut(Indices, Scaled) -> Result<()>,
    ) -> Result<()> {
        let Groups { small, small_places, large, .. } = dealt;
        let mut sums = alloc::filled("batch of contractions", small.len(), Scaled::ZERO)?;
        if !small.is_empty() {
            many(&mut self.machines, stream, &small, &progress.flag(), &mut sums)?;
        }
        let value = |sum: Scaled, conjugate: bool| if conjugate { sum.conj() } else { sum };
        for ((&(place, conjugate), &sum), item) in small_places.iter().zip(&sums).zip(&small) {
            let sum = known.checked(sum, &item.plan, [item.x, item.y])?;
            put(place, value(sum, conjugate))?;
        }
        for (Item { plan, x, y }, place, conjugate) in large {
            let mut sizes = Sizes::default();
            if peaks::matter(&plan) && !self.is_watched() {
                let of = |train| largest::exponents(&self.contexts[0], stream, train);
                let a = of(x)?;
                let b = if x.is_same(y) { alloc::copied("batch of contractions", &a)? } else { of(y)? };
                sizes = peaks::sizes(&plan, [x.shape(), y.shape()], [&a, &b])?;
            }
            let sum = self.execute(stream, &plan, x, y, &progress.without_reports(), sizes, |machines, work| {
                super::algorithm::inner::contract(machines, work)
            })?;
            let sum = known.checked(sum, &plan, [x, y])?;
            put(place, value(sum, conjugate))?;
            progress.check()?;
        }
        Ok(())
    }
}

/// The numbers that [`Contraction::inner`] returns for pairs of trains, from the `sums` of
/// [`Contraction::inner_batch`]: each rounded to the common type of its trains. Also the worst outcome.
///
/// # Errors
/// [`Error::InvalidArgument`] for lists of different lengths; out of memory.
pub fn plain_batch(sums: &[Scaled], x: &[&TensorTrain], y: &[&TensorTrain]) -> Result<(Vec<Complex<f64>>, Outcome)> {
    expect_pairs(x, y)?;
    expect_length("results", sums.len(), x.len())?;
    plain(sums, |k| (x[k], y[k]))
}

/// As [`plain_batch`], from the `sums` of [`Contraction::gram`].
///
/// # Errors
/// As [`plain_batch`].
pub fn plain_gram(sums: &[Scaled], x: &[&TensorTrain], y: &[&TensorTrain]) -> Result<(Vec<Complex<f64>>, Outcome)> {
    let rows = x.len();
    expect_length("results", sums.len(), crate::shape::product("results", rows, y.len())?)?;
    plain(sums, |k| (x[k % rows], y[k / rows]))
}

fn plain<'a>(
    sums: &[Scaled],
    pair: impl Fn(usize) -> (&'a TensorTrain, &'a TensorTrain),
) -> Result<(Vec<Complex<f64>>, Outcome)> {
    let mut numbers = alloc::with_capacity("batch of contractions", sums.len())?;
    let mut worst = Outcome::Ok;
    for (k, sum) in sums.iter().enumerate() {
        let (x, y) = pair(k);
        let (number, outcome) = sum.plain(common(x.dtype(), y.dtype()));
        numbers.push(number);
        worst = worst.max(outcome);
    }
    Ok((numbers, worst))
}

/// The worst outcome of the scaled forms.
fn worst(sums: &[Scaled]) -> Outcome {
    sums.iter().map(|sum| sum.outcome()).max().unwrap_or_default()
}

/// Distributes the items over all machines if their trains are on the host. Trains on a device stay there: copying the
/// cores to another device takes longer than the contraction.
fn many(
    machines: &mut [Box<dyn ContractOps>],
    stream: Option<&Stream>,
    items: &[Item<'_>],
    cancel: &CancelFlag,
    sums: &mut [Scaled],
) -> Result<()> {
    let on_host = items.iter().all(|item| !item.x.is_device() && !item.y.is_device());
    let shares = if on_host { machines.len().min(items.len()) } else { 1 };
    let share = items.len().div_ceil(shares.max(1));
    let machines = machines.iter_mut().take(shares);
    let shared = machines.zip(items.chunks(share)).zip(sums.chunks_mut(share));
    let works = shared.map(|((machine, items), sums)| move || machine.many(stream, items, cancel, sums)).collect();
    team::share("purlin-tt", shares.saturating_sub(1), works)
}

impl<'a> Lists<'a> {
    /// Finds the classes of trains with equal types and shapes.
    fn new(x: &'a [&'a TensorTrain], y: &'a [&'a TensorTrain]) -> Result<Self> {
        Ok(Self { x, y, x_class: classes(x)?, y_class: classes(y)?, plans: HashMap::new(), last: None })
    }

    /// The plan of a product; classes of trains share plans.
    fn plan(&mut self, session: &mut Contraction, (i, j, _): Indices) -> Result<Call> {
        let (x, y) = (self.x[i], self.y[j]);
        let key = (self.x_class[i], self.y_class[j], x.is_same(y));
        if let Some((last, call)) = &self.last
            && *last == key
        {
            return Ok(call.clone());
        }
        if let Some(call) = self.plans.get(&key) {
            self.last = Some((key, call.clone()));
            return Ok(call.clone());
        }
        y.shape().expect_modes(&format!("y[{j}]"), x.shape().modes(), &format!("x[{i}]"))?;
        if x.dtype().is_single() != y.dtype().is_single() {
            let problem = format!("is {}, x[{i}] is {}: precisions differ", y.dtype().name(), x.dtype().name());
            return Err(Error::invalid(format!("y[{j}]"), problem));
        }
        let call = session.prepare(x, y, Goal::Inner)?;
        self.plans.insert(key, call.clone());
        Ok(call)
    }
}

/// Numbers the classes: trains of one class have the same shape and type, and are uniform or not.
fn classes(trains: &[&TensorTrain]) -> Result<Vec<usize>> {
    let what = "batch of contractions";
    let key = |t: &TensorTrain| (t.dtype() as i32, t.is_uniform());
    let hash = |t: &TensorTrain| {
        let mut hasher = DefaultHasher::new();
        (key(t), t.shape().modes(), t.shape().ranks()).hash(&mut hasher);
        hasher.finish()
    };
    // Most batches have one class and need no sorting.
    let is_first = |t: &TensorTrain| trains.first().is_some_and(|f| key(f) == key(t) && f.shape() == t.shape());
    if trains.iter().all(|t| is_first(t)) {
        return alloc::filled(what, trains.len(), 0);
    }
    let mut order = alloc::with_capacity(what, trains.len())?;
    order.extend(trains.iter().enumerate().map(|(i, t)| (hash(t), i)));
    order.sort_unstable();
    // Trains with the same hash are neighbours here. Hashes may collide, so the trains themselves are compared.
    let mut class = alloc::filled(what, trains.len(), 0)?;
    let mut first = 0;
    for (at, &(hash, i)) in order.iter().enumerate() {
        if order[first].0 != hash {
            first = at;
        }
        let alike =
            |&&(_, j): &&(u64, usize)| key(trains[i]) == key(trains[j]) && trains[i].shape() == trains[j].shape();
        class[i] = order[first..at].iter().find(alike).map_or(i, |&(_, j)| class[j]);
    }
    Ok(class)
}

/// Returns an error for a train that cannot be read. It names the train by its index.
fn expect_ready(session: &Contraction, x: &[&TensorTrain], y: &[&TensorTrain]) -> Result<()> {
    for (name, list) in [("x", x), ("y", y)] {
        for (i, train) in list.iter().enumerate() {
            let check = |argument: &str| {
                train.expect_context(argument, &session.contexts[0])?;
                train.expect_set(argument)
            };
            check(name).or_else(|_| check(&format!("{name}[{i}]")))?;
        }
    }
    Ok(())
}

fn expect_pairs(x: &[&TensorTrain], y: &[&TensorTrain]) -> Result<()> {
    if x.len() == y.len() {
        return Ok(());
    }
    Err(Error::invalid("y", format!("has {} trains, x has {}", y.len(), x.len())))
}

/// Whether both lists are the same.
fn is_same(x: &[&TensorTrain], y: &[&TensorTrain]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(a, b)| std::ptr::eq(*a, *b))
}

/// The entries of a Gram matrix that are computed. For one list with itself these are the entries on and above the
/// diagonal.
fn entries(x: &[&TensorTrain], y: &[&TensorTrain]) -> impl Fn(usize) -> Option<Indices> + use<> {
    let (same, rows) = (is_same(x, y), x.len());
    move |k| {
        let (i, j) = (k % rows, k / rows);
        (!same || i <= j).then_some((i, j, k))
    }
}

fn in_bytes(workspace: u64) -> i64 {
    i64::try_from(workspace).unwrap_or(i64::MAX)
}

fn expect_length(argument: &str, found: usize, needed: usize) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    Err(Error::invalid(argument, format!("has {found} elements, {needed} are needed")))
}

/// The report of an empty batch.
fn nothing(contexts: usize) -> Info {
    Info {
        method: Method::Auto,
        kernel: Kernel::Products,
        reason: "an empty batch".into(),
        cut: 0,
        pairs: 0,
        block: 0,
        halved: false,
        two_ended: false,
        scaled: false,
        contexts: to_i64(contexts),
        flops: 0.0,
        bytes: 0.0,
        workspace_bytes: 0,
        outcome: Outcome::Ok,
        seconds: 0.0,
    }
}
