use std::io::Cursor;
use std::path::{Path, PathBuf};

use tiff::encoder::{Compression, Predictor, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard, colortype};
use tiff::tags::Tag;

use super::super::array::{ArrayInfo, Block};
use super::super::number::{Number, encode};
use super::super::sink::Sink;
use super::super::source::Source;
use super::*;
use crate::backend::memory::Budget;
use crate::error::{Error, Result};
use crate::rng::uniform;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-tiff-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A file of the folder with this content.
    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn whole(source: &mut TiffSource) -> Result<Vec<u8>> {
    let mut out = vec![0xa5; source.info().bytes()];
    let block = Block::whole(source.info());
    source.read(&block, &mut out).map(|()| out)
}

/// Reads windows of a source and compares them with the same part of `all`.
fn check_windows(source: &mut TiffSource, all: &[u8]) {
    let info = source.info().clone();
    let size = info.number.size();
    let [w, h, n] = *info.dims else { panic!("{:?}", info.dims) };
    assert!(whole(source).unwrap() == all);
    for (x, y, p) in
        [(0..w, 0..h, 0..n), (0..w, 3..h, n - 1..n), (2..w - 1, 1..h - 2, 0..n), (w - 1..w, h - 1..h, 0..1)]
    {
        let block =
            Block::whole(&info).along(0, x.start, x.len()).along(1, y.start, y.len()).along(2, p.start, p.len());
        let mut got = vec![0xa5; block.elements() * size];
        source.read(&block, &mut got).unwrap();
        let mut want = Vec::new();
        for page in p {
            for row in y.clone() {
                let at = ((page * h + row) * w + x.start) * size;
                want.extend(&all[at..at + x.len() * size]);
            }
        }
        assert!(got == want, "{block:?}");
    }
}

#[test]
fn every_type_survives_a_round_trip_with_its_place() {
    let folder = Folder::new("round");
    let dims = [7, 9, 5];
    let values: Vec<f32> = (0..7 * 9 * 5).map(|k| (k % 120) as f32).collect();
    for number in [
        Number::U8,
        Number::I8,
        Number::U16,
        Number::I16,
        Number::U32,
        Number::I32,
        Number::F16,
        Number::F32,
        Number::F64,
    ] {
        let path = folder.0.join(format!("{number:?}.tif"));
        let mut info = ArrayInfo::new(number, &dims).unwrap();
        info.spacing = Some(vec![2.2, 0.125, 1.75]);
        info.origin = Some(vec![-51.7, 0.0, 3.5]);
        let mut data = vec![0; info.bytes()];
        encode(number, &values, &mut data);
        let mut sink = TiffSink::create(&path, info.clone()).unwrap();
        // Groups of slices, the last ones first.
        let slice = 7 * 9 * number.size();
        for (first, count) in [(3, 2), (0, 3)] {
            let block = Block::whole(&info).along(2, first, count);
            sink.write(&block, &data[first * slice..(first + count) * slice]).unwrap();
        }
        assert!(!path.exists());
        sink.finish().unwrap();
        let mut source = TiffSource::open(std::slice::from_ref(&path)).unwrap();
        let back = source.info().clone();
        assert_eq!((back.number, &back.dims, &back.spacing), (number, &info.dims, &info.spacing));
        let near = back.origin.unwrap().iter().zip(info.origin.unwrap()).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near);
        check_windows(&mut source, &data);
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 9);
    drop(TiffSink::create(&folder.0.join("dropped.tif"), ArrayInfo::new(Number::U8, &dims).unwrap()).unwrap());
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 9);
}

