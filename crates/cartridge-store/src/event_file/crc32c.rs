//! CRC-32C (Castagnoli): eight bytes at a time, by tables that are made when this is compiled.

/// The polynomial, its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]` is what byte `b` comes to when `k` zero bytes follow it.
const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[zeros - 1][byte];
            tables[zeros][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

/// The checksum of some bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    go_on(0, bytes)
}

/// The checksum of bytes that sum up to `crc`, followed by these.
pub(super) fn go_on(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let [a, b, c, d, e, f, g, h] = *eight;
        let low = crc ^ u32::from_le_bytes([a, b, c, d]);
        let at = |zeros: usize, byte: u32| TABLES[zeros][(byte & 0xff) as usize];
        crc = at(7, low)
            ^ at(6, low >> 8)
            ^ at(5, low >> 16)
            ^ at(4, low >> 24)
            ^ at(3, u32::from(e))
            ^ at(2, u32::from(f))
            ^ at(1, u32::from(g))
            ^ at(0, u32::from(h));
    }
    for byte in rest {
        crc = crc >> 8 ^ TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize];
    }
    !crc
}
