use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// Reads a file in pieces of `size` bytes.
fn read(file: &[u8], size: usize) -> (Vec<EventRecord>, EventReader) {
    let (mut reader, mut events) = (EventReader::default(), Vec::new());
    for piece in file.chunks(size) {
        reader.push(piece, |event, _| events.push(event));
    }
    (events, reader)
}

fn scalars(t: f64, step: i64, values: &[(&str, f64)]) -> EventRecord {
    let values = values.iter().map(|(tag, value)| ((*tag).to_owned(), *value)).collect();
    EventRecord { t, step, told: Told::Scalars(values) }
}

/// A file of six records, and where each of them ends.
fn example() -> (Vec<u8>, Vec<usize>) {
    let mut file = Vec::new();
    let mut ends = Vec::new();
    put_version(1.0, &mut file);
    ends.push(file.len());
    put_start(2.0, 7, &mut file);
    ends.push(file.len());
    for step in 0..4 {
        let values = [("train/loss", 0.5 + step as f64), ("charts/SPS", 1e6)];
        put_scalars(3.0 + step as f64, 1000 * step, values.into_iter(), &mut file);
        ends.push(file.len());
    }
    (file, ends)
}

#[test]
fn checksums_are_those_of_castagnoli() {
    // RFC 3720, appendix B.4.
    let counting: Vec<u8> = (0..32).collect();
    let down: Vec<u8> = (0..32).rev().collect();
    let sums = [&[0; 32][..], &[0xff; 32], &counting, &down, b"123456789", b""].map(crc32c);
    assert_eq!(sums, [0x8a91_36aa, 0x62a8_ab43, 0x46dd_794e, 0x113f_db5c, 0xe306_9283, 0]);
    for cut in 0..counting.len() {
        let (head, tail) = counting.split_at(cut);
        assert_eq!(crc32c::go_on(crc32c(head), tail), 0x46dd_794e, "cut at {cut}");
    }
}

#[test]
fn a_scalar_has_the_bytes_that_tensorboard_writes() {
    let mut file = Vec::new();
    let value = [("charts/episodic_return", 123.5)];
    put_scalars(1_700_000_000.25, 42, value.into_iter(), &mut file);
    let golden = "0900001040fc54d941102a2a1f0a1d0a166368617274732f657069736f6469635f72657475726e\
                  150000f742";
    // Length and checksums by TensorBoard's own `masked_crc32c`.
    let record = ["2c00000000000000f4aecc45", golden, "9c89b6a2"].concat();
    assert_eq!(file, hex(&record));
    let (events, _) = read(&file, file.len());
    assert_eq!(events, [scalars(1_700_000_000.25, 42, &[("charts/episodic_return", 123.5)])]);
}

#[test]
fn what_is_written_is_read_back_in_pieces_of_any_size() {
    let (file, ends) = example();
    for size in 1..=file.len() {
        let (events, reader) = read(&file, size);
        assert_eq!(events.len(), ends.len());
        assert_eq!(events[0].told, Told::Version { writer: Some(WRITER.to_owned()) });
        assert_eq!((events[1].step, &events[1].told), (7, &Told::Start));
        let last = scalars(6.0, 3000, &[("train/loss", 3.5), ("charts/SPS", 1e6)]);
        assert_eq!(events[5], last);
        assert_eq!((reader.position(), reader.damage()), (file.len() as u64, None));
    }
}

