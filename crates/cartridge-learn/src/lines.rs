//! Numbers that begin with a cache line, so that a register is loaded from one line and not from two,
//! and what belongs to different threads is in different lines.

#![expect(unsafe_code, reason = "lines as numbers")]

use std::ops::{Deref, DerefMut};

/// Numbers of a cache line.
const LINE: usize = 16;

/// Numbers in whole cache lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    n: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

impl Lines {
    /// As many zeros.
    pub(crate) fn zeros(n: usize) -> Self {
        Self { lines: vec![Line([0.0; LINE]); n.div_ceil(LINE)], n }
    }

    /// Makes it so long; what is new is zero.
    pub(crate) fn resize(&mut self, n: usize) {
        if n > self.n {
            let end = self.n.next_multiple_of(LINE).min(n);
            let old = std::mem::replace(&mut self.n, end);
            self[old..].fill(0.0);
        }
        self.lines.resize(n.div_ceil(LINE), Line([0.0; LINE]));
        self.n = n;
    }
}

impl From<&[f32]> for Lines {
    fn from(numbers: &[f32]) -> Self {
        let mut lines = Self::zeros(numbers.len());
        lines.copy_from_slice(numbers);
        lines
    }
}

impl Deref for Lines {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: lines are numbers one after the other, at least `n` of them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.n) }
    }
}

impl DerefMut for Lines {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.n) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_where_a_cache_line_does() {
        let mut lines = Lines::from(&[1.0; 20][..]);
        assert_eq!(lines.as_ptr().addr() % 64, 0);
        assert_eq!(&lines[..], [1.0; 20]);
        lines.resize(3);
        lines.resize(40);
        assert_eq!(lines[..3], [1.0; 3]);
        assert_eq!(lines[3..], [0.0; 37], "what was dropped does not come back");
    }
}
