//! A group of contexts that share the work of a call. The rules of membership are here, for all families.

use std::sync::Arc;

use crate::backend::Backend;
use crate::choice::word;
use crate::context::{Context, another_context};
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Most members: more devices than a host has.
pub const MOST_MEMBERS: usize = 1024;

/// Contexts on devices of one kind, in an order that results depend on. Matrices, tensors and streams of a call belong to
/// the first.
#[derive(Clone)]
pub struct Group {
    /// Distinct contexts, at least one; the first owns matrices, tensors and streams.
    members: Vec<Arc<Context>>,
}

impl Group {
    /// A group of `contexts`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no context or too many (naming `count`), and for one that is given twice or is on
    /// another kind of device than the first (naming `contexts[k]`); the error of a context that cannot be used.
    pub fn new(contexts: Vec<Arc<Context>>) -> Result<Self> {
        check_count(contexts.len())?;
        for (k, context) in contexts.iter().enumerate() {
            context.check_alive()?;
            let argument = || format!("contexts[{k}]");
            if contexts[..k].iter().any(|c| Arc::ptr_eq(c, context)) {
                return Err(Error::invalid(argument(), "is given twice"));
            }
            let (first, other) = (kind(&contexts[0]), kind(context));
            if first != other {
                let problem = format!("is on {other}, the first is on {first}: results would differ");
                return Err(Error::invalid(argument(), problem));
            }
        }
        Ok(Self { members: contexts })
    }

    /// The group of one context.
    pub fn of(context: &Arc<Context>) -> Self {
        Self { members: vec![Arc::clone(context)] }
    }

    /// All contexts; at least one.
    pub fn members(&self) -> &[Arc<Context>] {
        &self.members
    }

    /// The context of a call's matrices, tensors and streams.
    pub fn first(&self) -> &Arc<Context> {
        &self.members[0]
    }

    /// Refuses a group whose contexts cannot be used any more.
    ///
    /// # Errors
    /// As [`Context::check_alive`].
    pub fn check_alive(&self) -> Result<()> {
        self.members.iter().try_for_each(|c| c.check_alive())
    }

    /// Refuses a group that does not begin with `context`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `group`.
    pub fn expect_first(&self, context: &Arc<Context>) -> Result<()> {
        if Arc::ptr_eq(self.first(), context) {
            return Ok(());
        }
        Err(another_context("group", "begins with", self.first(), context))
    }

    /// Refuses several contexts on the CPU. `parts` names the items that are distributed over the contexts.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `group`.
    pub fn expect_gpus(&self, parts: &str) -> Result<()> {
        match (self.members.len(), self.first().backend()) {
            (1, _) | (_, Backend::Gpu(_)) => Ok(()),
            (count, Backend::Cpu) => {
                let problem = format!("has {count} contexts on the CPU: {parts} are distributed over GPUs alone");
                Err(Error::invalid("group", problem))
            }
        }
    }
}

/// Refuses a number of members outside 1 to [`MOST_MEMBERS`].
///
/// # Errors
/// [`Error::InvalidArgument`] naming `count`.
pub fn check_count(count: usize) -> Result<()> {
    if (1..=MOST_MEMBERS).contains(&count) {
        return Ok(());
    }
    Err(Error::invalid("count", format!("is {count}, outside 1 to {MOST_MEMBERS}")))
}

/// The common property of a group's members. Vector instructions change the bits of sums.
fn kind(context: &Context) -> String {
    match context.backend() {
        Backend::Cpu => format!("the CPU with {}", word(context.isa())),
        Backend::Gpu(gpu) => String::from(gpu.name()),
    }
}

/// For each context the part of its device's free memory that a plan may give it. Contexts on one device share that memory
/// equally. On the CPU `u64::MAX`.
///
/// # Errors
/// [`Error::Cuda`] if the driver does not give the free memory.
pub fn free_device_memory(contexts: &[&Context]) -> Result<Vec<u64>> {
    let mut devices: Vec<(Option<i32>, u64)> = Vec::with_capacity(contexts.len());
    for context in contexts {
        let device = match context.backend() {
            Backend::Cpu => (None, u64::MAX),
            Backend::Gpu(gpu) => match devices.iter().find(|d| d.0 == Some(gpu.ordinal())) {
                Some(known) => *known,
                None => (Some(gpu.ordinal()), gpu.memory_free()?),
            },
        };
        devices.push(device);
    }
    Ok(divided(&devices))
}

