use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;
use crate::error::StoreError;
use crate::run_dir::RunDir;

type Episode = (EpisodeHead, EpisodeBody);

fn run_dir() -> (tempfile::TempDir, RunDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    (folder, dir)
}

fn head(episode: u64, length: u32) -> EpisodeHead {
    EpisodeHead {
        episode,
        attempt: 1,
        lane: (episode % 8) as u32,
        seed: Some(1000 + episode),
        reward: f64::from(length),
        length,
        step: 10 * episode,
        terminated: true,
        truncated: false,
        checkpoint_step: Some(2048),
        t: 1.7e9 + (episode / 4) as f64,
        foreign_id: None,
    }
}

fn discrete(episode: u64, length: u32) -> Episode {
    let action = |step: u32| (step.wrapping_mul(2_654_435_761) >> 7) % 4;
    (head(episode, length), EpisodeBody::Discrete((0..length).map(action).collect()))
}

fn step(number: u64) -> StepRecord {
    StepRecord {
        action: json!(number % 4),
        reward: number as f64 / 8.0,
        terminated: false,
        truncated: false,
        obs: Some(json!([number as f64 * 0.001, -1.5, 0.25, 3.0])),
        t: Some(1.7e9 + number as f64),
    }
}

fn write(dir: &RunDir, episodes: &[Episode], flush_every: usize) {
    let mut writer = EpisodeWriter::open(dir).unwrap();
    for (place, (head, body)) in episodes.iter().enumerate() {
        writer.add(head, body).unwrap();
        if place % flush_every == flush_every - 1 {
            writer.flush().unwrap();
        }
    }
    writer.sync().unwrap();
}

/// What a reader finds: every episode, or nothing where it cannot be read.
fn read(dir: &RunDir, numbers: impl IntoIterator<Item = u64>) -> Vec<Option<Episode>> {
    let mut reader = EpisodeReader::open(dir).unwrap();
    let mut one = |n| Some((reader.head(n).ok()??, reader.body(n).ok()??));
    numbers.into_iter().map(&mut one).collect()
}

fn numbers(dir: &RunDir, sort: Sort, order: Order, offset: u64, limit: usize) -> Vec<u64> {
    let mut reader = EpisodeReader::open(dir).unwrap();
    let page = reader.heads(sort, order, offset, limit).unwrap();
    page.heads.iter().map(|head| head.episode).collect()
}

fn damage(dir: &RunDir) -> Vec<Damage> {
    EpisodeReader::open(dir).unwrap().verify().unwrap()
}

fn segment_path(dir: &RunDir, segment: u32) -> PathBuf {
    dir.episodes_path().join(segment_name(segment))
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(|number| json!(number)),
        (-1e9..1e9).prop_map(|number| json!(number)),
        ".*".prop_map(|text| json!(text)),
        prop::collection::vec(any::<i32>(), 0..4).prop_map(|list| json!({ "list": list })),
    ]
}

fn any_step() -> impl Strategy<Value = StepRecord> {
    let flags = (any::<bool>(), any::<bool>());
    let seen = (prop::option::of(any_value()), prop::option::of(-1e12..1e12));
    (any_value(), -1e9..1e9, flags, seen).prop_map(|(action, reward, flags, (obs, t))| StepRecord {
        action,
        reward,
        terminated: flags.0,
        truncated: flags.1,
        obs,
        t,
    })
}

fn any_body() -> impl Strategy<Value = EpisodeBody> {
    let action = prop_oneof![4 => 0_u32..4, 1 => 0_u32..70, 1 => any::<u32>()];
    prop_oneof![
        3 => prop::collection::vec(action, 0..300).prop_map(EpisodeBody::Discrete),
        1 => (1_u32..5, prop::collection::vec(-1e3_f32..1e3, 0..60)).prop_map(|(width, mut actions)| {
            actions.truncate(actions.len() / width as usize * width as usize);
            EpisodeBody::Continuous { width, actions }
        }),
        1 => prop::collection::vec(any_step(), 0..20).prop_map(EpisodeBody::Steps),
    ]
}

