//! A handful of numbers that one instruction works on: 4 on any processor, 8 with AVX2, 16 with
//! AVX-512.

/// Rows and columns of the square that [`Vector::turn`] turns.
pub(super) const TURNED: usize = 8;

/// As many `f32` as a register holds, or some of them.
///
/// # Safety
///
/// Every function here needs the instruction set of its type, and the pointers need as many
/// numbers behind them as are read or written.
pub(super) trait Vector: Copy {
    /// How many numbers.
    const LANES: usize;

    unsafe fn splat(x: f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    /// The first `n` numbers, fewer than [`Self::LANES`], and zeros.
    unsafe fn load_first(from: *const f32, n: usize) -> Self;
    unsafe fn store(self, to: *mut f32);
    /// Says that what lies there will be loaded soon.
    #[inline(always)]
    unsafe fn ask_for(_from: *const f32) {}
    /// Only the first `n` numbers, fewer than [`Self::LANES`].
    unsafe fn store_first(self, to: *mut f32, n: usize);
    /// `self * b + c`: rounded once, where the processor can.
    unsafe fn multiply_add(self, b: Self, c: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn subtract(self, other: Self) -> Self;
    unsafe fn multiply(self, other: Self) -> Self;
    unsafe fn divide(self, other: Self) -> Self;
    /// `self` where it is above zero or not a number, else zero.
    unsafe fn rectify(self) -> Self;
    /// `self` where `other` is above zero, else zero.
    unsafe fn where_positive(self, other: Self) -> Self;
    /// `self` where `other` is not below `least`, or not a number; else zero.
    unsafe fn where_not_below(self, other: Self, least: f32) -> Self;
    /// The absolute value, negative: `-|self|`.
    unsafe fn negative_size(self) -> Self;
    /// `self`, but not below `least`; what is not a number stays so.
    unsafe fn at_least(self, least: f32) -> Self;
    /// The size of `self` with the sign of `other`.
    unsafe fn with_sign(self, other: Self) -> Self;
    /// Two to the power of the whole number that is in the low bits of `self`.
    unsafe fn power_of_two(self) -> Self;

    /// A bit for each number that is not zero, the lowest for the first.
    unsafe fn not_zero(self) -> u32;

    /// Writes the numbers of the bits that are set, counted from `first`; returns how many. There
    /// is room for a whole register.
    #[inline(always)]
    unsafe fn list(bits: u32, first: u32, places: *mut u32) -> usize {
        let mut n = 0;
        for i in 0..Self::LANES as u32 {
            // SAFETY: promised by the caller.
            unsafe { *places.add(n) = first + i };
            n += (bits >> i & 1) as usize;
        }
        n
    }

    /// Writes the columns of a square of [`TURNED`] rows as rows; the strides are those of rows.
    #[inline(always)]
    unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        for row in 0..TURNED {
            for column in 0..TURNED {
                // SAFETY: promised by the caller.
                unsafe { *to.add(column * to_stride + row) = *from.add(row * from_stride + column) }
            }
        }
    }
}

/// What every processor has; the compiler finds the instructions.
impl Vector for [f32; 4] {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: promised by the caller; an array of numbers is aligned like a number.
        unsafe { *from.cast() }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f32, n: usize) -> Self {
        // SAFETY: `n` numbers are there.
        std::array::from_fn(|i| if i < n { unsafe { *from.add(i) } } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as for `load`.
        unsafe { *to.cast() = self }
    }
    #[inline(always)]
    unsafe fn store_first(self, to: *mut f32, n: usize) {
        for (i, x) in self.into_iter().enumerate().take(n) {
            // SAFETY: there is room for `n` numbers.
            unsafe { *to.add(i) = x }
        }
    }
    #[inline(always)]
    unsafe fn multiply_add(self, b: Self, c: Self) -> Self {
        std::array::from_fn(|i| self[i] * b[i] + c[i])
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }
    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }
    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] / other[i])
    }
    #[inline(always)]
    unsafe fn rectify(self) -> Self {
        self.map(|x| if x <= 0.0 { 0.0 } else { x })
    }
    #[inline(always)]
    unsafe fn where_positive(self, other: Self) -> Self {
        std::array::from_fn(|i| if other[i] > 0.0 { self[i] } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn where_not_below(self, other: Self, least: f32) -> Self {
        std::array::from_fn(|i| if other[i] < least { 0.0 } else { self[i] })
    }
    #[inline(always)]
    unsafe fn negative_size(self) -> Self {
        self.map(|x| -x.abs())
    }
    #[inline(always)]
    unsafe fn at_least(self, least: f32) -> Self {
        self.map(|x| if x < least { least } else { x })
    }
    #[inline(always)]
    unsafe fn with_sign(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i].copysign(other[i]))
    }
    #[inline(always)]
    unsafe fn power_of_two(self) -> Self {
        self.map(|x| f32::from_bits((x.to_bits() << 23).wrapping_add(0x3f80_0000)))
    }
    #[inline(always)]
    unsafe fn not_zero(self) -> u32 {
        (0..4).fold(0, |bits, i| bits | u32::from(self[i] != 0.0) << i)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;

    /// Ones for the first `n` of eight, from a window over this.
    static ONES_THEN_ZEROS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

    #[inline(always)]
    unsafe fn first_of_eight(n: usize) -> __m256i {
        debug_assert!(n <= 8);
        // SAFETY: the window of eight begins at 0 to 8.
        unsafe { _mm256_loadu_si256(ONES_THEN_ZEROS.as_ptr().add(8 - n).cast()) }
    }

    /// [`Vector::turn`] in three rounds of exchanges between pairs of rows.
    #[inline(always)]
    unsafe fn turn_eight(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        // SAFETY: promised by the caller.
        unsafe {
            let rows: [__m256; 8] =
                std::array::from_fn(|i| _mm256_loadu_ps(from.add(i * from_stride)));
            let mut pairs = rows;
            for i in (0..8).step_by(2) {
                pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
                pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
            }
            let mut fours = pairs;
            for i in [0, 4] {
                fours[i] = _mm256_shuffle_ps::<0x44>(pairs[i], pairs[i + 2]);
                fours[i + 1] = _mm256_shuffle_ps::<0xee>(pairs[i], pairs[i + 2]);
                fours[i + 2] = _mm256_shuffle_ps::<0x44>(pairs[i + 1], pairs[i + 3]);
                fours[i + 3] = _mm256_shuffle_ps::<0xee>(pairs[i + 1], pairs[i + 3]);
            }
            for i in 0..4 {
                let low = _mm256_permute2f128_ps::<0x20>(fours[i], fours[i + 4]);
                let high = _mm256_permute2f128_ps::<0x31>(fours[i], fours[i + 4]);
                _mm256_storeu_ps(to.add(i * to_stride), low);
                _mm256_storeu_ps(to.add((i + 4) * to_stride), high);
            }
        }
    }

    // SAFETY, for all of the following: the caller promises instruction set and memory.
    impl Vector for __m256 {
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn not_zero(self) -> u32 {
            unsafe {
                let is_kept = _mm256_cmp_ps::<_CMP_NEQ_UQ>(self, _mm256_setzero_ps());
                _mm256_movemask_ps(is_kept).cast_unsigned()
            }
        }
        #[inline(always)]
        unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
            unsafe { turn_eight(from, from_stride, to, to_stride) }
        }

        #[inline(always)]
        unsafe fn ask_for(from: *const f32) {
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            unsafe { _mm256_set1_ps(x) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn load_first(from: *const f32, n: usize) -> Self {
            unsafe { _mm256_maskload_ps(from, first_of_eight(n)) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm256_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn store_first(self, to: *mut f32, n: usize) {
            unsafe { _mm256_maskstore_ps(to, first_of_eight(n), self) }
        }
        #[inline(always)]
        unsafe fn multiply_add(self, b: Self, c: Self) -> Self {
            unsafe { _mm256_fmadd_ps(self, b, c) }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { _mm256_add_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn subtract(self, other: Self) -> Self {
            unsafe { _mm256_sub_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn multiply(self, other: Self) -> Self {
            unsafe { _mm256_mul_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn divide(self, other: Self) -> Self {
            unsafe { _mm256_div_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn rectify(self) -> Self {
            // The second operand is the answer where one is not a number.
            unsafe { _mm256_max_ps(_mm256_setzero_ps(), self) }
        }
        #[inline(always)]
        unsafe fn where_positive(self, other: Self) -> Self {
            unsafe { _mm256_and_ps(self, _mm256_cmp_ps::<_CMP_GT_OQ>(other, _mm256_setzero_ps())) }
        }
        #[inline(always)]
        unsafe fn where_not_below(self, other: Self, least: f32) -> Self {
            unsafe {
                let is_kept = _mm256_cmp_ps::<_CMP_NLT_UQ>(other, _mm256_set1_ps(least));
                _mm256_and_ps(self, is_kept)
            }
        }
        #[inline(always)]
        unsafe fn negative_size(self) -> Self {
            unsafe { _mm256_or_ps(self, _mm256_set1_ps(-0.0)) }
        }
        #[inline(always)]
        unsafe fn at_least(self, least: f32) -> Self {
            unsafe { _mm256_max_ps(_mm256_set1_ps(least), self) }
        }
        #[inline(always)]
        unsafe fn with_sign(self, other: Self) -> Self {
            unsafe {
                let sign = _mm256_set1_ps(-0.0);
                _mm256_or_ps(_mm256_andnot_ps(sign, self), _mm256_and_ps(sign, other))
            }
        }
        #[inline(always)]
        unsafe fn power_of_two(self) -> Self {
            unsafe {
                let shifted = _mm256_slli_epi32::<23>(_mm256_castps_si256(self));
                _mm256_castsi256_ps(_mm256_add_epi32(shifted, _mm256_set1_epi32(0x3f80_0000)))
            }
        }
    }

    impl Vector for __m512 {
        const LANES: usize = 16;

        #[inline(always)]
        unsafe fn not_zero(self) -> u32 {
            unsafe { u32::from(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(self, _mm512_setzero_ps())) }
        }
        #[inline(always)]
        unsafe fn list(bits: u32, first: u32, places: *mut u32) -> usize {
            unsafe {
                let counted =
                    _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
                let all = _mm512_add_epi32(counted, _mm512_set1_epi32(first.cast_signed()));
                // Pressed together in a register and written whole: to write only some is slow.
                let listed = _mm512_maskz_compress_epi32(bits as u16, all);
                _mm512_storeu_si512(places.cast(), listed);
            }
            bits.count_ones() as usize
        }
        #[inline(always)]
        unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
            unsafe { turn_eight(from, from_stride, to, to_stride) }
        }

        #[inline(always)]
        unsafe fn ask_for(from: *const f32) {
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            unsafe { _mm512_set1_ps(x) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn load_first(from: *const f32, n: usize) -> Self {
            unsafe { _mm512_maskz_loadu_ps((1 << n) - 1, from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm512_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn store_first(self, to: *mut f32, n: usize) {
            unsafe { _mm512_mask_storeu_ps(to, (1 << n) - 1, self) }
        }
        #[inline(always)]
        unsafe fn multiply_add(self, b: Self, c: Self) -> Self {
            unsafe { _mm512_fmadd_ps(self, b, c) }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { _mm512_add_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn subtract(self, other: Self) -> Self {
            unsafe { _mm512_sub_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn multiply(self, other: Self) -> Self {
            unsafe { _mm512_mul_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn divide(self, other: Self) -> Self {
            unsafe { _mm512_div_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn rectify(self) -> Self {
            unsafe { _mm512_max_ps(_mm512_setzero_ps(), self) }
        }
        #[inline(always)]
        unsafe fn where_positive(self, other: Self) -> Self {
            unsafe {
                let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(other, _mm512_setzero_ps());
                _mm512_maskz_mov_ps(positive, self)
            }
        }
        #[inline(always)]
        unsafe fn where_not_below(self, other: Self, least: f32) -> Self {
            unsafe {
                let is_kept = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(other, _mm512_set1_ps(least));
                _mm512_maskz_mov_ps(is_kept, self)
            }
        }
        #[inline(always)]
        unsafe fn negative_size(self) -> Self {
            unsafe {
                let sign = _mm512_set1_epi32(i32::MIN);
                _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(self), sign))
            }
        }
        #[inline(always)]
        unsafe fn at_least(self, least: f32) -> Self {
            unsafe { _mm512_max_ps(_mm512_set1_ps(least), self) }
        }
        #[inline(always)]
        unsafe fn with_sign(self, other: Self) -> Self {
            unsafe {
                let sign = _mm512_set1_epi32(i32::MIN);
                let (size, other) = (_mm512_castps_si512(self), _mm512_castps_si512(other));
                let signed =
                    _mm512_or_si512(_mm512_andnot_si512(sign, size), _mm512_and_si512(sign, other));
                _mm512_castsi512_ps(signed)
            }
        }
        #[inline(always)]
        unsafe fn power_of_two(self) -> Self {
            unsafe {
                let shifted = _mm512_slli_epi32::<23>(_mm512_castps_si512(self));
                _mm512_castsi512_ps(_mm512_add_epi32(shifted, _mm512_set1_epi32(0x3f80_0000)))
            }
        }
    }
}
