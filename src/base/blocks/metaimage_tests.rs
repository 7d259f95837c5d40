//! MetaImages: headers, their data files, and the files that a new image replaces.

use std::path::PathBuf;

use super::array::{ArrayInfo, Block};
use super::metaimage::{MetaImageSink, MetaImageSource};
use super::number::{Number, encode};
use super::sink::Sink as _;
use super::source::Source as _;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-meta-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("data")).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn names_that_a_header_cannot_hold_are_refused() {
    let folder = Folder::new("names");
    let info = ArrayInfo::new(Number::I16, &[3, 2]).unwrap();
    for name in [" x.mhd", "\u{a0}x.mhd", "x\n.mhd", "x\ny.mhd", "x\r.mhd", "10%.mhd", "LISTED.mhd"] {
        let e = MetaImageSink::create(&folder.0.join(name), info.clone()).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains("the header of a MetaImage cannot hold"), "{name:?}: {e}");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "its folder for data alone");
    for name in ["a b.mhd", "x .mhd", "10%.mha", " x.mha"] {
        let path = folder.0.join(name);
        let mut sink = MetaImageSink::create(&path, info.clone()).unwrap();
        let block = Block::whole(sink.info());
        sink.write(&block, &[1; 12]).unwrap();
        sink.finish().unwrap();
        assert_eq!(values(&mut MetaImageSource::open(&path).unwrap()), [257; 6], "{name:?}");
    }
}

#[test]
fn a_raw_file_is_replaced_only_if_the_header_says_that_it_is_its_data() {
    let folder = Folder::new("other");
    let (path, raw) = (folder.0.join("x.mhd"), folder.0.join("x.raw"));
    let info = ArrayInfo::new(Number::I16, &[3, 2]).unwrap();
    std::fs::write(folder.0.join("other.bin"), [0; 12]).unwrap();
    for text in [format!("{SHAPE}ElementDataFile = other.bin\n"), "no header".to_owned()] {
        std::fs::write(&path, &text).unwrap();
        std::fs::write(&raw, "something else").unwrap();
        let e = MetaImageSink::create(&path, info.clone()).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains("x.raw: is not the data file of") && e.contains("x.mhd, and is not replaced"), "{e}");
        assert_eq!(std::fs::read_to_string(&raw).unwrap(), "something else");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 4, "nothing is left over");
    }
    for name in ["x.raw".to_owned(), "./x.raw".to_owned(), raw.display().to_string()] {
        std::fs::write(&path, format!("{SHAPE}ElementDataFile = {name}\n")).unwrap();
        std::fs::write(&raw, "something else").unwrap();
        let mut sink = MetaImageSink::create(&path, info.clone()).unwrap();
        let block = Block::whole(sink.info());
        sink.write(&block, &[0; 12]).unwrap();
        sink.finish().unwrap();
        assert_eq!(std::fs::read(&raw).unwrap(), [0; 12], "{name}");
    }
}

#[test]
fn words_of_a_header_may_be_in_any_encoding() {
    let folder = Folder::new("latin");
    let path = folder.0.join("x.mha");
    let written = |name: &[u8]| {
        let last = [b"ElementDataFile = ", name, b"\n", &[7; 12]].concat();
        std::fs::write(&path, [b"Comment = Andr\xe9\n", SHAPE.as_bytes(), &last].concat()).unwrap();
        MetaImageSource::open(&path)
    };
    assert_eq!(values(&mut written(b"LOCAL").unwrap()), [0x0707; 6]);
    assert!(written(b"Andr\xe9").err().unwrap().to_string().contains("its header is not text"));
}

const SHAPE: &str = "ObjectType = Image\r\nNDims = 2\r\nDimSize = 3 2\r\nElementType = MET_SHORT\r\n";

fn values(source: &mut MetaImageSource) -> Vec<i16> {
    let mut out = vec![0; source.info().bytes()];
    let block = Block::whole(source.info());
    source.read(&block, &mut out).unwrap();
    out.chunks_exact(2).map(|b| i16::from_ne_bytes([b[0], b[1]])).collect()
}

