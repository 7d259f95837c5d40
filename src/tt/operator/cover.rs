//! Smallest vertex covers of bipartite graphs (König's theorem). A cover gives the fewest states of an operator's bond
//! if each state stands for a part of a term to its left or for a part to its right.

use crate::alloc;
use crate::error::Result;

/// A bipartite graph of rows and columns.
pub(super) struct Graph {
    pub rows: usize,
    pub cols: usize,
    /// Row and column of each edge.
    pub edges: Vec<(usize, usize)>,
}

const WHAT: &str = "states of an operator";

impl Graph {
    /// Flags for the rows and for the columns of a smallest set of vertices that touches every edge.
    pub fn cover(&self) -> Result<(Vec<bool>, Vec<bool>)> {
        let (starts, ends) = self.by_row()?;
        let of = |row: usize| &ends[starts[row]..starts[row + 1]];
        let mut partner_of_row = alloc::filled(WHAT, self.rows, None)?;
        let mut partner_of_col: Vec<Option<usize>> = alloc::filled(WHAT, self.cols, None)?;
        for row in 0..self.rows {
            // Breadth-first search for an augmenting path: from the row to a free column, alternately over unmatched
            // and matched edges.
            let mut came_from: Vec<Option<usize>> = alloc::filled(WHAT, self.cols, None)?;
            let mut queue = vec![row];
            let mut at = 0;
            let free = 'search: loop {
                let Some(&now) = queue.get(at) else { break None };
                at += 1;
                for &col in of(now) {
                    if came_from[col].is_none() {
                        came_from[col] = Some(now);
                        match partner_of_col[col] {
                            None => break 'search Some(col),
                            Some(next) => alloc::push(WHAT, &mut queue, next)?,
                        }
                    }
                }
            };
            let mut end = free;
            while let Some(col) = end {
                let from = came_from[col];
                partner_of_col[col] = from;
                end = from.and_then(|r: usize| partner_of_row[r].replace(col));
            }
        }
        // Follow alternating paths from the unmatched rows. The cover consists of the columns that they reach and of
        // the rows that they do not reach.
        let (mut row_reached, mut col_reached) =
            (alloc::filled(WHAT, self.rows, false)?, alloc::filled(WHAT, self.cols, false)?);
        let mut queue: Vec<usize> = (0..self.rows).filter(|&r| partner_of_row[r].is_none()).collect();
        queue.iter().for_each(|&r| row_reached[r] = true);
        while let Some(row) = queue.pop() {
            for &col in of(row) {
                if !std::mem::replace(&mut col_reached[col], true)
                    && let Some(next) = partner_of_col[col]
                    && !std::mem::replace(&mut row_reached[next], true)
                {
                    alloc::push(WHAT, &mut queue, next)?;
                }
            }
        }
        row_reached.iter_mut().for_each(|r| *r = !*r);
        Ok((row_reached, col_reached))
    }

    /// For each row, the index of its first column in the second list; all columns.
    fn by_row(&self) -> Result<(Vec<usize>, Vec<usize>)> {
        let mut starts = alloc::filled(WHAT, self.rows + 1, 0)?;
        self.edges.iter().for_each(|e| starts[e.0 + 1] += 1);
        (0..self.rows).for_each(|r| starts[r + 1] += starts[r]);
        let (mut next, mut ends) = (alloc::copied(WHAT, &starts)?, alloc::filled(WHAT, self.edges.len(), 0)?);
        for &(row, col) in &self.edges {
            ends[next[row]] = col;
            next[row] += 1;
        }
        Ok((starts, ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a smallest cover, by exhaustive search.
    fn smallest(graph: &Graph) -> usize {
        let sets = 0u32..1 << (graph.rows + graph.cols);
        let covers = |set: u32| graph.edges.iter().all(|e| set >> e.0 & 1 == 1 || set >> (graph.rows + e.1) & 1 == 1);
        sets.filter(|&s| covers(s)).map(|s| s.count_ones() as usize).min().unwrap()
    }

    #[test]
    fn covers_touch_every_edge_and_are_smallest() {
        let mut state = 1u64;
        let mut draw = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        for _ in 0..300 {
            let (rows, cols) = (1 + draw(6), 1 + draw(6));
            let edges = (0..draw(14)).map(|_| (draw(rows), draw(cols))).collect();
            let graph = Graph { rows, cols, edges };
            let (r, c) = graph.cover().unwrap();
            assert!(graph.edges.iter().all(|e| r[e.0] || c[e.1]), "{:?}", graph.edges);
            let size = r.iter().chain(&c).filter(|x| **x).count();
            assert_eq!(size, smallest(&graph), "{:?}", graph.edges);
        }
    }
}
