//! Which files may be read, and which an output file may replace.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::array::{ArrayInfo, Block};
use super::metaimage::{MetaImageSink, MetaImageSource};
use super::npy::NpySource;
use super::number::{Endianness, Number};
use super::provisional::ProvisionalFile;
use super::same_file::{refuse_file_of_sink, refuse_file_of_source};
use super::sink::{CallbackSink, FileSink, Sink};
use super::source::{FileSource, Source};
use super::tiff::{TiffSink, TiffSource};
use crate::error::{Error, Result};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A FIFO, a socket, a directory and, for root, a character device: files that are not regular, with their names.
    fn special(&self) -> Vec<(PathBuf, &'static str)> {
        let (fifo, device, socket) = (self.join("fifo"), self.join("device"), self.join("socket"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        drop(UnixListener::bind(&socket).unwrap());
        fs::create_dir(self.join("directory")).unwrap();
        let mut all = vec![(fifo, "a FIFO"), (socket, "a socket"), (self.join("directory"), "a directory")];
        // The numbers of /dev/null.
        let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).output().unwrap();
        if made.status.success() {
            all.push((device, "a character device"));
        } else {
            println!("no character device: only root can make one");
        }
        all
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn info() -> ArrayInfo {
    ArrayInfo::new(Number::U8, &[2, 2]).unwrap()
}

fn io_problem<T>(outcome: Result<T>) -> String {
    match outcome.map(|_| ()).unwrap_err() {
        Error::Io { problem, .. } => problem,
        other => panic!("{other:?}"),
    }
}

fn write(path: &Path) -> Result<()> {
    let mut file = ProvisionalFile::create(path)?;
    file.write_at(b"new", 0)?;
    file.finish()
}

/// Inode and type, which a replaced file does not keep.
fn node(path: &Path) -> (u64, u32) {
    let found = fs::symlink_metadata(path).unwrap();
    (found.ino(), found.mode())
}

#[test]
fn offsets_beyond_the_size_of_any_file_are_refused_by_name() {
    let folder = Folder::new("offset");
    let (path, bytes) = (folder.join("file"), info().bytes() as u64);
    let e = FileSink::create_at(&path, i64::MAX as u64, Endianness::Little, info()).map(|_| ()).unwrap_err();
    let most = i64::MAX as u64 - bytes;
    let problem = format!("is {}, at most 2^63 - 1 - {bytes} bytes = {most}", i64::MAX);
    assert_eq!(e, Error::invalid("offset", problem));
}

#[test]
fn files_that_are_not_regular_are_neither_read_nor_replaced() {
    let folder = Folder::new("special");
    let special = folder.special();
    let names = folder.names();
    for (path, kind) in &special {
        let before = node(path);
        let link = folder.join("link");
        symlink(path, &link).unwrap();
        for path in [path, &link] {
            for problem in [
                io_problem(write(path)),
                io_problem(FileSink::create_at(path, 0, Endianness::Little, info())),
                io_problem(MetaImageSink::create(path, info())),
                io_problem(TiffSink::create(path, info())),
                io_problem(FileSource::open(path, 0, Endianness::Little, info())),
                io_problem(MetaImageSource::open(path)),
                io_problem(NpySource::open(path)),
                io_problem(TiffSource::open(&[path.to_owned()])),
            ] {
                assert_eq!(problem, format!("is {kind}, a regular file is needed"), "{}", path.display());
            }
        }
        fs::remove_file(&link).unwrap();
        assert_eq!(node(path), before);
    }
    assert_eq!(folder.names(), names);
    // A header may name a path that is no file, and an image with a detached header may be asked to write to one.
    let header = folder.join("x.mhd");
    let text = "DimSize = 2 2\nElementType = MET_UCHAR\nElementDataFile = fifo\n";
    fs::write(&header, text).unwrap();
    assert!(io_problem(MetaImageSource::open(&header)).contains("is a FIFO"));
    fs::rename(folder.join("fifo"), folder.join("x.raw")).unwrap();
    assert!(io_problem(MetaImageSink::create(&header, info())).contains("is a FIFO"));
    fs::remove_file(&header).unwrap();
    let problem = io_problem(MetaImageSink::create(&header, info()));
    assert!(problem.contains("exists without") && problem.contains("x.mhd"), "{problem}");
}

#[test]
fn a_target_that_becomes_something_else_meanwhile_is_left_alone() {
    let folder = Folder::new("meanwhile");
    let target = folder.join("x");
    let begin = || {
        let file = ProvisionalFile::create(&target).unwrap();
        file.write_at(b"new", 0).unwrap();
        file
    };
    let mut file = begin();
    fs::create_dir(&target).unwrap();
    assert!(io_problem(file.finish()).contains("is a directory"));
    drop(file);
    fs::remove_dir(&target).unwrap();

    let mut file = begin();
    fs::write(folder.join("y"), "old").unwrap();
    symlink(folder.join("y"), &target).unwrap();
    assert!(io_problem(file.finish()).contains("names another file"));
    drop(file);
    assert_eq!(fs::read(folder.join("y")).unwrap(), b"old");
    fs::remove_file(&target).unwrap();

    // A provisional file that somebody replaced is neither renamed nor removed.
    let mut file = begin();
    let partial = folder.names().into_iter().find(|n| n.ends_with(".partial")).unwrap();
    fs::remove_file(folder.join(&partial)).unwrap();
    fs::write(folder.join(&partial), "theirs").unwrap();
    assert!(io_problem(file.finish()).contains("removed or replaced"));
    drop(file);
    assert_eq!(fs::read(folder.join(&partial)).unwrap(), b"theirs");
    assert!(!target.exists());
}

#[test]
fn links_are_followed_to_regular_files_and_stay() {
    let folder = Folder::new("links");
    fs::create_dir(folder.join("far")).unwrap();
    let (file, link, second) = (folder.join("far/file"), folder.join("link"), folder.join("second"));
    fs::write(&file, "old").unwrap();
    symlink("far/file", &link).unwrap();
    symlink(&link, &second).unwrap();
    let before = node(&link);
    write(&second).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(node(&link), before);
    assert_eq!(fs::read_link(&second).unwrap(), link);
    assert_eq!(folder.names(), ["far", "link", "second"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(io_problem(write(&second)), "is a symbolic link to no file");
    assert!(!file.exists() && fs::read_dir(folder.join("far")).unwrap().next().is_none());

    // One of several names: the others keep the contents.
    let (one, two) = (folder.join("one"), folder.join("two"));
    fs::write(&one, "old").unwrap();
    fs::hard_link(&one, &two).unwrap();
    write(&one).unwrap();
    assert_eq!((fs::read(&one).unwrap(), fs::read(&two).unwrap()), (b"new".to_vec(), b"old".to_vec()));
    for path in ["slash/", "", "..", "/"] {
        let problem = io_problem(write(Path::new(path)));
        assert_eq!(problem, "is not a file's name", "{path}");
    }
}

#[test]
fn permissions_of_a_replaced_file_stay() {
    let folder = Folder::new("modes");
    let path = folder.join("x");
    write(&path).unwrap();
    // The mode that the process gives any new file.
    let plain = folder.join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(mode(&path), mode(&plain));
    for want in [0o600, 0o640, 0o666, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(want)).unwrap();
        let file = ProvisionalFile::create(&path).unwrap();
        let name = folder.names().into_iter().find(|n| n.ends_with(".partial")).unwrap();
        assert_eq!(mode(&folder.join(&name)), want, "before it has its name");
        drop(file);
        write(&path).unwrap();
        assert_eq!(mode(&path), want);
    }
    let found = fs::metadata(&path).unwrap();
    if found.uid() == 0 {
        std::os::unix::fs::chown(&path, Some(12345), Some(54321)).unwrap();
        write(&path).unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (12345, 54321, 0o755));
    } else {
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert!(io_problem(write(&path)).starts_with("replace: "));
        assert_eq!(mode(&path), 0o400);
    }
}

#[test]
fn provisional_names_are_unpredictable_and_go_with_a_failure() {
    let folder = Folder::new("names");
    let target = folder.join("x");
    fs::write(&target, "old").unwrap();
    let victim = folder.join("victim");
    fs::write(&victim, "theirs").unwrap();
    // The names that were predictable: process and count.
    for count in 0..64 {
        symlink(&victim, folder.join(&format!("x.{}-{count}.partial", std::process::id()))).unwrap();
    }
    let planted = folder.names().len();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..32 {
        let mut sink = FileSink::create_at(&target, 0, Endianness::Big, info()).unwrap();
        sink.write(&Block::whole(&info()), &[1, 2, 3, 4]).unwrap();
        let name = folder.names().into_iter().find(|n| n.len() == "x..partial".len() + 16).unwrap();
        assert!(seen.insert(name), "a name came twice");
        drop(sink);
        assert_eq!(folder.names().len(), planted);
    }
    assert_eq!(fs::read(&target).unwrap(), b"old");
    write(&target).unwrap();
    assert_eq!((fs::read(&target).unwrap(), fs::read(&victim).unwrap()), (b"new".to_vec(), b"theirs".to_vec()));
    // A name that leaves no place for the addition.
    let long = folder.join(&"n".repeat(255));
    write(&long).unwrap();
    assert_eq!(fs::read(&long).unwrap(), b"new");
}

#[test]
fn a_large_block_is_written_in_the_files_byte_order() {
    let folder = Folder::new("order");
    let path = folder.join("x");
    let info = ArrayInfo::new(Number::F32, &[40_000, 2]).unwrap();
    let values: Vec<f32> = (0..80_000).map(|v| v as f32).collect();
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut sink = FileSink::create_at(&path, 3, Endianness::Big, info.clone()).unwrap();
    sink.write(&Block::whole(&info), &data).unwrap();
    sink.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes[3..].chunks_exact(4).zip(&values).all(|(b, v)| b == v.to_be_bytes()));
    assert_eq!(bytes.len(), 3 + data.len());
}

/// Writes an image of four bytes, all of them `value`.
fn write_image(path: &Path, value: u8) -> Result<()> {
    let mut sink = MetaImageSink::create(path, info())?;
    sink.write(&Block::whole(&info()), &[value; 4])?;
    sink.finish()
}

fn read_image(path: &Path) -> Vec<u8> {
    let mut out = vec![0; 4];
    MetaImageSource::open(path).unwrap().read(&Block::whole(&info()), &mut out).unwrap();
    out
}

#[test]
fn the_header_size_of_an_image_in_one_file_is_not_less_than_its_header() {
    let folder = Folder::new("header-size");
    let path = folder.join("image.mha");
    let header = |size: usize| {
        let shape = "ObjectType = Image\nNDims = 1\nDimSize = 3\nElementType = MET_UCHAR\n";
        format!("{shape}HeaderSize = {size:04}\nElementDataFile = LOCAL\n").into_bytes()
    };
    let length = header(0).len();
    let open = |size: usize| {
        fs::write(&path, [&header(size)[..], &[1, 2, 3, 4, 5]].concat()).unwrap();
        MetaImageSource::open(&path)
    };
    for (size, want) in [(length, [1, 2, 3]), (length + 2, [3, 4, 5])] {
        let (mut source, mut found) = (open(size).unwrap(), [0; 3]);
        source.read(&Block::whole(&source.info().clone()), &mut found).unwrap();
        assert_eq!(found, want);
    }
    let problem = io_problem(open(length - 1));
    assert!(
        problem.ends_with(&format!("has HeaderSize = {}, but its header has {length} bytes", length - 1)),
        "{problem}"
    );
}

#[test]
fn the_data_of_an_image_go_beside_the_header_that_a_link_names() {
    let folder = Folder::new("image-links");
    let (a, b) = (folder.join("A"), folder.join("B"));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    for (n, name) in ["vol.mhd", "other.mhd"].into_iter().enumerate() {
        let (real, link) = (b.join("vol.mhd"), a.join(name));
        let n = n as u8 * 10;
        write_image(&real, n + 1).unwrap();
        symlink("../B/vol.mhd", &link).unwrap();
        write_image(&link, n + 2).unwrap();
        assert_eq!((read_image(&real), read_image(&link)), (vec![n + 2; 4], vec![n + 2; 4]), "{name}");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("../B/vol.mhd"));
        assert_eq!(fs::read_dir(&a).unwrap().count(), n as usize / 10 + 1, "nothing beside the link");
        assert_eq!(fs::read_dir(&b).unwrap().count(), 2);
    }
    // Readers look beside the name that they are given.
    let beside = a.join("vol.raw");
    fs::write(&beside, "else").unwrap();
    let problem = io_problem(write_image(&a.join("vol.mhd"), 3));
    assert!(problem.contains("would be read as the data of"), "{problem}");
    assert_eq!((read_image(&b.join("vol.mhd")), fs::read(&beside).unwrap()), (vec![12; 4], b"else".to_vec()));
    fs::remove_file(&beside).unwrap();
    symlink("../B/vol.raw", &beside).unwrap();
    write_image(&a.join("vol.mhd"), 4).unwrap();
    assert_eq!((read_image(&b.join("vol.mhd")), read_image(&a.join("vol.mhd"))), (vec![4; 4], vec![4; 4]));
    // The name of the file that is written says whether its data are apart.
    write_image(&b.join("one.mha"), 5).unwrap();
    symlink("../B/one.mha", a.join("one.mhd")).unwrap();
    write_image(&a.join("one.mhd"), 6).unwrap();
    assert_eq!(read_image(&b.join("one.mha")), [6; 4]);
    symlink("../B/vol.mhd", a.join("vol.mha")).unwrap();
    write_image(&a.join("vol.mha"), 7).unwrap();
    assert_eq!(fs::read(b.join("vol.raw")).unwrap(), [7; 4]);
    write_image(&b.join(".mhd"), 8).unwrap();
    assert_eq!((fs::read(b.join(".raw")).unwrap(), read_image(&b.join(".mhd"))), (vec![8; 4], vec![8; 4]));
}

