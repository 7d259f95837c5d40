//! Groups of contexts that share the work of a call.

use std::sync::Arc;

use super::context::ContextObject;
use super::handle;
use super::options::{self, versioned};
use super::{guard, purlin_context, purlin_status};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::{Group, check_count};
use crate::shape;

/// Contexts that share the work of a call: an option `group` of the families that distribute work over several devices. The
/// first member is the context of the call's matrices, tensors and streams. Thread-safe, and never changed.
pub struct purlin_group {
    _private: [u8; 0],
}

/// The object behind a handle of a group.
pub(super) type GroupObject = Arc<Group>;

/// The group of the option `group`: `context` alone for NULL.
pub(super) fn of(group: *const purlin_group, context: &Arc<Context>) -> Result<GroupObject> {
    let Some(group) = handle::shared_or_null::<GroupObject, _>("group", group)? else {
        return Ok(Arc::new(Group::of(context)));
    };
    group.check_alive()?;
    group.expect_first(context)?;
    Ok(Arc::clone(&group))
}

/// Options of a group. This version has none: a later one appends fields, and purlin_group_create keeps its arguments.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_group_options {
    /// Size of the caller's struct; set by purlin_group_options_init.
    pub struct_size: usize,
}

versioned!(purlin_group_options, first = size_of::<Self>());

/// Number of the members of a group.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_group_info {
    /// Size of the caller's struct; set by purlin_group_info_init.
    pub struct_size: usize,
    /// Number of contexts, at least 1.
    pub members: i64,
}

versioned!(purlin_group_info, first = size_of::<Self>());

/// Sets `struct_size` and the defaults of all options.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_group_options_init(options: *mut purlin_group_options, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Makes a group of contexts on devices of one kind: GPUs of the same model, or the CPU with the same vector instructions.
/// Two contexts may be on the same device. The group keeps its members: they may be destroyed before it, and it before the
/// objects that use it.
///
/// Results depend on the number of members only where the family's chapter says so.
///
/// @param      count     number of contexts, 1 to 1024.
/// @param      contexts  the members, in the order in which they share work.
/// @param      options   NULL for the defaults.
/// @param[out] group     the group; destroy it with purlin_group_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `count`, a
/// context given twice, another kind of device than the first's, struct_size), `PURLIN_ERROR_NOT_SUPPORTED` (an option
/// that this version does not know), `PURLIN_ERROR_FORKED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `contexts` is NULL or valid for `count` handles; `options` is NULL or an initialized struct; `group` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_group_create(
    count: i64,
    contexts: *const *const purlin_context,
    options: *const purlin_group_options,
    group: *mut *mut purlin_group,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("group", group) }?;
        // SAFETY: the caller promises NULL or a struct of the size that it names.
        let _: purlin_group_options = unsafe { options::read("options", options) }?;
        let count = shape::size("count", count, 0)?;
        check_count(count)?;
        // SAFETY: the caller promises NULL or as many handles.
        let handles = unsafe { super::pointer::list("contexts", count, contexts) }?;
        let mut members = crate::alloc::with_capacity("group", count)?;
        for (k, handle) in handles.iter().enumerate() {
            members.push(Arc::clone(&*handle::shared::<ContextObject, _>(&format!("contexts[{k}]"), *handle)?));
        }
        *target = handle::insert::<GroupObject, _>(Arc::new(Group::new(members)?))?;
        Ok(())
    })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_group_info_init(info: *mut purlin_group_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// The number of contexts of a group.
///
/// @param      group  the group.
/// @param[out] info   filled in; initialize it with purlin_group_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size),
/// `PURLIN_ERROR_FORKED`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_group_properties(
    group: *const purlin_group,
    info: *mut purlin_group_info,
) -> purlin_status {
    guard::run(|| {
        let group = handle::shared::<GroupObject, _>("group", group)?;
        group.check_alive()?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let value = purlin_group_info { struct_size: 0, members: shape::to_i64(group.members().len()) };
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, value) }
    })
}

/// Destroys a group. Objects and calls that use it go on.
///
/// @param group  the group; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_group_destroy(group: *mut purlin_group) -> purlin_status {
    guard::run(|| handle::remove::<GroupObject, _>("group", group))
}
