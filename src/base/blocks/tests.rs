//! Standard streams that the program has closed or replaced.

use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use super::provisional::ProvisionalFile;
use super::regular::open_input;

/// The test runs again as a process of its own, which may close its streams.
#[test]
#[allow(unsafe_code, reason = "closes the standard streams, for which std has no function")]
fn files_are_not_taken_for_closed_standard_streams() {
    const CHILD: &str = "PURLIN_TEST_CLOSED_STREAMS";
    let Some(path) = std::env::var_os(CHILD).map(PathBuf::from) else {
        let name = format!("purlin-streams-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let this = concat!(module_path!(), "::files_are_not_taken_for_closed_standard_streams");
        let this = this.split_once("::").unwrap().1;
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let status = child.args(["--exact", this, "--nocapture"]).env(CHILD, &path).status().unwrap();
        assert_eq!(status.code(), Some(77));
        assert_eq!(fs::read(&path).unwrap(), b"0123456789");
        return fs::remove_file(&path).unwrap();
    };
    // SAFETY: the streams' own numbers; nothing else of the process uses them below.
    unsafe {
        for stream in 0..3 {
            libc::close(stream);
        }
    }
    let mut file = ProvisionalFile::create(&path).unwrap();
    file.write_at(b"0123456789", 0).unwrap();
    // SAFETY: as a message of the program, which has no stream to go to.
    let written = unsafe { libc::write(2, b"message".as_ptr().cast(), 7) };
    file.finish().unwrap();
    let (input, _) = open_input(&path).unwrap();
    let is_apart = file.file().as_raw_fd() > 2 && input.as_raw_fd() > 2;
    std::process::exit(if written == -1 && is_apart { 77 } else { 1 });
}