fn any_head() -> impl Strategy<Value = EpisodeHead> {
    (
        (any::<u32>(), prop::option::of(any::<u64>()), any::<u32>(), any::<u64>()),
        prop_oneof![any::<i32>().prop_map(f64::from), -1e9..1e9_f64],
        (any::<bool>(), any::<bool>(), prop::option::of(any::<u64>()), -1e10..1e10_f64),
        prop::option::of(".*"),
    )
        .prop_map(|(numbers, reward, rest, foreign_id)| EpisodeHead {
            episode: 0,
            attempt: 1,
            lane: numbers.0,
            seed: numbers.1,
            reward,
            length: numbers.2,
            step: numbers.3,
            terminated: rest.0,
            truncated: rest.1,
            checkpoint_step: rest.2,
            t: rest.3,
            foreign_id,
        })
}

/// Any episodes, with rising numbers, and whether each has as many steps as it has actions.
fn any_episodes() -> impl Strategy<Value = Vec<Episode>> {
    let one = (any_head(), any_body(), 1_u64..4, any::<bool>());
    prop::collection::vec(one, 1..30).prop_map(|all| {
        let mut episode = 0;
        let number = |(mut head, body, gap, fits): (EpisodeHead, EpisodeBody, u64, bool)| {
            episode += gap;
            head.episode = episode;
            if let (EpisodeBody::Discrete(actions), true) = (&body, fits) {
                head.length = actions.len() as u32;
            }
            (head, body)
        };
        all.into_iter().map(number).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_written_is_read(
        episodes in any_episodes(),
        flushes in prop::collection::vec(0..3_u8, 30),
        segment_bytes in 20_u64..4000,
    ) {
        let (_folder, dir) = run_dir();
        let mut writer = EpisodeWriter::open_with(&dir, segment_bytes).unwrap();
        for ((head, body), flush) in episodes.iter().zip(&flushes) {
            writer.add(head, body).unwrap();
            match flush {
                0 => writer.flush().unwrap(),
                1 => writer.sync().unwrap(),
                _ => {}
            }
        }
        drop(writer);
        let found = read(&dir, episodes.iter().map(|(head, _)| head.episode));
        let found: Vec<Episode> = found.into_iter().flatten().collect();
        prop_assert_eq!(&found, &episodes);
        prop_assert_eq!(damage(&dir), []);
        // The index comes back from the segments.
        fs::remove_file(dir.episodes_path().join("index")).unwrap();
        let found = read(&dir, episodes.iter().map(|(head, _)| head.episode));
        prop_assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), episodes);
    }

    #[test]
    fn a_changed_byte_is_noticed_and_the_rest_is_read(
        episodes in any_episodes(),
        flush_every in 1..5_usize,
        place in any::<Index>(),
        change in 1..=255_u8,
        has_index in any::<bool>(),
    ) {
        let (_folder, dir) = run_dir();
        write(&dir, &episodes, flush_every);
        let index = dir.episodes_path().join("index");
        let segment = segment_path(&dir, 1);
        let sizes = [fs::metadata(&segment).unwrap().len(), fs::metadata(&index).unwrap().len()];
        let at = place.index(if has_index { sizes[0] + sizes[1] } else { sizes[0] } as usize);
        let (path, at) = match at.checked_sub(sizes[0] as usize) {
            Some(at) => (&index, at),
            None => (&segment, at),
        };
        let mut bytes = fs::read(path).unwrap();
        bytes[at] ^= change;
        fs::write(path, bytes).unwrap();
        if !has_index {
            fs::remove_file(&index).unwrap();
        }

        prop_assert!(!damage(&dir).is_empty(), "byte {} of {}", at, path.display());
        let found = read(&dir, episodes.iter().map(|(head, _)| head.episode));
        let mut n_lost = 0;
        for (found, written) in found.iter().zip(&episodes) {
            match found {
                Some(found) => prop_assert_eq!(found, written),
                None => n_lost += 1,
            }
        }
        if path == &index {
            prop_assert_eq!(n_lost, 0, "the segments say it all");
        }
        prop_assert!(n_lost <= flush_every, "{} lost of blocks of {}", n_lost, flush_every);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0..400_usize) {
        let (_folder, dir) = run_dir();
        write(&dir, &[discrete(1, 50), discrete(2, 60)], 1);
        let path = segment_path(&dir, 1);
        let mut whole = fs::read(&path).unwrap();
        let at = at.min(whole.len());
        whole.splice(at..at, bytes);
        fs::write(&path, whole).unwrap();
        let mut reader = EpisodeReader::open(&dir).unwrap();
        reader.verify().unwrap();
        reader.unfinished().unwrap();
        reader.heads(Sort::Return, Order::Descending, 0, 10).unwrap();
        EpisodeWriter::open(&dir).unwrap();
    }
}