#[test]
fn a_file_that_is_cut_gives_the_whole_records_before_the_cut() {
    let (file, ends) = example();
    for cut in 0..=file.len() {
        let (events, mut reader) = read(&file[..cut], 64);
        let n_whole = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!((events.len(), reader.damage()), (n_whole, None), "cut at {cut}");
        // And it goes on where it was cut.
        let mut n_more = 0;
        reader.push(&file[cut..], |_, _| n_more += 1);
        assert_eq!(n_whole + n_more, ends.len(), "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_ends_the_reading_there() {
    let (file, ends) = example();
    for bit in 0..8 * file.len() {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (events, reader) = read(&damaged, 64);
        let n_before = ends.iter().filter(|&&end| end <= bit / 8).count();
        let offset = if n_before == 0 { 0 } else { ends[n_before - 1] as u64 };
        assert_eq!(events.len(), n_before, "bit {bit}");
        assert_eq!(reader.damage(), Some(Damage { offset }), "bit {bit}");
    }
}

#[test]
fn a_long_message_is_passed_over_without_being_kept() {
    let (small, _) = example();
    let mut file = small.clone();
    put_record(&vec![0x5a; MAX_MESSAGE_BYTES as usize + 1], &mut file);
    let long = small.len()..file.len();
    file.extend_from_slice(&small);
    for size in [1000, 65_536, file.len()] {
        let (events, reader) = read(&file, size);
        assert_eq!((events.len(), reader.damage()), (12, None));
        assert!(reader.buffer.capacity() < 1 << 20, "it is not kept");
    }
    // Its checksum counts all the same.
    file[long.start + 100] ^= 1;
    let (events, reader) = read(&file, 65_536);
    assert_eq!(events.len(), 6);
    assert_eq!(reader.damage(), Some(Damage { offset: long.start as u64 }));
}

#[test]
fn a_length_that_cannot_be_is_waited_for_and_not_allocated() {
    let mut file = Vec::new();
    let length = u64::MAX.to_le_bytes();
    file.extend_from_slice(&length);
    file.extend_from_slice(&masked(crc32c(&length)).to_le_bytes());
    file.extend_from_slice(&[0; 1000]);
    let (events, reader) = read(&file, 64);
    assert_eq!((events.len(), reader.damage()), (0, None));
    assert!(reader.buffer.capacity() < 1000);
}

/// A value whose number is in a tensor.
fn tensor_value(tag: &str, plugin: Option<&str>, tensor: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    put_bytes(1, tag.as_bytes(), &mut value);
    put_bytes(8, tensor, &mut value);
    if let Some(plugin) = plugin {
        let (mut named, mut metadata) = (Vec::new(), Vec::new());
        put_bytes(1, plugin.as_bytes(), &mut named);
        put_bytes(1, &named, &mut metadata);
        put_bytes(9, &metadata, &mut value);
    }
    value
}

fn tensor_file(values: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for value in values {
        let (mut summary, mut message) = (Vec::new(), Vec::new());
        put_bytes(1, value, &mut summary);
        put_bytes(5, &summary, &mut message);
        put_record(&message, &mut file);
    }
    file
}

#[test]
fn scalars_in_tensors_are_read_where_their_tag_says_that_they_are() {
    #[track_caller]
    fn check(tensor: &[u8], expected: Option<f64>) {
        let told = |values: Vec<EventRecord>| match values[0].told.clone() {
            Told::Scalars(values) => Some(values[0].1),
            _ => None,
        };
        let file = tensor_file(&[tensor_value("loss", Some("scalars"), tensor)]);
        assert_eq!(told(read(&file, 64).0), expected);
        // Of other plugins, or of none, it is something else.
        for plugin in [Some("histograms"), None] {
            let file = tensor_file(&[tensor_value("loss", plugin, tensor)]);
            assert_eq!(told(read(&file, 64).0), None);
        }
    }
    fn tensor(kind: u64, content: &[u8]) -> Vec<u8> {
        let mut tensor = Vec::new();
        put_varint(1, kind, &mut tensor);
        put_bytes(4, content, &mut tensor);
        tensor
    }
    fn packed(kind: u64, number: u32, bytes: &[u8]) -> Vec<u8> {
        let mut tensor = Vec::new();
        put_varint(1, kind, &mut tensor);
        put_bytes(number, bytes, &mut tensor);
        tensor
    }
    check(&tensor(1, &2.5f32.to_le_bytes()), Some(2.5));
    check(&tensor(2, &0.1f64.to_le_bytes()), Some(0.1));
    check(&tensor(3, &(-7i32).to_le_bytes()), Some(-7.0));
    check(&tensor(9, &(1i64 << 40).to_le_bytes()), Some((1i64 << 40) as f64));
    check(&tensor(19, &0xc500u16.to_le_bytes()), Some(-5.0));
    check(&tensor(14, &0x4049u16.to_le_bytes()), Some(3.140_625));
    check(&packed(1, 5, &2.5f32.to_le_bytes()), Some(2.5));
    check(&packed(2, 6, &0.1f64.to_le_bytes()), Some(0.1));
    check(&packed(9, 10, &[0xac, 0x02]), Some(300.0));
    // Two numbers, none, and text.
    check(&tensor(1, &[0; 8]), None);
    check(&tensor(1, &[]), None);
    check(&packed(9, 10, &[1, 1]), None);
    check(&tensor(7, b"text"), None);
}

#[test]
fn only_the_first_value_of_a_tag_has_to_say_what_it_is() {
    let mut tensor = Vec::new();
    put_varint(1, 1, &mut tensor);
    put_bytes(4, &2.5f32.to_le_bytes(), &mut tensor);
    let values = [
        tensor_value("loss", Some("scalars"), &tensor),
        tensor_value("loss", None, &tensor),
        tensor_value("other", None, &tensor),
    ];
    let (events, _) = read(&tensor_file(&values), 64);
    let is_scalar: Vec<bool> =
        events.iter().map(|event| matches!(event.told, Told::Scalars(_))).collect();
    assert_eq!(is_scalar, [true, true, false]);
}

proptest::proptest! {
    /// Whatever a file holds, reading it ends well.
    #[test]
    fn nothing_in_a_message_makes_the_reader_fail(
        messages in proptest::collection::vec(
            proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60), 0..8),
        size in 1usize..100,
    ) {
        let mut file = Vec::new();
        messages.iter().for_each(|message| put_record(message, &mut file));
        let (events, reader) = read(&file, size);
        proptest::prop_assert!(events.len() == messages.len() || reader.damage().is_some());
    }
}
