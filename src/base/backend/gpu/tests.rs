use super::device::Device;
use super::*;
use crate::backend::budget::Budget;
use crate::error::Error;

/// Without a driver the errors name the missing library; with one the count of devices is not negative.
#[test]
fn a_machine_without_a_driver_has_no_devices_and_says_why() {
    // SAFETY: only tries to load the library.
    if unsafe { cudarc::driver::sys::is_culib_present() } {
        assert!(Gpu::device_count().unwrap() >= 0);
        return;
    }
    assert_eq!(Gpu::device_count().unwrap(), 0);
    for error in [Gpu::device_info(0).err(), Device::open(0, &Budget::new(0)).err()] {
        match error {
            Some(Error::NoDevice(text)) => assert!(text.contains("libcuda"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(Gpu::open(0, &Budget::new(0)), Err(Error::NoDevice(_))));
}

#[test]
fn missing_libraries_are_named() {
    for (library, name) in [
        (Library::Cublas, "libcublas.so.13"),
        (Library::Cusolver, "libcusolver.so.12"),
        (Library::Cusparse, "libcusparse.so.12"),
        (Library::Cufft, "libcufft.so.12"),
    ] {
        match library.find() {
            Ok(found) => assert!(found.starts_with(name.trim_end_matches(|c: char| c.is_ascii_digit()))),
            Err(Error::NoDevice(text)) => assert!(text.starts_with(name), "{text}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn libraries_of_a_newer_cuda_than_the_drivers_are_left_out() {
    let names = |library: Library, driver| -> Vec<String> { library.candidates(driver).collect() };
    assert_eq!(names(Library::Cublas, None), ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"]);
    assert_eq!(names(Library::Cublas, Some(14000)), names(Library::Cublas, None));
    assert_eq!(names(Library::Cublas, Some(12080)), ["libcublas.so.12", "libcublas.so.11"]);
    assert_eq!(names(Library::Cusolver, Some(13010)), ["libcusolver.so.12", "libcusolver.so.11"]);
    assert_eq!(names(Library::Cusolver, Some(12040)), ["libcusolver.so.11"]);
    assert_eq!(names(Library::Cusparse, Some(12040)), ["libcusparse.so.12", "libcusparse.so.11"]);
    assert_eq!(names(Library::Cufft, Some(11040)), ["libcufft.so.10"]);
    assert!(names(Library::Cublas, Some(10020)).is_empty());
}

#[test]
fn only_errors_that_kill_the_context_are_sticky() {
    for code in [700, 702, 710, 716, 719, 214] {
        assert!(driver::is_sticky(code), "{code}");
    }
    for code in [0, 1, 2, 100, 101, 209, 400, 500, 600, 701, 720] {
        assert!(!driver::is_sticky(code), "{code}");
    }
}

#[test]
fn launches_cover_every_item() {
    let grid = |items| launch::Grid::covering(items, 128).map(|g| g.blocks);
    assert_eq!(grid(0).unwrap(), [0, 1, 1]);
    assert_eq!(grid(1).unwrap(), [1, 1, 1]);
    assert_eq!(grid(128).unwrap(), [1, 1, 1]);
    assert_eq!(grid(129).unwrap(), [2, 1, 1]);
    assert!(grid(usize::MAX).is_err());
}

#[test]
fn the_build_says_what_it_was_compiled_with() {
    assert_eq!(kernels::constants::TENSOR_MASKED, 4);
    assert!(!build_archs().is_empty() && !build_cuda().is_empty());
}