#[test]
fn a_writer_goes_on_after_a_cut_at_any_byte() {
    let episodes: Vec<Episode> = (1..=6).map(|n| discrete(n, 10 + n as u32)).collect();
    for has_index in [true, false] {
        let (_folder, dir) = run_dir();
        write(&dir, &episodes, 2);
        let path = segment_path(&dir, 1);
        let index = dir.episodes_path().join("index");
        let (whole, whole_index) = (fs::read(&path).unwrap(), fs::read(&index).unwrap());
        let mut seen = Vec::new();
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            fs::write(&index, &whole_index).unwrap();
            if !has_index {
                fs::remove_file(&index).unwrap();
            }
            let n_before = EpisodeReader::open(&dir).unwrap().n_episodes();
            let next = discrete(100, 7);
            write(&dir, std::slice::from_ref(&next), 1);
            let mut expected = episodes[..n_before as usize].to_vec();
            expected.push(next);
            let found = read(&dir, (1..=n_before).chain([100]));
            assert_eq!(
                found.into_iter().flatten().collect::<Vec<_>>(),
                expected,
                "cut at {length}"
            );
            assert_eq!(damage(&dir), [], "cut at {length}");
            seen.push(n_before);
        }
        assert!(seen.is_sorted(), "more bytes, no fewer episodes");
        seen.dedup();
        assert_eq!(seen, [0, 2, 4, 6]);
    }
}

#[test]
fn a_foreign_episode_goes_on_after_a_cut_at_any_byte() {
    let (_folder, dir) = run_dir();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    for number in 0..12 {
        writer.step(1, "a", &step(number)).unwrap();
        writer.step(1, "b", &step(100 + number)).unwrap();
        if number % 4 == 3 {
            writer.sync().unwrap();
        }
    }
    drop(writer);
    let path = segment_path(&dir, 1);
    let whole = fs::read(&path).unwrap();
    let mut seen = Vec::new();
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        drop(EpisodeWriter::open(&dir).unwrap());
        let mut reader = EpisodeReader::open(&dir).unwrap();
        let open = reader.unfinished().unwrap();
        for (episode, from) in open.iter().zip([0, 100]) {
            let steps = reader.unfinished_steps(episode, 0..100).unwrap();
            let expected: Vec<StepRecord> = (from..from + episode.n_steps).map(step).collect();
            assert_eq!(steps, expected);
        }
        seen.push(open.iter().map(|episode| episode.n_steps).sum::<u64>());
    }
    seen.dedup();
    assert_eq!(seen, [0, 8, 16, 24]);
}

#[test]
fn foreign_episodes_are_written_in_parts_and_read_in_ranges() {
    let (_folder, dir) = run_dir();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let n_steps = 20_000;
    for number in 0..n_steps {
        writer.step(1, "long", &step(number)).unwrap();
        writer.step(1, "other", &step(number + 7)).unwrap();
    }
    assert_eq!(writer.n_steps(1, "long"), n_steps);
    let named = |episode, id: &str| EpisodeHead {
        foreign_id: Some(id.to_owned()),
        ..head(episode, n_steps as u32)
    };
    writer.end(&named(1, "long")).unwrap();
    // The same name again is another episode.
    writer.step(1, "long", &step(3)).unwrap();
    writer.end(&named(2, "long")).unwrap();
    writer.end(&named(3, "without steps")).unwrap();
    assert_eq!(writer.n_open(), 1);
    drop(writer);

    let mut reader = EpisodeReader::open(&dir).unwrap();
    let range = |from: u64, to: u64| (from..to).map(step).collect::<Vec<_>>();
    assert_eq!(reader.n_steps(1).unwrap(), Some(n_steps));
    for (from, to) in [(0, 1), (12_345, 12_400), (19_990, 30_000), (0, 20_000), (5, 5)] {
        let steps = reader.steps(1, from..to).unwrap().unwrap();
        assert_eq!(steps, range(from, to.min(n_steps)));
    }
    assert_eq!(reader.steps(2, 0..9).unwrap().unwrap(), range(3, 4));
    assert_eq!(reader.steps(3, 0..9).unwrap().unwrap(), []);
    let open = reader.unfinished().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].foreign_id.as_str(), open[0].n_steps), ("other", n_steps));
    assert_eq!(reader.unfinished_steps(&open[0], 100..101).unwrap(), [step(107)]);
}