/// The free memory of each device, by its ordinal, divided by the number of entries with that ordinal.
fn divided(devices: &[(Option<i32>, u64)]) -> Vec<u64> {
    let sharers = |ordinal| devices.iter().filter(|d| d.0 == Some(ordinal)).count();
    let part = |&(ordinal, free): &(Option<i32>, u64)| ordinal.map_or(free, |o| free / to_u64(sharers(o)));
    devices.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Isa;
    use crate::context::Options;
    use crate::testing::sparse::gpu;

    fn cpu(isa: Option<Isa>) -> Arc<Context> {
        Context::new(Options { backend: crate::backend::BackendChoice::Cpu, threads: 1, isa, ..Options::default() })
            .unwrap()
    }

    fn problem(contexts: Vec<Arc<Context>>) -> String {
        Group::new(contexts).err().unwrap().to_string()
    }

    #[test]
    fn members_keep_their_order_and_live_with_the_group() {
        let contexts: Vec<_> = (0..3).map(|_| cpu(None)).collect();
        let group = Group::new(contexts.clone()).unwrap();
        assert!(contexts.iter().zip(group.members()).all(|(a, b)| Arc::ptr_eq(a, b)));
        assert_eq!(group.members().len(), 3);
        let first = Arc::downgrade(&contexts[0]);
        drop(contexts);
        assert!(first.upgrade().is_some());
        group.check_alive().unwrap();
        drop(group);
        assert!(first.upgrade().is_none());
    }

    #[test]
    fn members_are_of_one_kind_and_given_once() {
        let (a, b) = (cpu(None), cpu(None));
        assert_eq!(problem(vec![]), "count: is 0, outside 1 to 1024");
        assert_eq!(problem(vec![Arc::clone(&a); 1025]), "count: is 1025, outside 1 to 1024");
        let twice = vec![Arc::clone(&b), Arc::clone(&a), Arc::clone(&a)];
        assert_eq!(problem(twice), "contexts[2]: is given twice");
        let portable = cpu(Some(Isa::Portable));
        if a.isa() != Isa::Portable {
            let text = problem(vec![Arc::clone(&a), b, portable]);
            let expected = format!(
                "contexts[2]: is on the CPU with PORTABLE, the first is on the CPU with {}: results would differ",
                word(a.isa())
            );
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_call_begins_with_its_context() {
        let (a, b) = (cpu(None), cpu(None));
        let group = Group::new(vec![Arc::clone(&a), Arc::clone(&b)]).unwrap();
        group.expect_first(&a).unwrap();
        assert_eq!(group.expect_first(&b).unwrap_err().to_string(), "group: begins with another context");
        assert_eq!(
            group.expect_gpus("rows").unwrap_err().to_string(),
            "group: has 2 contexts on the CPU: rows are distributed over GPUs alone"
        );
        Group::of(&b).expect_gpus("rows").unwrap();
        Group::of(&b).expect_first(&b).unwrap();
    }

    #[test]
    fn contexts_on_one_device_share_its_free_memory() {
        let parts = divided(&[(Some(0), 900), (Some(2), 50), (Some(0), 900), (Some(0), 900)]);
        assert_eq!(parts, [300, 50, 300, 300]);
        assert_eq!(divided(&[(Some(1), 7)]), [7]);
        let (a, b) = (cpu(None), cpu(None));
        assert_eq!(free_device_memory(&[&a, &b]).unwrap(), [u64::MAX; 2]);
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn two_contexts_on_a_gpu_have_half_of_its_memory_each() {
        let (first, second) = (gpu(), gpu());
        let parts = free_device_memory(&[&first, &second]).unwrap();
        let whole = first.gpu("context").unwrap().memory_free().unwrap();
        assert!(parts[0] == parts[1] && parts[0] <= whole / 2 + whole / 8, "{parts:?} of {whole}");
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn gpus_share_with_gpus_alone() {
        let (first, second) = (gpu(), gpu());
        let group = Group::new(vec![Arc::clone(&first), Arc::clone(&second)]).unwrap();
        group.expect_gpus("rows").unwrap();
        let text = problem(vec![Arc::clone(&first), cpu(None)]);
        assert!(text.starts_with("contexts[1]: is on the CPU with "), "{text}");
        let text = problem(vec![cpu(None), first]);
        assert!(text.starts_with("contexts[1]: is on ") && text.contains("the first is on the CPU"), "{text}");
    }
}
