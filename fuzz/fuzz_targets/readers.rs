//! Files that claim to be MetaImages, and raw ones.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use purlin_fuzz::{program::Tally, readers};

thread_local! {
    static FOLDER: RefCell<Option<readers::Folder>> = const { RefCell::new(None) };
}

fuzz_target!(|bytes: &[u8]| FOLDER.with_borrow_mut(|folder| {
    let folder = folder.get_or_insert_with(readers::Folder::new);
    readers::run(bytes, folder, &mut Tally::default());
}));