#[test]
fn steps_keep_what_json_has_no_number_for() {
    let (_folder, dir) = run_dir();
    let rewards = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
    let steps =
        rewards.map(|reward| StepRecord { reward, obs: Some(Value::Null), t: None, ..step(1) });
    write(&dir, &[(head(1, 4), EpisodeBody::Steps(steps.to_vec()))], 1);
    let mut reader = EpisodeReader::open(&dir).unwrap();
    let found = reader.steps(1, 0..4).unwrap().unwrap();
    let bits =
        |steps: &[StepRecord]| steps.iter().map(|it| it.reward.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&found), bits(&steps));
    assert_eq!(found[1].obs, Some(Value::Null));
}

#[test]
fn any_episode_is_found_by_its_number() {
    let (_folder, dir) = run_dir();
    // Far more steps than any window of the newest ones.
    let episodes: Vec<Episode> = (1..=2_000).map(|n| discrete(n, 20 + (n % 50) as u32)).collect();
    write(&dir, &episodes, 17);
    let mut reader = EpisodeReader::open(&dir).unwrap();
    assert_eq!(reader.n_episodes(), 2_000);
    for wanted in [1, 2, 999, 1_000, 2_000] {
        let (head, body) = &episodes[wanted - 1];
        assert_eq!(reader.head(wanted as u64).unwrap().as_ref(), Some(head));
        assert_eq!(reader.body(wanted as u64).unwrap().as_ref(), Some(body));
    }
    assert_eq!(reader.head(2_001).unwrap(), None);
    assert_eq!(reader.body(0).unwrap(), None);
}

#[test]
fn lists_are_sorted_and_cut_into_pages() {
    let (_folder, dir) = run_dir();
    let lengths = [30, 10, 20, 10, 50];
    let mut episodes: Vec<Episode> =
        (1..).zip(lengths).map(|(n, length)| discrete(n, length)).collect();
    episodes[2].0.reward = -5.0;
    write(&dir, &episodes, 2);
    let check = |sort, order, offset, limit, expected: &[u64]| {
        assert_eq!(numbers(&dir, sort, order, offset, limit), expected, "{sort:?} {order:?}");
    };
    use Order::{Ascending, Descending};
    check(Sort::Number, Ascending, 0, 10, &[1, 2, 3, 4, 5]);
    check(Sort::Number, Ascending, 1, 2, &[2, 3]);
    check(Sort::Number, Descending, 0, 3, &[5, 4, 3]);
    check(Sort::Number, Descending, 3, 3, &[2, 1]);
    check(Sort::Return, Descending, 0, 2, &[5, 1]);
    check(Sort::Return, Ascending, 0, 3, &[3, 2, 4]);
    check(Sort::Length, Ascending, 0, 10, &[2, 4, 3, 1, 5]);
    check(Sort::Length, Descending, 4, 10, &[4]);
    check(Sort::Time, Descending, 0, 2, &[5, 4]);
    check(Sort::Return, Descending, 9, 10, &[]);
}

#[test]
fn what_a_later_attempt_has_replaced_does_not_count() {
    let (_folder, dir) = run_dir();
    let attempt = |attempt: u32, numbers: std::ops::RangeInclusive<u64>| -> Vec<Episode> {
        let one = |n| (EpisodeHead { attempt, ..head(n, attempt) }, EpisodeBody::Discrete(vec![0]));
        numbers.map(one).collect()
    };
    write(&dir, &attempt(1, 1..=10), 4);
    let mut reader = EpisodeReader::open(&dir).unwrap();
    assert_eq!(reader.n_episodes(), 10);
    let line = |attempt: u32, episode: u64| json!({ "attempt": attempt, "t": 1.0, "type": "restored", "step": 5, "episode": episode });
    let other = json!({ "attempt": 2, "type": "warning", "message": "\"restored\"", "episode": 1 });
    fs::write(dir.events_path(), format!("{}\n{other}\n{{\"half", line(2, 6))).unwrap();
    reader.refresh().unwrap();
    assert_eq!((reader.n_episodes(), reader.last_episode()), (6, 6));
    assert_eq!(reader.head(7).unwrap(), None, "nobody has played it again yet");

    write(&dir, &attempt(2, 7..=12), 5);
    reader.refresh().unwrap();
    fs::write(dir.events_path(), format!("{}\n{other}\n{}\n", line(2, 6), line(3, 2))).unwrap();
    assert_eq!(numbers(&dir, Sort::Number, Order::Ascending, 0, 99), [1, 2]);
    write(&dir, &attempt(3, 3..=4), 5);
    assert_eq!(numbers(&dir, Sort::Number, Order::Descending, 0, 99), [4, 3, 2, 1]);
    assert_eq!(numbers(&dir, Sort::Length, Order::Descending, 0, 99), [3, 4, 1, 2]);
    let mut reader = EpisodeReader::open(&dir).unwrap();
    assert_eq!(reader.head(4).unwrap().unwrap().attempt, 3);
    assert_eq!(reader.head(2).unwrap().unwrap().attempt, 1);
}

