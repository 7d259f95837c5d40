//! The finite automaton of a sum of terms, which gives its TT-matrix.
//!
//! The automaton reads the sites from left to right. At each bond it has one state for "nothing yet", one for "all
//! done", and states for unfinished terms between them. Such a state represents either the part of a term that has been
//! read or the part that remains. A smallest vertex cover of the bipartite graph between the two gives the fewest
//! states (Ren, Li, Jiang, Shuai, J. Chem. Phys. 153, 084118, 2020). Coefficients are not changed, and blocks stay
//! sparse.
//!
//! On a ring, a term may wrap around the boundary. The part of it at the end of the chain comes last: it starts in the
//! state "all done" of the path that entered through the boundary with the part at the beginning of the chain. The
//! trace connects the end of the path with its beginning.
//!
//! `automaton.rs` and `terms.rs` import each other: the automaton is built from terms, and a sum of terms becomes a
//! TT-matrix by it.

use std::collections::HashMap;

use super::cover::Graph;
use super::terms::{Factor, IDENTITY, Terms};
use crate::alloc;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::Complex;

const WHAT: &str = "states of an operator";

/// A transition at a site: from state `from` of the left bond to state `to` of the right bond, with an operator and a
/// coefficient.
#[derive(Debug)]
pub(super) struct Entry {
    pub from: usize,
    pub operator: usize,
    pub to: usize,
    pub coefficient: Complex<f64>,
}

/// An unfinished term at a bond: its state, and its remaining part.
#[derive(Debug, Clone, Copy)]
struct Item {
    state: usize,
    rest: usize,
    coefficient: Complex<f64>,
}

/// Remaining parts of terms, each stored once as its next factor and the part after that. Numbers below `ends` are
/// ends: 0 is "all done", the others are values of the boundary bond.
#[derive(Debug, Default)]
struct Rests {
    list: Vec<(Factor, usize)>,
    numbers: HashMap<(Factor, usize), usize>,
    ends: usize,
}

impl Rests {
    fn of(&mut self, factors: &[Factor], end: usize) -> Result<usize> {
        factors.iter().rev().try_fold(end, |next, &factor| {
            if let Some(&number) = self.numbers.get(&(factor, next)) {
                return Ok(number);
            }
            let number = self.ends + self.list.len();
            alloc::push(WHAT, &mut self.list, (factor, next))?;
            self.numbers.insert((factor, next), number);
            Ok(number)
        })
    }

    /// The next factor and the part that remains after it; `None` for an end.
    fn next(&self, rest: usize) -> Option<(Factor, usize)> {
        rest.checked_sub(self.ends).map(|at| self.list[at])
    }
}

/// The states and transitions of a sum.
#[derive(Debug)]
pub(super) struct Automaton {
    /// States at each of the d + 1 bonds.
    pub ranks: Vec<usize>,
    /// Transitions at each of the d sites.
    pub entries: Vec<Vec<Entry>>,
}

/// Number of the end "all done" among the remaining parts.
const DONE: usize = 0;

/// A wrapping term: its part at the beginning of the chain, its part at the end, and its coefficient.
type Wrapped<'a> = (&'a [Factor], &'a [Factor], Complex<f64>);

