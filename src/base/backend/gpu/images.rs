//! Compiled kernels as the build embeds them, one image for each family and architecture, compressed by zstd.

use ruzstd::decoding::FrameDecoder;

use crate::alloc;
use crate::error::{Error, Result};

/// What an image has code for. The numbers are compute capabilities without the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(purlin_cuda), allow(dead_code, reason = "a build without kernels has no images"))]
pub(super) enum Code {
    /// Machine code for this capability and later ones of the same generation.
    Machine(i32),
    /// Code for this capability alone, `sm_90a` of nvcc.
    Only(i32),
    /// PTX, which the driver compiles for this capability and all later ones.
    Intermediate(i32),
}

/// The kernels of a family for some GPUs.
pub(super) struct Image {
    family: &'static str,
    code: Code,
    frame: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/images.rs"));

impl Code {
    /// How well the code suits a GPU of a compute capability: larger is better, `None` if it does not run there.
    fn suits(self, (major, minor): (i32, i32)) -> Option<(i32, i32)> {
        let gpu = 10 * major + minor;
        match self {
            Self::Only(of) if of == gpu => Some((2, of)),
            Self::Machine(of) if of / 10 == major && of <= gpu => Some((1, of)),
            Self::Intermediate(of) if of <= gpu => Some((0, of)),
            _ => None,
        }
    }
}

/// Whether this build has kernels of a family at all.
pub(super) fn has(family: &str) -> bool {
    IMAGES.iter().any(|image| image.family == family)
}

/// The image of `family` for a GPU of compute capability `gpu`, ready for the driver; `None` if no image runs there.
pub(super) fn load(family: &'static str, gpu: (i32, i32)) -> Result<Option<Vec<u8>>> {
    let of_family = IMAGES.iter().filter(|image| image.family == family);
    let suitable = of_family.filter_map(|image| Some((image.code.suits(gpu)?, image)));
    suitable.max_by_key(|(order, _)| *order).map(|(_, image)| image.decompressed()).transpose()
}

impl Image {
    /// The bytes of the image, and a zero, which ends PTX.
    fn decompressed(&self) -> Result<Vec<u8>> {
        const WHAT: &str = "compiled kernels";
        let damaged = |why: String| Error::Internal(format!("kernels of {}: {why}", self.family));
        let mut decoder = FrameDecoder::new();
        decoder.reset(self.frame).map_err(|e| damaged(e.to_string()))?;
        let length = usize::try_from(decoder.content_size()).map_err(|e| damaged(e.to_string()))?;
        let mut bytes = alloc::filled(WHAT, length + 1, 0_u8)?;
        // The decoder cannot report that it got no memory. It needs as much as it decompresses, and its buffer may be copied
        // as it grows.
        let probe = alloc::with_capacity::<u8>(WHAT, 2 * length + (4 << 20))?;
        // A request whose memory is not used may be left out.
        std::hint::black_box(probe.as_ptr());
        drop(probe);
        let written = decoder.decode_all(self.frame, &mut bytes[..length]).map_err(|e| damaged(e.to_string()))?;
        if written != length {
            return Err(damaged(format!("{written} of {length} bytes")));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gpu_gets_the_code_that_is_nearest_to_it() {
        let all = [Code::Machine(80), Code::Only(90), Code::Machine(90), Code::Intermediate(80)];
        let best = |gpu| all.iter().filter_map(|c| Some((c.suits(gpu)?, *c))).max_by_key(|c| c.0).map(|c| c.1);
        assert_eq!(best((7, 5)), None);
        assert_eq!(best((8, 0)), Some(Code::Machine(80)));
        assert_eq!(best((8, 9)), Some(Code::Machine(80)));
        assert_eq!(best((9, 0)), Some(Code::Only(90)));
        assert_eq!(best((10, 3)), Some(Code::Intermediate(80)));
        assert_eq!(Code::Machine(90).suits((9, 2)), Some((1, 90)));
        assert_eq!(Code::Only(90).suits((9, 2)), None);
        assert_eq!(Code::Machine(86).suits((8, 0)), None);
    }

    #[test]
    fn every_image_decompresses_to_what_its_kind_begins_with() {
        for image in IMAGES {
            let bytes = image.decompressed().unwrap();
            match image.code {
                Code::Intermediate(_) => {
                    let text = std::str::from_utf8(&bytes[..bytes.len() - 1]).unwrap();
                    assert!(text.contains(".target sm_"), "{} is no PTX", image.family);
                }
                _ => assert!(bytes.starts_with(b"\x7fELF"), "{} is no machine code", image.family),
            }
            assert_eq!(bytes.last(), Some(&0));
            assert!(has(image.family));
        }
        assert!(load("no such family", (9, 0)).unwrap().is_none() && !has("no such family"));
    }
}