#[test]
fn a_raw_file_that_comes_during_the_run_is_left_alone() {
    let folder = Folder::new("late");
    let (header, raw) = (folder.join("x.mhd"), folder.join("x.raw"));
    let finish = |before: &dyn Fn()| {
        let mut sink = MetaImageSink::create(&header, info()).unwrap();
        before();
        sink.write(&Block::whole(&info()), &[7; 4]).unwrap();
        sink.finish()
    };
    let problem = io_problem(finish(&|| fs::write(&raw, "else").unwrap()));
    assert!(problem.contains("is not the data file of"), "{problem}");
    assert_eq!((fs::read(&raw).unwrap(), folder.names()), (b"else".to_vec(), vec!["x.raw".to_owned()]));
    fs::remove_file(&raw).unwrap();
    // Another run's image of that name is replaced, as any file is.
    finish(&|| write_image(&header, 5).unwrap()).unwrap();
    assert_eq!(read_image(&header), [7; 4]);
    // The header went to other data, and the name of the old ones to somebody else.
    let other = "DimSize = 2 2\nElementType = MET_UCHAR\nElementDataFile = y.raw\n";
    let problem = io_problem(finish(&|| {
        fs::write(&header, other).unwrap();
        fs::write(&raw, "else").unwrap();
    }));
    assert!(problem.contains("is not the data file of"), "{problem}");
    assert_eq!((fs::read(&raw).unwrap(), fs::read_to_string(&header).unwrap()), (b"else".to_vec(), other.to_owned()));
    // A name that comes after the last look.
    let mut file = ProvisionalFile::create(&folder.join("z")).unwrap();
    file.write_at(b"new", 0).unwrap();
    fs::write(folder.join("z"), "else").unwrap();
    assert!(io_problem(file.finish_new()).contains("came into being"));
    drop(file);
    assert_eq!(fs::read(folder.join("z")).unwrap(), b"else");
    fs::remove_file(folder.join("z")).unwrap();
    let mut file = ProvisionalFile::create(&folder.join("z")).unwrap();
    file.write_at(b"new", 0).unwrap();
    file.finish_new().unwrap();
    assert_eq!((fs::read(folder.join("z")).unwrap(), folder.names().len()), (b"new".to_vec(), 3));
    let found = fs::metadata(folder.join("z")).unwrap();
    assert_eq!(found.nlink(), 1);
}