#[test]
fn a_removed_segment_takes_only_its_own_episodes() {
    let (_folder, dir) = run_dir();
    let mut writer = EpisodeWriter::open_with(&dir, 1).unwrap();
    for n in 1..=4 {
        let (head, body) = discrete(n, 100);
        writer.add(&head, &body).unwrap();
        writer.sync().unwrap();
    }
    drop(writer);
    fs::remove_file(segment_path(&dir, 1)).unwrap();
    assert_eq!(numbers(&dir, Sort::Return, Order::Ascending, 0, 9), [2, 3, 4]);
    assert_eq!(damage(&dir), []);
    drop(EpisodeWriter::open(&dir).unwrap());
    assert_eq!(numbers(&dir, Sort::Number, Order::Ascending, 0, 9), [2, 3, 4]);
}

#[test]
fn what_was_synced_is_seen_while_more_is_written() {
    let (_folder, dir) = run_dir();
    assert_eq!(EpisodeReader::open(&dir).unwrap().n_episodes(), 0, "no folder, no episodes");
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let mut reader = EpisodeReader::open(&dir).unwrap();
    for n in 1..=3 {
        let (head, body) = discrete(n, 30);
        writer.add(&head, &body).unwrap();
        assert_eq!(reader.n_episodes(), n - 1);
        writer.flush().unwrap();
        reader.refresh().unwrap();
        assert_eq!(reader.n_episodes(), n);
    }
    assert!(EpisodeWriter::open(&dir).is_err(), "one writer at a time");
}

#[test]
fn files_of_a_later_version_are_refused() {
    for name in ["index", "000001.seg"] {
        let (_folder, dir) = run_dir();
        write(&dir, &[discrete(1, 10)], 1);
        let path = dir.episodes_path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 9;
        let crc = crc32fast::hash(&bytes[..12]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        let error = EpisodeReader::open(&dir).unwrap_err().to_string();
        assert!(error.contains("has format 9"), "{error}");
        assert!(EpisodeWriter::open(&dir).is_err());
    }
}

#[test]
fn a_step_takes_few_bytes() {
    let (_folder, dir) = run_dir();
    // Short episodes, returns that are no whole numbers: nothing that packing could profit from.
    let episodes: Vec<Episode> = (1..=3_000)
        .map(|n| {
            let (mut head, body) = discrete(n, 30);
            head.seed = Some(n * 1_234_567 % (1 << 31));
            head.reward = (n as f64).sin();
            (head, body)
        })
        .collect();
    write(&dir, &episodes, 30);
    let size = |name: &str| fs::metadata(dir.episodes_path().join(name)).unwrap().len();
    let per_step = (size("index") + size("000001.seg")) as f64 / (3_000.0 * 30.0);
    assert!(per_step < 1.5, "{per_step} bytes per step");
}

#[test]
fn a_damaged_block_of_steps_names_its_episodes_and_leaves_the_others() {
    let (_folder, dir) = run_dir();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let mut ends = Vec::new();
    for episode in 1..=3 {
        let name = format!("episode {episode}");
        for number in 0..20 {
            writer.step(1, &name, &step(number)).unwrap();
        }
        let foreign_id = Some(name);
        writer.end(&EpisodeHead { foreign_id, ..head(episode, 20) }).unwrap();
        writer.sync().unwrap();
        ends.push(fs::metadata(segment_path(&dir, 1)).unwrap().len());
    }
    drop(writer);
    let whole = fs::read(segment_path(&dir, 1)).unwrap();
    let mut changed = whole.clone();
    // Somewhere in the steps of the second episode, which begin where the first one ends.
    changed[ends[0] as usize + 80] ^= 1;
    fs::write(segment_path(&dir, 1), changed).unwrap();

    let mut reader = EpisodeReader::open(&dir).unwrap();
    let page = reader.heads(Sort::Number, Order::Ascending, 0, 10).unwrap();
    assert_eq!((page.total, page.n_damaged, page.heads.len()), (3, 1, 3));
    let page = reader.heads(Sort::Return, Order::Descending, 0, 10).unwrap();
    assert_eq!((page.n_damaged, page.heads.len()), (1, 3));
    for (offset, limit) in [(0, 1), (2, 1), (99, 1)] {
        let page = reader.heads(Sort::Number, Order::Ascending, offset, limit).unwrap();
        assert_eq!((page.total, page.n_damaged), (3, 1), "of the whole run, whatever is asked for");
    }
    assert!(reader.steps(2, 0..20).is_err());
    for readable in [1, 3] {
        assert_eq!(reader.steps(readable, 0..20).unwrap().unwrap().len(), 20);
    }
    let damage = reader.verify().unwrap();
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].offset, damage[0].steps_of.as_slice()), (ends[0], [2].as_slice()));
}

