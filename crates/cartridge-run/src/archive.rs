//! A folder as a tar archive (POSIX ustar), made as it is read.

use std::io::{self, Read as _};

use cartridge_store::artifacts::walk;
use cartridge_store::beneath::Beneath;

const BLOCK: usize = 512;

/// Hands an archive of the plain files below `folder` to `send`, piece by piece, until it says that
/// nobody wants more. A file that is cut while it is read ends the archive with an error.
pub fn write(folder: &Beneath, send: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut files = Vec::new();
    walk(folder, "", 0, &mut |path, entry| {
        files.push((path.to_owned(), entry.modified_at));
        true
    })?;
    let mut buffer = vec![0; 256 * 1024];
    for (path, modified_at) in files {
        let mut file = folder.file(&path)?;
        let size = file.metadata()?.len();
        // A name that does not fit into the format is left out.
        let Some(header) = header(&path, size, modified_at) else { continue };
        if !send(&header) {
            return Ok(());
        }
        let mut left = size;
        while left > 0 {
            let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let n = file.read(&mut buffer[..want])?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= n as u64;
            if !send(&buffer[..n]) {
                return Ok(());
            }
        }
        let padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
        if !send(&[0; BLOCK][..padding as usize]) {
            return Ok(());
        }
    }
    send(&[0; 2 * BLOCK]);
    Ok(())
}

fn header(path: &str, size: u64, modified_at: f64) -> Option<[u8; BLOCK]> {
    // A long path is split at a slash: up to 155 bytes before it and up to 100 after.
    let (prefix, name) = if path.len() <= 100 {
        ("", path)
    } else {
        path.match_indices('/')
            .map(|(at, _)| (&path[..at], &path[at + 1..]))
            .find(|(prefix, name)| prefix.len() <= 155 && name.len() <= 100)?
    };
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    let size = format!("{size:011o}\0");
    // Eight gigabytes and more do not fit.
    if size.len() != 12 {
        return None;
    }
    put(124, size.as_bytes());
    put(136, format!("{:011o}\0", modified_at.clamp(0.0, 8e9) as u64).as_bytes());
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Some(block)
}

#[cfg(test)]
mod tests;
