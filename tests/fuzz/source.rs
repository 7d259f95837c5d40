//! Source of a program's choices: a string of bytes. After its end all choices are 0.

/// Choices drawn from the fuzzer's bytes; 0 when these are used up.
pub struct Source<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter() }
    }

    /// Whether all bytes are used.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == 0
    }

    pub fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    /// 0 to `end` less 1.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// True once in `times` draws, on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub fn bits(&mut self) -> u64 {
        (0..8).fold(0, |bits, _| bits << 8 | u64::from(self.byte()))
    }

    /// A size: mostly small, at times one that cannot be.
    pub fn size(&mut self) -> i64 {
        if self.once_in(12) { self.strange() } else { self.below(10) as i64 }
    }

    /// A number at some border.
    pub fn strange(&mut self) -> i64 {
        let near = self.one_of(&[0, 1, 15, 64, 1 << 20, 1 << 31, 1 << 32, 1 << 62, i64::MAX, i64::MIN, -1]);
        near.wrapping_add(self.one_of(&[0, 0, 1, -1]))
    }

    /// A constant of a set that begins at 0: mostly one of the first `known`.
    pub fn code(&mut self, known: usize) -> i32 {
        if self.once_in(10) { self.strange() as i32 } else { self.below(known) as i32 }
    }

    /// A number: usable, at a border, or not a number.
    pub fn float(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => f64::from_bits(self.bits()),
            2 => self.one_of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-310, 1e300, -1e-20, 1.0]),
            _ => (f64::from(self.byte()) - 128.0) / 64.0,
        }
    }
}

/// The bytes of a seed, by splitmix64.
pub fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..256).flat_map(|_| next().to_le_bytes()).collect()
}