/// A complete file of each format, [3, 2, 2] of U8, by its name.
fn written(folder: &Folder) -> Vec<(PathBuf, Box<dyn Source>)> {
    let info = ArrayInfo::new(Number::U8, &[3, 2, 2]).unwrap();
    let write = |mut sink: Box<dyn Sink>| {
        sink.write(&Block::whole(&info), &[5; 12]).unwrap();
        sink.finish().unwrap();
    };
    let paths = ["x.raw", "x.npy", "x.mha", "head.mhd", "head.raw", "x.tif"].map(|name| folder.join(name));
    write(Box::new(FileSink::create(&paths[0], &[], Endianness::NATIVE, info.clone()).unwrap()));
    write(Box::new(MetaImageSink::create(&paths[2], info.clone()).unwrap()));
    write(Box::new(MetaImageSink::create(&paths[3], info.clone()).unwrap()));
    write(Box::new(TiffSink::create(&paths[5], info.clone()).unwrap()));
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 3), }";
    let length = u8::try_from(header.len()).unwrap();
    fs::write(&paths[1], [b"\x93NUMPY\x01\0", &[length, 0][..], header.as_bytes(), &[5; 12]].concat()).unwrap();
    let open = |k: usize| -> Box<dyn Source> {
        match k {
            0 => Box::new(FileSource::open(&paths[0], 0, Endianness::NATIVE, info.clone()).unwrap()),
            1 => Box::new(NpySource::open(&paths[1]).unwrap()),
            2 => Box::new(MetaImageSource::open(&paths[2]).unwrap()),
            3 | 4 => Box::new(MetaImageSource::open(&paths[3]).unwrap()),
            _ => Box::new(TiffSource::open(&[paths[5].clone()]).unwrap()),
        }
    };
    (0..paths.len()).map(|k| (paths[k].clone(), open(k))).collect()
}

