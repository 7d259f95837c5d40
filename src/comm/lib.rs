//! Contexts that share the work of a call, and sums whose bits do not depend on their number. The families that
//! distribute work are built on this member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as `crate::context` is the same in every
//! member.
//!
//! | module | contents |
//! |---|---|
//! | [`group`] | contexts on devices of one kind that share the work of a call |
//! | [`parts`] | fixed parts of the rows, their owners, and the tree of sums over parts |
//!
//! An example: 1000 numbers added by three members give the bits that one member gives.
//!
//! ```
//! use purlin_comm::parts::{Parts, Tree};
//!
//! let numbers: Vec<f64> = (0..1000).map(|k| 1.0 / (1.0 + k as f64)).collect();
//! let sum = |members: usize| {
//!     let parts = Parts::new(64, numbers.len(), members);
//!     let mut whole = Tree::new("sums", parts.count(), |_, lower: f64, upper: f64| Ok(lower + upper))?;
//!     for member in 0..members {
//!         // Each member adds the parts that it owns. The subtrees that it cannot join are joined in `whole`.
//!         let mut own = Tree::new("sums", parts.count(), |_, lower: f64, upper: f64| Ok(lower + upper))?;
//!         for part in parts.owned(member) {
//!             own.push_part(part, numbers[parts.rows(part)].iter().sum())?;
//!         }
//!         for (node, value) in own.into_subtrees() {
//!             whole.push(node, value)?;
//!         }
//!     }
//!     Ok::<_, purlin_base::error::Error>(whole.into_sum())
//! };
//! assert_eq!(sum(3)?, sum(1)?);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;

pub mod group;
pub mod parts;