#[test]
fn byte_order_place_and_the_whereabouts_of_the_data_are_as_the_header_says() {
    let folder = Folder::new("keys");
    let want = [1i16, -2, 300, 4, 5, 600];
    let big: Vec<u8> = want.iter().flat_map(|v| v.to_be_bytes()).collect();
    let little: Vec<u8> = want.iter().flat_map(|v| v.to_le_bytes()).collect();
    let raw = |bytes: &[u8], before: usize| {
        let mut content = vec![0x55; before];
        content.extend(bytes);
        std::fs::write(folder.0.join("data/x.raw"), content).unwrap();
    };
    let path = folder.0.join("x.mhd");
    let open = |keys: &str| {
        std::fs::write(&path, format!("{SHAPE}{keys}")).unwrap();
        MetaImageSource::open(&path)
    };
    // The raw file beside the header, by a relative name; its header of 17 bytes counted, or found from the end.
    for (keys, bytes, before) in [
        ("ElementByteOrderMSB = True\nElementDataFile = data/x.raw\n", &big, 0),
        ("ElementByteOrderMSB = T\nElementDataFile = data/x.raw\n", &big, 0),
        ("BinaryDataByteOrderMSB = 1\nElementByteOrderMSB = True\nElementDataFile = data/x.raw\n", &big, 0),
        ("BinaryDataByteOrderMSB = 0\nElementDataFile = data/x.raw\n", &little, 0),
        ("BinaryDataByteOrderMSB = true\nHeaderSize = 17\nElementDataFile = data/x.raw\n", &big, 17),
        ("ElementByteOrderMSB = False\n\nHeaderSize = -1\nElementDataFile = data/x.raw\n", &little, 17),
    ] {
        raw(bytes, before);
        assert_eq!(values(&mut open(keys).unwrap()), want, "{keys}");
    }
    raw(&little, 0);
    let end = "ElementDataFile = data/x.raw";
    for (keys, spacing, origin) in [
        ("ElementSpacing = 2 0.5\nOffset = -1 7e-1\n", Some(vec![2.0, 0.5]), Some(vec![-1.0, 0.7])),
        ("ElementSize = 2 0.5\nPosition = -1 0.7\n", Some(vec![2.0, 0.5]), Some(vec![-1.0, 0.7])),
        ("Comment = a\nComment = b\nElementToIntensityFunctionSlope = 1\n", None, None),
        ("Origin = 3 4\nTransformMatrix = 1 0 0 1\n", None, Some(vec![3.0, 4.0])),
    ] {
        let source = open(&format!("{keys}{end}")).unwrap();
        assert_eq!((&source.info().spacing, &source.info().origin), (&spacing, &origin), "{keys}");
    }
    for (keys, problem) in [
        ("TransformMatrix = 0 1 1 0\n", "has its axes turned (TransformMatrix = [0.0, 1.0, 1.0, 0.0])"),
        ("TransformMatrix = 1 0 0\n", "4 finite numbers are needed"),
        ("ElementSpacing = 1\n", "has ElementSpacing = \"1\", 2 finite numbers are needed"),
        ("ElementSpacing = 1 0\n", "has a spacing of [1.0, 0.0], positive numbers are needed"),
        ("Offset = 1 NaN\n", "2 finite numbers are needed"),
        ("Offset = 1 a\n", "which are no numbers"),
        ("BinaryData = False\n", "as text (BinaryData = False)"),
        ("BinaryData = f\n", "as text (BinaryData = False)"),
        ("CompressedData = 1\n", "is compressed (CompressedData = True)"),
        ("CompressedData = maybe\n", "has CompressedData = \"maybe\", True or False is needed"),
        ("ElementByteOrderMSB = Yes\n", "has ElementByteOrderMSB = \"Yes\", True or False is needed"),
        (
            "BinaryDataByteOrderMSB = False\nElementByteOrderMSB = True\n",
            "has different values for BinaryDataByteOrderMSB and ElementByteOrderMSB",
        ),
        ("Offset = 1 2\nOrigin = 3 4\n", "has different values for Offset and Origin"),
        ("ElementSpacing = 1 2\nElementSize = 1 3\n", "has different values for ElementSpacing and ElementSize"),
        ("Offset = 1 2\nOffset = 1 2\n", "has Offset twice, once is needed"),
        ("DimSize = 2 3\n", "has DimSize twice, once is needed"),
        ("CompressedData = False\nCompressedData = True\n", "has CompressedData twice, once is needed"),
        (
            "ElementToIntensityFunctionSlope = 2\n",
            "has ElementToIntensityFunctionSlope = 2, values other than 1 are not",
        ),
        (
            "ElementToIntensityFunctionOffset = -1024\n",
            "has ElementToIntensityFunctionOffset = -1024, values other than 0",
        ),
        ("ElementToIntensityFunctionSlope = nan\n", "1 finite numbers are needed"),
        ("CompressedData = True\n", "is compressed (CompressedData = True)"),
        ("ElementNumberOfChannels = 3\n", "several channels"),
        ("HeaderSize = -2\n", "a HeaderSize that is no size"),
        ("HeaderSize = 1\n", "has 12 bytes, 13 are needed"),
        ("ElementDataFile = LIST\n", "ElementDataFile = \"LIST\": lists of files"),
        ("ElementDataFile = s%03d.raw 1 9 1\n", "lists of files are not supported"),
        ("ElementDataFile = gone.raw\n", "gone.raw: open"),
    ] {
        let e = open(&format!("{keys}{end}")).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains(problem), "{keys}: {e}");
    }
    std::fs::write(&path, SHAPE.replace("NDims = 2", "NDims = 3") + end).unwrap();
    let e = MetaImageSource::open(&path).map(|_| ()).unwrap_err().to_string();
    assert!(e.contains("has NDims = 3 and DimSize = 3 2"), "{e}");
}

#[test]
fn broken_headers_are_errors_and_nothing_worse() {
    let folder = Folder::new("fuzz");
    let path = folder.0.join("x.mha");
    let info = ArrayInfo { spacing: Some(vec![1.5; 3]), ..ArrayInfo::new(Number::F32, &[3, 2, 2]).unwrap() };
    let mut data = vec![0; info.bytes()];
    encode(Number::F32, &[1.0f32; 12], &mut data);
    let mut sink = MetaImageSink::create(&path, info.clone()).unwrap();
    sink.write(&Block::whole(&info), &data).unwrap();
    sink.finish().unwrap();
    let original = std::fs::read(&path).unwrap();
    let (mut drawn, mut refused) = (0, 0);
    for _ in 0..2000 {
        let mut file = original.clone();
        for _ in 0..2 {
            let mut next = |below: usize| {
                drawn += 1;
                ((crate::rng::uniform(3, 1, drawn, 0) + 1.0) / 2.0 * below as f64) as usize
            };
            let at = next(file.len() - data.len()).min(file.len() - 1);
            file[at] = b"\n= 9-.eTL\0\xff\x80"[next(12).min(11)];
        }
        std::fs::write(&path, &file).unwrap();
        let Ok(mut source) = MetaImageSource::open(&path) else {
            refused += 1;
            continue;
        };
        // An image that opens is no larger than its file, so it can be read.
        let mut out = vec![0; source.info().bytes()];
        let block = Block::whole(source.info());
        source.read(&block, &mut out).unwrap();
    }
    assert!(refused > 500 && refused < 2000, "{refused}");
}
