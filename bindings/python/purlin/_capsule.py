"""DLPack capsules around tensors that the library exports."""

from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import Any

from ._calls import calls
from ._memory import (
    DELETER,
    UNVERSIONED,
    VERSIONED,
    DLManagedTensor,
    DLManagedTensorVersioned,
    api,
)

# Kept for each exported tensor until its consumer calls the deleter: the struct, the library's own one, and the Python
# objects whose memory it shows.
_exported: dict[int, tuple[Any, int, object]] = {}


def _release(address: int | None) -> None:
    """Calls the library's deleter for a struct of ours and lets the memory go."""
    if address is not None:
        _struct, inner, _keep = _exported.pop(address)
        # At the end of the program the end of the process frees the memory.
        if calls.enter():
            try:
                _delete(inner)
            finally:
                calls.leave()


def _delete(address: int) -> None:
    managed = DLManagedTensorVersioned.from_address(address)
    if managed.deleter:
        managed.deleter(address)


_release_pointer = DELETER(_release)


def _capsule_gone(capsule: int | None) -> None:
    """Destructor of a capsule: nobody took the tensor."""
    if api.PyCapsule_IsValid(capsule, VERSIONED):
        address = api.PyCapsule_GetPointer(capsule, VERSIONED)
        deleter = DLManagedTensorVersioned.from_address(address).deleter
    elif api.PyCapsule_IsValid(capsule, UNVERSIONED):
        address = api.PyCapsule_GetPointer(capsule, UNVERSIONED)
        deleter = DLManagedTensor.from_address(address).deleter
    else:
        return  # taken: the consumer has renamed it
    deleter(address)


_capsule_gone_pointer = DELETER(_capsule_gone)


def make(managed: int, versioned: bool, keep: tuple[object, ...]) -> Any:
    """A capsule around the library's `DLManagedTensorVersioned`, which the capsule owns from here on."""
    inner = DLManagedTensorVersioned.from_address(managed)
    struct: Any
    if versioned:
        struct = DLManagedTensorVersioned()
        struct.major, struct.minor, struct.flags = inner.major, inner.minor, inner.flags
    else:
        struct = DLManagedTensor()
    struct.dl_tensor = inner.dl_tensor
    struct.deleter = _release_pointer
    address = ctypes.addressof(struct)
    _exported[address] = (struct, managed, keep)
    destructor = ctypes.cast(_capsule_gone_pointer, c_void_p)
    return api.PyCapsule_New(address, VERSIONED if versioned else UNVERSIONED, destructor)