impl Automaton {
    /// The automaton of a sum. On a ring, terms may wrap around the boundary. `cancel` is checked at each site.
    pub fn new(terms: &Terms, ring: bool, cancel: CancelWatch<'_>) -> Result<Self> {
        let d = terms.modes().len();
        let mut inner: Vec<(&[Factor], Complex<f64>)> = Vec::new();
        let mut wrapped: Vec<Wrapped<'_>> = Vec::new();
        for (coefficient, factors) in terms.products() {
            match ring.then(|| widest_gap(factors, d)).flatten() {
                Some(cut) => {
                    let (tail, head) = factors.split_at(cut);
                    alloc::push(WHAT, &mut wrapped, (tail, head, coefficient))?;
                }
                None => alloc::push(WHAT, &mut inner, (factors, coefficient))?,
            }
        }
        let boundary = Boundary::new(&wrapped)?;
        let mut rests = Rests { ends: 1 + boundary.values, ..Rests::default() };

        // The parts that begin at each site: whole terms, and below the last parts of wrapping terms.
        let mut begin: Vec<Vec<(usize, Complex<f64>)>> = alloc::filled(WHAT, d, Vec::new())?;
        let mut pending = 0usize;
        for (factors, coefficient) in inner {
            let rest = rests.of(factors, DONE)?;
            alloc::push(WHAT, &mut begin[factors[0].0], (rest, coefficient))?;
            pending += 1;
        }
        let mut leave: Vec<Vec<(usize, Complex<f64>)>> = alloc::filled(WHAT, d, Vec::new())?;
        for (head, value, coefficient) in boundary.leaving {
            alloc::push(WHAT, &mut leave[head[0].0], (rests.of(head, value)?, coefficient))?;
        }
        let mut items = alloc::with_capacity(WHAT, boundary.entering.len())?;
        for (value, tail, coefficient) in boundary.entering {
            items.push(Item { state: value, rest: rests.of(tail, DONE)?, coefficient });
        }

        let mut ranks = alloc::with_capacity(WHAT, d + 1)?;
        let mut entries = alloc::with_capacity(WHAT, d)?;
        ranks.push(rests.ends);
        // The state "nothing yet" is number 0 as long as it exists.
        for k in 0..d {
            cancel.check()?;
            for &(rest, coefficient) in &begin[k] {
                alloc::push(WHAT, &mut items, Item { state: 0, rest, coefficient })?;
            }
            pending -= begin[k].len();
            let done = items.iter().find(|i| i.rest == DONE).map(|i| i.state);
            for &(rest, coefficient) in &leave[k] {
                // The path that the term belongs to is in the state "all done": its first part entered through the
                // boundary.
                let state = done.ok_or_else(|| Error::Internal(format!("no path to leave by at site {k}")))?;
                alloc::push(WHAT, &mut items, Item { state, rest, coefficient })?;
            }
            let last = (k + 1 == d).then_some(rests.ends);
            let (rank, next, made) = read_site(&rests, k, &items, pending > 0, last)?;
            items = next;
            ranks.push(rank);
            entries.push(made);
        }
        Ok(Self { ranks, entries })
    }
}

/// Where to cut a term on a ring: before factor `cut`, at the widest gap between its sites. `None` if the widest gap is
/// across the boundary, so that the term does not wrap.
fn widest_gap(factors: &[Factor], d: usize) -> Option<usize> {
    let (first, last) = (factors.first()?.0, factors.last()?.0);
    let mut widest = (first + d - last, None);
    for (at, pair) in factors.windows(2).enumerate() {
        let gap = pair[1].0 - pair[0].0;
        if gap > widest.0 {
            widest = (gap, Some(at + 1));
        }
    }
    widest.1
}