#[test]
fn a_sink_that_goes_to_a_file_of_the_source_is_refused() {
    let folder = Folder::new("same");
    let info = ArrayInfo::new(Number::U8, &[2]).unwrap();
    let sink = |path: &Path| FileSink::create(path, &[], Endianness::NATIVE, info.clone()).unwrap();
    for (path, source) in written(&folder) {
        let (link, hard, other) = (folder.join("link"), folder.join("hard"), folder.join("other"));
        symlink(&path, &link).unwrap();
        fs::hard_link(&path, &hard).unwrap();
        fs::write(&other, "another file").unwrap();
        for (name, is_refused) in
            [(&path, true), (&link, true), (&hard, true), (&other, false), (&folder.join("new"), false)]
        {
            let found = refuse_file_of_source("volume", &sink(name), "projections", &*source);
            let Err(e) = found else {
                assert!(!is_refused, "{path:?} by {name:?}");
                continue;
            };
            assert!(is_refused, "{path:?} by {name:?}");
            let start = "volume: goes to a file that projections is read from, ";
            assert!(matches!(e, Error::InvalidArgument { .. }) && e.to_string().starts_with(start), "{e}");
        }
        for name in [link, hard, other] {
            fs::remove_file(name).unwrap();
        }
    }
    // The second file of an image counts, and the first one whose header is the file that is read.
    let image = MetaImageSink::create(&folder.join("head.mhd"), info.clone()).unwrap();
    for name in ["head.raw", "head.mhd"] {
        let source = FileSource::open(&folder.join(name), 0, Endianness::NATIVE, info.clone()).unwrap();
        assert!(refuse_file_of_source("volume", &image, "projections", &source).is_err(), "{name}");
    }
    // Sources and sinks that have no file.
    let source = FileSource::open(&folder.join("x.raw"), 0, Endianness::NATIVE, info.clone()).unwrap();
    let function = CallbackSink::new(info.clone(), Box::new(|_, _| Ok(())));
    assert!(refuse_file_of_source("volume", &function, "projections", &source).is_ok());
    assert!(refuse_file_of_sink("sparse", &function, "low_rank", &function).is_ok());
    let found = refuse_file_of_sink("sparse", &sink(&folder.join("head.raw")), "low_rank", &image);
    assert!(found.unwrap_err().to_string().starts_with("sparse: goes to the file of low_rank, "));
}
