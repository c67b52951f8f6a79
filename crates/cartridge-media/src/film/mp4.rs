//! The boxes of an MP4 file with one video track (ISO/IEC 14496-12 and 14496-15).
//!
//! The table of contents (`moov`) comes before the pictures (`mdat`), so that a browser can play
//! what it has while the rest is on its way.

/// Units of time of a picture, so that every whole number of pictures a second is exact.
const TICKS: u32 = 1000;

/// Units of time of the whole file.
const MOVIE_TICKS: u32 = 1000;

/// A picture as it is stored: units, each behind its length.
#[derive(Debug, Default)]
pub(super) struct Sample {
    pub(super) bytes: Vec<u8>,
    /// Whether it needs no other picture.
    pub(super) is_whole: bool,
}

/// All pictures, and what a decoder must know before the first.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) size: (u32, u32),
    pub(super) frames_per_second: u32,
    /// The sequence parameter set.
    pub(super) sequence: Vec<u8>,
    /// The picture parameter set.
    pub(super) picture: Vec<u8>,
    pub(super) samples: Vec<Sample>,
}

impl Track {
    /// The whole file.
    pub(super) fn file(&self) -> Vec<u8> {
        let kind = boxed(b"ftyp", |out| {
            out.extend_from_slice(b"isom");
            number(out, 0x200);
            out.extend_from_slice(b"isomiso2avc1mp41");
        });
        // Where the pictures begin depends on how long the table of contents is, and that does
        // not depend on where they begin.
        let length = self.contents(0).len();
        let first = kind.len() + length + 8;
        let mut file = kind;
        file.extend(self.contents(u32::try_from(first).expect("a table of contents is small")));
        let pictures: usize = self.samples.iter().map(|sample| sample.bytes.len()).sum();
        number(&mut file, u32::try_from(pictures + 8).expect("films are shorter than 4 GB"));
        file.extend_from_slice(b"mdat");
        for sample in &self.samples {
            file.extend_from_slice(&sample.bytes);
        }
        file
    }

    fn n_samples(&self) -> u32 {
        u32::try_from(self.samples.len()).expect("films have fewer pictures")
    }

    fn contents(&self, first: u32) -> Vec<u8> {
        let n_samples = u64::from(self.n_samples());
        let length = n_samples * u64::from(MOVIE_TICKS) / u64::from(self.frames_per_second);
        let length = u32::try_from(length).expect("films are shorter than 49 days");
        boxed(b"moov", |out| {
            out.extend(boxed(b"mvhd", |out| {
                numbers(out, &[0, 0, 0, MOVIE_TICKS, length, 0x1_0000]);
                out.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
                matrix(out);
                out.extend_from_slice(&[0; 24]);
                number(out, 2);
            }));
            out.extend(boxed(b"trak", |out| {
                out.extend(boxed(b"tkhd", |out| {
                    // Enabled, in the film and in its preview.
                    numbers(out, &[3, 0, 0, 1, 0, length, 0, 0, 0, 0]);
                    matrix(out);
                    number(out, self.size.0 << 16);
                    number(out, self.size.1 << 16);
                }));
                out.extend(self.media(first));
            }));
        })
    }

    fn media(&self, first: u32) -> Vec<u8> {
        boxed(b"mdia", |out| {
            out.extend(boxed(b"mdhd", |out| {
                let length = self.n_samples() * TICKS;
                numbers(out, &[0, 0, 0, self.frames_per_second * TICKS, length]);
                // The language is not determined: `und` in fives of bits.
                number(out, 0x55c4_0000);
            }));
            out.extend(boxed(b"hdlr", |out| {
                number(out, 0);
                number(out, 0);
                out.extend_from_slice(b"vide");
                out.extend_from_slice(&[0; 12]);
                out.extend_from_slice(b"video\0");
            }));
            out.extend(boxed(b"minf", |out| {
                out.extend(boxed(b"vmhd", |out| {
                    number(out, 1);
                    out.extend_from_slice(&[0; 8]);
                }));
                out.extend(boxed(b"dinf", |out| {
                    out.extend(boxed(b"dref", |out| {
                        number(out, 0);
                        number(out, 1);
                        // The pictures are in this very file.
                        out.extend(boxed(b"url ", |out| number(out, 1)));
                    }));
                }));
                out.extend(self.table(first));
            }));
        })
    }

    fn table(&self, first: u32) -> Vec<u8> {
        let n_samples = self.n_samples();
        boxed(b"stbl", |out| {
            out.extend(boxed(b"stsd", |out| {
                number(out, 0);
                number(out, 1);
                out.extend(self.description());
            }));
            out.extend(boxed(b"stts", |out| {
                numbers(out, &[0, 1, n_samples, TICKS]);
            }));
            let whole = (1..).zip(&self.samples).filter(|(_, sample)| sample.is_whole);
            let whole: Vec<u32> = whole.map(|(place, _)| place).collect();
            out.extend(boxed(b"stss", |out| {
                number(out, 0);
                number(out, u32::try_from(whole.len()).expect("there are fewer than samples"));
                numbers(out, &whole);
            }));
            // All pictures are one chunk.
            out.extend(boxed(b"stsc", |out| {
                numbers(out, &[0, 1, 1, n_samples, 1]);
            }));
            out.extend(boxed(b"stsz", |out| {
                numbers(out, &[0, 0, n_samples]);
                for sample in &self.samples {
                    number(out, u32::try_from(sample.bytes.len()).expect("a picture is small"));
                }
            }));
            out.extend(boxed(b"stco", |out| {
                numbers(out, &[0, 1, first]);
            }));
        })
    }

    fn description(&self) -> Vec<u8> {
        boxed(b"avc1", |out| {
            out.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1]);
            out.extend_from_slice(&[0; 16]);
            short(out, self.size.0);
            short(out, self.size.1);
            // 72 dots per inch both ways, one picture per sample.
            numbers(out, &[0x48_0000, 0x48_0000, 0]);
            short(out, 1);
            out.extend_from_slice(&[0; 32]);
            short(out, 0x18);
            short(out, 0xffff);
            out.extend(boxed(b"avcC", |out| {
                out.push(1);
                // Profile, what it is compatible with, and level.
                out.extend_from_slice(&self.sequence[1..4]);
                // Lengths have four bytes; there is one set of each kind.
                out.extend_from_slice(&[0xff, 0xe1]);
                short(out, u32::try_from(self.sequence.len()).expect("it is some bytes"));
                out.extend_from_slice(&self.sequence);
                out.push(1);
                short(out, u32::try_from(self.picture.len()).expect("it is some bytes"));
                out.extend_from_slice(&self.picture);
            }));
        })
    }
}

/// A box: its length, its name, and what is in it.
fn boxed(name: &[u8; 4], fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(name);
    fill(&mut out);
    let length = u32::try_from(out.len()).expect("a table of contents is small");
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}

fn number(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

fn numbers(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| number(out, *value));
}

fn short(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&u16::try_from(value).expect("sizes are small").to_be_bytes());
}

/// Pictures are neither turned nor stretched.
fn matrix(out: &mut Vec<u8>) {
    numbers(out, &[0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]);
}