/// The values of the boundary bond other than 0, and the parts of wrapping terms that enter and leave through it.
struct Boundary<'a> {
    values: usize,
    /// Value, part at the beginning of the chain, coefficient.
    entering: Vec<(usize, &'a [Factor], Complex<f64>)>,
    /// Part at the end of the chain, value, coefficient.
    leaving: Vec<(&'a [Factor], usize, Complex<f64>)>,
}

impl<'a> Boundary<'a> {
    fn new(wrapped: &[Wrapped<'a>]) -> Result<Self> {
        let one = Complex::new(1.0, 0.0);
        let (mut heads, mut tails) = (Numbered::default(), Numbered::default());
        let mut edges = Edges::default();
        for &(tail, head, coefficient) in wrapped {
            edges.add(heads.number(head)?, tails.number(tail)?, coefficient)?;
        }
        let (by_head, by_tail) = edges.graph(heads.list.len(), tails.list.len())?.cover()?;
        let mut boundary = Self { values: 0, entering: Vec::new(), leaving: Vec::new() };
        let mut value_of_head = alloc::filled(WHAT, heads.list.len(), 0)?;
        for (head, _) in by_head.iter().enumerate().filter(|(_, c)| **c) {
            boundary.values += 1;
            value_of_head[head] = boundary.values;
            alloc::push(WHAT, &mut boundary.leaving, (heads.list[head], boundary.values, one))?;
        }
        let mut value_of_tail = alloc::filled(WHAT, tails.list.len(), 0)?;
        for (tail, _) in by_tail.iter().enumerate().filter(|(_, c)| **c) {
            boundary.values += 1;
            value_of_tail[tail] = boundary.values;
            alloc::push(WHAT, &mut boundary.entering, (boundary.values, tails.list[tail], one))?;
        }
        for &(head, tail, coefficient) in &edges.list {
            if by_head[head] {
                let entering = (value_of_head[head], tails.list[tail], coefficient);
                alloc::push(WHAT, &mut boundary.entering, entering)?;
            } else {
                alloc::push(WHAT, &mut boundary.leaving, (heads.list[head], value_of_tail[tail], coefficient))?;
            }
        }
        Ok(boundary)
    }
}

/// Distinct keys, numbered in the order of their first appearance.
struct Numbered<K> {
    list: Vec<K>,
    numbers: HashMap<K, usize>,
}

impl<K> Default for Numbered<K> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<K: std::hash::Hash + Eq + Copy> Numbered<K> {
    fn number(&mut self, key: K) -> Result<usize> {
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        alloc::push(WHAT, &mut self.list, key)?;
        self.numbers.insert(key, self.list.len() - 1);
        Ok(self.list.len() - 1)
    }
}

/// The edges of a bipartite graph of rows and columns. Coefficients of equal edges are added up.
#[derive(Default)]
struct Edges {
    list: Vec<(usize, usize, Complex<f64>)>,
    numbers: HashMap<(usize, usize), usize>,
}

impl Edges {
    fn add(&mut self, row: usize, col: usize, coefficient: Complex<f64>) -> Result<()> {
        if let Some(&at) = self.numbers.get(&(row, col)) {
            self.list[at].2 += coefficient;
            return Ok(());
        }
        self.numbers.insert((row, col), self.list.len());
        alloc::push(WHAT, &mut self.list, (row, col, coefficient))
    }

    fn graph(&self, rows: usize, cols: usize) -> Result<Graph> {
        let mut edges = alloc::with_capacity(WHAT, self.list.len())?;
        edges.extend(self.list.iter().map(|e| (e.0, e.1)));
        Ok(Graph { rows, cols, edges })
    }
}

/// Processes site k. Returns the number of states after it, the unfinished terms in these states, and the transitions.
/// `pending` says that terms begin at later sites. At the last site, `last` is the number of ends, which are then the
/// states.
fn read_site(
    rests: &Rests,
    k: usize,
    items: &[Item],
    pending: bool,
    last: Option<usize>,
) -> Result<(usize, Vec<Item>, Vec<Entry>)> {
    let one = Complex::new(1.0, 0.0);
    let (mut rows, mut cols) = (Numbered::<(usize, usize)>::default(), Numbered::<usize>::default());
    let mut edges = Edges::default();
    for item in items {
        let (operator, rest) = match rests.next(item.rest) {
            Some(((site, operator), next)) if site == k => (operator, next),
            _ => (IDENTITY, item.rest),
        };
        edges.add(rows.number((item.state, operator))?, cols.number(rest)?, item.coefficient)?;
    }
    // The states of "all done" and, after the last site, of all ends are given. Only the other edges need a cover.
    let fixed = |rest: usize| rest == DONE || last.is_some();
    let mut open = Edges::default();
    for &(row, col, coefficient) in edges.list.iter().filter(|e| !fixed(cols.list[e.1])) {
        open.add(row, col, coefficient)?;
    }
    let (by_row, by_col) = open.graph(rows.list.len(), cols.list.len())?.cover()?;

    let mut made = Vec::new();
    let mut next = Vec::new();
    let mut count = 0usize;
    if pending {
        alloc::push(WHAT, &mut made, Entry { from: 0, operator: IDENTITY, to: 0, coefficient: one })?;
        count = 1;
    }
    // A row without an edge in `open` is not in the cover.
    let mut state_of_row = alloc::filled(WHAT, rows.list.len(), None)?;
    for &(row, _, _) in &open.list {
        if by_row[row] && state_of_row[row].is_none() {
            let (from, operator) = rows.list[row];
            alloc::push(WHAT, &mut made, Entry { from, operator, to: count, coefficient: one })?;
            state_of_row[row] = Some(count);
            count += 1;
        }
    }
    let mut state_of_col = alloc::filled(WHAT, cols.list.len(), 0)?;
    for (col, &rest) in cols.list.iter().enumerate() {
        if by_col[col] || fixed(rest) {
            state_of_col[col] = if last.is_some() { rest } else { count };
            alloc::push(WHAT, &mut next, Item { state: state_of_col[col], rest, coefficient: one })?;
            count += 1;
        }
    }
    for &(row, col, coefficient) in &edges.list {
        let rest = cols.list[col];
        match state_of_row[row] {
            Some(state) if !fixed(rest) => alloc::push(WHAT, &mut next, Item { state, rest, coefficient })?,
            _ => {
                let (from, operator) = rows.list[row];
                alloc::push(WHAT, &mut made, Entry { from, operator, to: state_of_col[col], coefficient })?;
            }
        }
    }
    Ok((last.unwrap_or(count).max(1), next, made))
}