#[test]
fn a_file_past_4_gib_is_a_bigtiff() {
    let folder = Folder::new("big");
    let path = folder.0.join("big.tif");
    // The file is sparse: only written blocks take space.
    let info = ArrayInfo::new(Number::U16, &[32_768, 32_768, 3]).unwrap();
    let mut sink = TiffSink::create(&path, info.clone()).unwrap();
    let last = Block::whole(&info).along(0, 32_000, 4).along(1, 32_767, 1).along(2, 2, 1);
    sink.write(&last, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    sink.finish().unwrap();
    let mut source = TiffSource::open(&[path]).unwrap();
    assert_eq!(source.info(), &info);
    let mut out = [0u8; 8];
    source.read(&last, &mut out).unwrap();
    assert_eq!(out, [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// Pages by the crate's own encoder.
fn encoded<K: TiffKind>(compression: Compression, predictor: Predictor, pages: &[[u16; 11 * 13]]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder: TiffEncoder<_, K> =
        TiffEncoder::new_generic(&mut file).unwrap().with_compression(compression).with_predictor(predictor);
    for page in pages {
        let mut image = encoder.new_image::<colortype::Gray16>(11, 13).unwrap();
        image.rows_per_strip(4).unwrap();
        image.write_data(page).unwrap();
    }
    file.into_inner()
}

fn pages() -> [[u16; 143]; 3] {
    std::array::from_fn(|p| std::array::from_fn(|k| (k * k * 7 + p * 1000) as u16))
}

fn bytes(pages: &[[u16; 143]]) -> Vec<u8> {
    pages.iter().flatten().flat_map(|v| v.to_ne_bytes()).collect()
}

#[test]
fn strips_of_any_compression_are_read_in_part() {
    let folder = Folder::new("strips");
    for compression in
        [Compression::Uncompressed, Compression::Lzw, Compression::Deflate(Default::default()), Compression::Packbits]
    {
        for predictor in [Predictor::None, Predictor::Horizontal] {
            let file = encoded::<TiffKindStandard>(compression, predictor, &pages());
            let mut source = TiffSource::open(&[folder.file("strips.tif", &file)]).unwrap();
            assert_eq!((source.info().number, &source.info().dims[..]), (Number::U16, &[11, 13, 3][..]));
            check_windows(&mut source, &bytes(&pages()));
        }
    }
    let file = encoded::<TiffKindBig>(Compression::Lzw, Predictor::None, &pages());
    check_windows(&mut TiffSource::open(&[folder.file("big.tif", &file)]).unwrap(), &bytes(&pages()));
}

#[test]
fn pages_of_several_files_follow_one_another() {
    let folder = Folder::new("files");
    let all = pages();
    let part = |n: std::ops::Range<usize>| encoded::<TiffKindStandard>(Compression::Lzw, Predictor::None, &all[n]);
    let paths = [folder.file("a.tif", &part(0..1)), folder.file("b.tif", &part(1..3))];
    let mut source = TiffSource::open(&paths).unwrap();
    check_windows(&mut source, &bytes(&all));
    assert!(TiffSource::open(&[]).is_err());
}

/// One page of tiles of 16 x 16, 20 x 18 pixels, white as 0 or black.
fn tiled(white: bool) -> (Vec<u8>, Vec<u8>) {
    let pixel = |x: usize, y: usize| ((x * 31 + y * 57) % 251) as u8;
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    let mut directory = encoder.image_directory().unwrap();
    let mut offsets = Vec::new();
    for (x, y) in [(0, 0), (16, 0), (0, 16), (16, 16)] {
        let tile: Vec<u8> = (0..256).map(|k| pixel(x + k % 16, y + k / 16)).collect();
        offsets.push(u32::try_from(directory.write_data(&tile[..]).unwrap()).unwrap());
    }
    for (tag, value) in [(Tag::ImageWidth, 20u32), (Tag::ImageLength, 18), (Tag::TileWidth, 16), (Tag::TileLength, 16)]
    {
        directory.write_tag(tag, value).unwrap();
    }
    directory.write_tag(Tag::BitsPerSample, 8u16).unwrap();
    directory.write_tag(Tag::PhotometricInterpretation, u16::from(!white)).unwrap();
    directory.write_tag(Tag::TileOffsets, &offsets[..]).unwrap();
    directory.write_tag(Tag::TileByteCounts, &[256u32; 4][..]).unwrap();
    directory.finish().unwrap();
    (file.into_inner(), (0..20 * 18).map(|k| pixel(k % 20, k / 20)).collect())
}

#[test]
fn tiles_are_put_together_and_samples_are_as_stored() {
    let folder = Folder::new("tiles");
    for white in [false, true] {
        let (file, want) = tiled(white);
        check_windows(&mut TiffSource::open(&[folder.file("tiles.tif", &file)]).unwrap(), &want);
    }
}

/// A page of 2 x 6 big-endian i16 in one strip, by hand.
fn big_endian() -> Vec<u8> {
    let mut file = b"MM\0\x2a\0\0\0\x08\0\x0a".to_vec();
    let entries: [(u16, u16, u32); 10] = [
        (256, 4, 2),
        (257, 4, 6),
        (258, 3, 16 << 16),
        (259, 3, 1 << 16),
        (262, 3, 1 << 16),
        (273, 4, 134),
        (277, 3, 1 << 16),
        (278, 4, 6),
        (279, 4, 24),
        (339, 3, 2 << 16),
    ];
    for (tag, kind, value) in entries {
        file.extend(tag.to_be_bytes());
        file.extend(kind.to_be_bytes());
        file.extend(1u32.to_be_bytes());
        file.extend(value.to_be_bytes());
    }
    file.extend([0; 4]);
    assert_eq!(file.len(), 134);
    file.extend((-3i16..9).flat_map(i16::to_be_bytes));
    file
}

#[test]
fn big_endian_files_are_turned() {
    let folder = Folder::new("endian");
    let mut source = TiffSource::open(&[folder.file("be.tif", &big_endian())]).unwrap();
    assert_eq!(source.info().number, Number::I16);
    check_windows_small(&mut source, &(-3i16..9).flat_map(i16::to_ne_bytes).collect::<Vec<_>>());
}

fn check_windows_small(source: &mut TiffSource, all: &[u8]) {
    assert_eq!(whole(source).unwrap(), all);
    let block = Block::whole(source.info()).along(0, 1, 1).along(1, 2, 2);
    let mut out = [0u8; 4];
    source.read(&block, &mut out).unwrap();
    assert_eq!(out[..2], all[10..12]);
    assert_eq!(out[2..], all[14..16]);
}

fn rgb() -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    TiffEncoder::new(&mut file).unwrap().write_image::<colortype::RGB8>(4, 4, &[7; 48]).unwrap();
    file.into_inner()
}

fn grey(width: u32) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let data = vec![1.5f32; width as usize * 4];
    TiffEncoder::new(&mut file).unwrap().write_image::<colortype::Gray32Float>(width, 4, &data).unwrap();
    file.into_inner()
}

#[test]
fn files_that_do_not_fit_are_refused_with_file_and_page() {
    let folder = Folder::new("bad");
    let text = |paths: &[&Path]| {
        let paths: Vec<PathBuf> = paths.iter().map(|p| p.to_path_buf()).collect();
        TiffSource::open(&paths).map(|_| ()).unwrap_err().to_string()
    };
    let (a, b) = (folder.file("a.tif", &grey(4)), folder.file("b.tif", &grey(5)));
    let e = text(&[&a, &b]);
    assert!(e.contains("b.tif: page 0: has 5 x 4 pixels of type F32, the first page has 4 x 4"), "{e}");
    let e = text(&[&folder.file("rgb.tif", &rgb())]);
    assert!(e.contains("rgb.tif: page 0: has pixels of the kind RGB(8), grey ones are needed"), "{e}");
    assert!(text(&[&folder.0.join("missing.tif")]).contains("missing.tif: open"));
    assert!(text(&[&folder.file("text.tif", b"not a picture")]).contains("page 0"));
    assert!(text(&[&folder.file("empty.tif", b"")]).contains("page 0"));

    // The directory is whole, the pixels are not: found when they are read, in the page that lacks them.
    let mut short = big_endian();
    short.truncate(150);
    let mut source = TiffSource::open(&[folder.file("short.tif", &short)]).unwrap();
    let e = whole(&mut source).unwrap_err().to_string();
    assert!(e.contains("short.tif: page 0: read"), "{e}");

    let mut wide = big_endian();
    wide[18..22].copy_from_slice(&0x7000_0000u32.to_be_bytes());
    assert!(text(&[&folder.file("wide.tif", &wide)]).contains("in a file of 158 bytes"));

    let e = TiffSink::create(&folder.0.join("x"), ArrayInfo::new(Number::F32, &[4, 4, 4, 4]).unwrap()).map(|_| ());
    assert_eq!(e.unwrap_err().to_string(), "ndim: is 4, a TIFF file has 2 or 3");
    assert!(TiffSink::create(&folder.0.join("x"), ArrayInfo::new(Number::F32, &[4, 0]).unwrap()).is_err());
}

#[test]
fn broken_files_are_errors_and_nothing_worse() {
    let folder = Folder::new("fuzz");
    let compressed = |c| encoded::<TiffKindStandard>(c, Predictor::Horizontal, &pages());
    let originals = [
        big_endian(),
        tiled(true).0,
        grey(5),
        encoded::<TiffKindBig>(Compression::Lzw, Predictor::None, &pages()),
        compressed(Compression::Deflate(Default::default())),
        compressed(Compression::Packbits),
    ];
    let mut drawn = 0;
    let mut next = |below: usize| {
        drawn += 1;
        (uniform(7, 1, drawn, 0) * below as f64) as usize % below
    };
    let (mut refused, mut read) = (0, 0);
    for round in 0..3000 {
        let mut file = originals[round % originals.len()].clone();
        for _ in 0..1 + next(4) {
            let at = next(file.len());
            match next(8) {
                0..=2 => file[at] ^= 1 << next(8),
                3 | 4 => file[at] = [0, 0xff, 0x7f, 0x80][next(4)],
                5 => file.truncate(at.max(1)),
                _ => {
                    let from = next(file.len());
                    file[at] = file[from];
                }
            }
        }
        let path = folder.file("broken.tif", &file);
        match TiffSource::open(&[path]).and_then(|mut s| whole(&mut s)) {
            Ok(_) => read += 1,
            Err(Error::Io { .. } | Error::InvalidArgument { .. }) => refused += 1,
            Err(other) => panic!("round {round}: {other}"),
        }
    }
    assert!(refused > 500 && read > 500, "{refused} {read}");
}

/// A file whose first directory has another entry, tag 270, a text of `count` bytes.
fn described(big: bool, count: u64) -> Vec<u8> {
    let mut file = if big { b"II\x2b\0\x08\0\0\0\x10\0\0\0\0\0\0\0".to_vec() } else { b"II\x2a\0\x08\0\0\0".to_vec() };
    let number = |file: &mut Vec<u8>, value: u64, wide: usize| file.extend(&value.to_le_bytes()[..wide]);
    let wide = if big { 8 } else { 4 };
    let entries: [(u64, u64, u64, u64); 10] = [
        (256, 3, 1, 2),
        (257, 3, 1, 2),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (270, 2, count, 0),
        (273, 4, 1, 8),
        (277, 3, 1, 1),
        (278, 3, 1, 2),
        (279, 4, 1, 4),
    ];
    number(&mut file, 10, if big { 8 } else { 2 });
    for (tag, kind, count, value) in entries {
        number(&mut file, tag, 2);
        number(&mut file, kind, 2);
        number(&mut file, count, wide);
        number(&mut file, value, wide);
    }
    number(&mut file, 0, wide);
    file
}

#[test]
fn a_text_longer_than_its_file_is_refused_before_the_decoder_reads_it() {
    // The decoder printed to the standard error stream where it refused such a text.
    let folder = Folder::new("texts");
    for (big, most) in [(false, u64::from(u32::MAX)), (true, u64::MAX)] {
        for count in [1000, 1 << 30, most] {
            let file = described(big, count);
            let e = TiffSource::open(&[folder.file("text.tif", &file)]).map(|_| ()).unwrap_err().to_string();
            let want = format!("page 0: tag 270 claims a text of {count} bytes, at most {} are read", file.len());
            assert!(e.ends_with(&want), "{e}");
        }
        assert!(TiffSource::open(&[folder.file("text.tif", &described(big, 4))]).is_ok());
    }
    // A text that is there, under a limit that does not hold it.
    let mut file = described(false, 6000);
    let at = u32::try_from(file.len()).unwrap();
    file[8 + 2 + 5 * 12 + 8..][..4].copy_from_slice(&at.to_le_bytes());
    file.extend([b'x'; 6000]);
    let path = folder.file("long.tif", &file);
    let e = TiffSource::open_within(std::slice::from_ref(&path), &Budget::new(5000)).map(|_| ()).unwrap_err();
    assert_eq!(e, Error::OutOfMemory { what: "text of a TIFF file", bytes: 6000, limit: Some(5000) });
    assert!(TiffSource::open(&[path]).is_ok());
    let mut many = described(true, 4);
    many[16..24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let e = TiffSource::open(&[folder.file("many.tif", &many)]).map(|_| ()).unwrap_err().to_string();
    assert!(e.contains("has a directory of 1099511627776 entries"), "{e}");
}

#[test]
fn strips_that_have_to_be_decoded_are_charged_when_a_file_is_opened() {
    let folder = Folder::new("charged");
    // 4 MiB in one strip, of a few KiB.
    let mut file = Cursor::new(Vec::new());
    TiffEncoder::new(&mut file)
        .unwrap()
        .with_compression(Compression::Deflate(Default::default()))
        .new_image::<colortype::Gray32Float>(1024, 1024)
        .and_then(|mut image| {
            image.rows_per_strip(1024)?;
            image.write_data(&vec![0f32; 1 << 20])
        })
        .unwrap();
    let path = folder.file("small.tif", &file.into_inner());
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 16);
    let limit = 4 << 20;
    let refused = TiffSource::open_within(std::slice::from_ref(&path), &Budget::new(limit - 1)).map(|_| ());
    assert_eq!(
        refused.unwrap_err(),
        Error::OutOfMemory { what: "strip or tile", bytes: limit, limit: Some(limit - 1) }
    );
    let budget = Budget::new(limit);
    let mut source = TiffSource::open_within(&[path], &budget).unwrap();
    assert_eq!(budget.used(), limit);
    assert!(whole(&mut source).unwrap().iter().all(|b| *b == 0));
    drop(source);
    assert_eq!(budget.used(), 0);
    // Data that are not compressed need no buffer.
    let plain = folder.file("plain.tif", &grey(4));
    let budget = Budget::new(1 << 16);
    let _source = TiffSource::open_within(&[plain], &budget).unwrap();
    assert_eq!(budget.peak(), 0);
}

/// A file with one directory, of a page of 7 x 9 pixels of 16 bits, as ImageJ writes stacks beyond 4 GiB: the
/// description gives the number of images, which stand one behind the other. Rows are in one strip, or in two.
fn one_directory(description: &str, strips: u32, data: &[u8]) -> Vec<u8> {
    let text = [description.as_bytes(), &[0][..]].concat();
    let lists = 8 + 2 + 10 * 12 + 4;
    let words = lists + if strips == 2 { 16 } else { 0 };
    let pixels = words + u32::try_from(text.len()).unwrap();
    let entries: [(u16, u16, u32, u32); 10] = [
        (256, 3, 1, 7),
        (257, 3, 1, 9),
        (258, 3, 1, 16),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (270, 2, u32::try_from(text.len()).unwrap(), words),
        (273, 4, strips, if strips == 2 { lists } else { pixels }),
        (277, 3, 1, 1),
        (278, 3, 1, if strips == 2 { 5 } else { 9 }),
        (279, 4, strips, if strips == 2 { lists + 8 } else { 126 }),
    ];
    let mut file = b"II\x2a\0\x08\0\0\0\x0a\0".to_vec();
    for (tag, kind, count, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(count.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    if strips == 2 {
        [pixels, pixels + 70, 70, 56].iter().for_each(|n| file.extend(n.to_le_bytes()));
    }
    file.extend(text);
    file.extend(data);
    file
}

#[test]
fn images_behind_the_only_directory_of_an_imagej_stack_are_pages() {
    let folder = Folder::new("virtual");
    let pixels: Vec<u8> = (0..4 * 63u16).flat_map(u16::to_ne_bytes).collect();
    let stack = "ImageJ=1.54f\nimages=4\nslices=4\nunit=mm\n";
    for strips in [1, 2] {
        let path = folder.file("stack.tif", &one_directory(stack, strips, &pixels));
        let mut source = TiffSource::open(std::slice::from_ref(&path)).unwrap();
        assert_eq!(source.info().dims, [7, 9, 4]);
        check_windows(&mut source, &pixels);
        // Among other files.
        let single = folder.file("single.tif", &one_directory("ImageJ=1.54f\n", 1, &pixels[..126]));
        let mut source = TiffSource::open(&[single.clone(), path.clone(), single, path]).unwrap();
        assert_eq!(source.info().dims, [7, 9, 10]);
        let all = [&pixels[..126], &pixels, &pixels[..126], &pixels].concat();
        check_windows(&mut source, &all);
    }
    // Data behind the last image, and descriptions of others, change nothing.
    for (description, count) in
        [("ImageJ=1.54f\nimages=3\n", 3), ("ImageJ=1.54f\nimages=1\n", 1), ("images=4\n", 1), ("ImageJ=1.54f\n", 1)]
    {
        let path = folder.file("other.tif", &one_directory(description, 1, &pixels));
        let mut source = TiffSource::open(&[path]).unwrap();
        assert_eq!(source.info().dims, [7, 9, count], "{description}");
        check_windows(&mut source, &pixels[..126 * count]);
    }
}

#[test]
fn an_imagej_stack_without_its_images_is_refused() {
    let folder = Folder::new("cut");
    let text = |file: &[u8]| TiffSource::open(&[folder.file("cut.tif", file)]).map(|_| ()).unwrap_err().to_string();
    let pixels = [7u8; 4 * 126];
    for (images, strips) in [("4", 1), ("4", 2), ("18446744073709551615", 1)] {
        let stack = format!("ImageJ=1.54f\nimages={images}\n");
        let e = text(&one_directory(&stack, strips, &pixels[1..]));
        assert!(e.contains(&format!("cut.tif: page 0: describes a stack of {images} images")), "{e}");
    }
    // Compressed images have no known places.
    let mut file = Cursor::new(Vec::new());
    TiffEncoder::new(&mut file)
        .unwrap()
        .with_compression(Compression::Lzw)
        .new_image::<colortype::Gray16>(7, 9)
        .and_then(|mut image| {
            image.encoder().write_tag(Tag::ImageDescription, "ImageJ=1.54f\nimages=2\n")?;
            image.write_data(&[5u16; 63])
        })
        .unwrap();
    let e = text(&file.into_inner());
    assert!(e.contains("describes a stack of 2 images, which are compressed"), "{e}");
}