/// Three foreign episodes whose segment was cut somewhere after the first, with the index or not.
#[track_caller]
fn check_cut(has_index: bool, cut: impl Fn(&[u64]) -> u64, n_left: u64) {
    let (_folder, dir) = run_dir();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let mut ends = Vec::new();
    for episode in 1..=3 {
        let foreign_id = Some(format!("episode {episode}"));
        writer.step(1, &format!("episode {episode}"), &step(1)).unwrap();
        writer.end(&EpisodeHead { foreign_id, ..head(episode, 1) }).unwrap();
        writer.sync().unwrap();
        ends.push(fs::metadata(segment_path(&dir, 1)).unwrap().len());
    }
    drop(writer);
    let row = json!({
        "attempt": 1, "row": 1, "t": 1.0, "step": 3, "values": {},
        "episodes": {
            "episode": [1, 2, 3], "reward": [1.0, 1.0, 1.0], "length": [1, 1, 1],
            "timestep": [1, 2, 3], "seed": [1, 2, 3], "terminated": [true, true, true],
        },
    });
    fs::write(dir.metrics_path(), format!("{row}\n")).unwrap();
    let mut reader = EpisodeReader::open(&dir).unwrap();
    assert_eq!(reader.n_damaged().unwrap(), 0);
    let segment = fs::File::options().write(true).open(segment_path(&dir, 1)).unwrap();
    segment.set_len(cut(&ends)).unwrap();
    if !has_index {
        fs::remove_file(dir.episodes_path().join("index")).unwrap();
    }
    reader.refresh().unwrap();
    for sort in [Sort::Number, Sort::Return] {
        let page = reader.heads(sort, Order::Ascending, 0, 1).unwrap();
        assert_eq!((page.total, page.n_damaged), (3, 3 - n_left), "{sort:?}");
    }
    for n in 1..=3 {
        let head = reader.head(n);
        if n <= n_left {
            assert_eq!(head.unwrap().unwrap().episode, n);
        } else {
            let error = head.unwrap_err();
            assert!(matches!(&error, StoreError::Damaged { .. }), "{error}");
            assert!(error.to_string().contains("000001.seg"), "{error}");
        }
    }
    assert_eq!(reader.head(4).unwrap(), None, "nobody has played it");
}

#[test]
fn episodes_of_a_cut_segment_are_damaged_and_not_unknown() {
    for has_index in [true, false] {
        check_cut(has_index, |ends| ends[2] - 5, 2);
        check_cut(has_index, |ends| ends[0] + 10, 1);
        check_cut(has_index, |_| 40, 0);
    }
}

#[test]
fn what_is_changed_under_an_open_reader_is_noticed() {
    let (_folder, dir) = run_dir();
    write(&dir, &[discrete(1, 50), discrete(2, 50)], 1);
    let mut reader = EpisodeReader::open(&dir).unwrap();
    assert_eq!(reader.n_damaged().unwrap(), 0);
    let mut bytes = fs::read(segment_path(&dir, 1)).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(segment_path(&dir, 1), bytes).unwrap();
    // The clock of the file system may not have moved on since the last look.
    let segment = fs::File::options().write(true).open(segment_path(&dir, 1)).unwrap();
    segment.set_modified(std::time::UNIX_EPOCH).unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.n_damaged().unwrap(), 1);
}
