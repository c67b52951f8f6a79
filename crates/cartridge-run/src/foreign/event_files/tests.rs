use std::fs::OpenOptions;
use std::io::Write as _;

use cartridge_store::event_file::{put_scalars, put_version};

use super::*;

struct Fixture {
    folder: tempfile::TempDir,
    dir: RunDir,
    work: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::new(folder.path().join("r-abcdef"));
        let work = folder.path().join("work");
        fs::create_dir(dir.path()).unwrap();
        fs::create_dir(&work).unwrap();
        Self { folder, dir, work }
    }

    fn files(&self) -> EventFiles {
        EventFiles::new(&self.dir, Some(&self.work), Vec::new())
    }

    fn path(&self, base: Base, path: &str) -> PathBuf {
        let folder = if base == Base::Run { self.dir.path() } else { &self.work };
        folder.join(path)
    }

    /// Appends scalars `loss` to a file, which another program might have begun.
    fn append(&self, base: Base, path: &str, steps: &[u64]) {
        let mut bytes = Vec::new();
        for step in steps {
            put_scalars(1.0, *step, [("loss", *step as f64)].into_iter(), &mut bytes);
        }
        self.append_bytes(base, path, &bytes);
    }

    fn append_bytes(&self, base: Base, path: &str, bytes: &[u8]) {
        let path = self.path(base, path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(bytes).unwrap();
    }
}

fn steps(look: &Look) -> Vec<u64> {
    look.scalars.iter().map(|scalars| scalars.step).collect()
}

const FILE: &str = "runs/first/events.out.tfevents.1700000000.elsewhere.12.0";

#[test]
fn a_file_is_followed_while_it_grows() {
    for base in [Base::Run, Base::Work] {
        let fixture = Fixture::new();
        let mut files = fixture.files();
        assert!(steps(&files.look()).is_empty());
        fixture.append(base, FILE, &[1, 2]);
        assert_eq!(steps(&files.look()), [1, 2]);
        assert!(steps(&files.look()).is_empty());
        fixture.append(base, FILE, &[3]);
        assert_eq!(steps(&files.look()), [3]);
        // A file with another name is none.
        fixture.append(base, "runs/first/notes.txt", &[4]);
        assert!(steps(&files.look()).is_empty());
    }
}

#[test]
fn half_a_record_waits_for_the_rest_at_every_byte() {
    let mut record = Vec::new();
    put_scalars(1.0, 7, [("loss", 0.5)].into_iter(), &mut record);
    for cut in 0..record.len() {
        let fixture = Fixture::new();
        let mut files = fixture.files();
        fixture.append(Base::Run, FILE, &[1]);
        fixture.append_bytes(Base::Run, FILE, &record[..cut]);
        assert_eq!(steps(&files.look()), [1]);
        fixture.append_bytes(Base::Run, FILE, &record[cut..]);
        assert_eq!(steps(&files.look()), [7], "cut at {cut}");
    }
}

#[test]
fn a_damaged_file_is_read_no_further_and_others_are() {
    let fixture = Fixture::new();
    let mut files = fixture.files();
    fixture.append(Base::Run, FILE, &[1]);
    fixture.append_bytes(Base::Run, FILE, &[9; 40]);
    let look = files.look();
    let note = look.notes.last().unwrap();
    assert!(note.contains("is damaged at byte 42") && note.contains("first"), "{note}");
    assert_eq!(steps(&look), [1]);
    fixture.append(Base::Run, FILE, &[2]);
    fixture.append(Base::Run, "runs/second/events.out.tfevents.1", &[3]);
    assert_eq!(steps(&files.look()), [3]);
}

#[test]
fn what_was_there_before_the_attempt_is_not_told_again() {
    let fixture = Fixture::new();
    fixture.append(Base::Run, FILE, &[1, 2]);
    fixture.append(Base::Work, FILE, &[5]);
    let mut files = fixture.files();
    assert!(steps(&files.look()).is_empty());
    // In the run's own folder an old file may go on; elsewhere it is another's.
    fixture.append(Base::Run, FILE, &[3]);
    fixture.append(Base::Work, FILE, &[6]);
    assert_eq!(steps(&files.look()), [3]);
    // Until the trainer says that it is its own.
    files.name("runs/first".to_owned());
    assert_eq!(steps(&files.look()), [6]);
}

#[test]
fn what_another_run_writes_is_left_alone() {
    let fixture = Fixture::new();
    let mut files = fixture.files();
    fixture.append(Base::Work, "runs/CartPole__r-zzzzzz__1/events.out.tfevents.1.host.1.0", &[1]);
    assert!(steps(&files.look()).is_empty());
    fixture.append(Base::Work, "runs/CartPole__r-abcdef__1/events.out.tfevents.1.host.1.0", &[2]);
    assert_eq!(steps(&files.look()), [2]);
    // By the process that writes it, which is at work for another run.
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let start = |run: &str| {
        let mut command = std::process::Command::new("sleep");
        command.arg("60").env("CARTRIDGE_RUN_ID", run).spawn().unwrap()
    };
    let mut writers = [start("r-zzzzzz"), start("r-abcdef")];
    let [anothers, own] = [&writers[0], &writers[1]]
        .map(|writer| format!("runs/x/events.out.tfevents.17.{host}.{}.0", writer.id()));
    // A process has its environment a moment after it was started.
    let environment =
        |writer: &std::process::Child| fs::read(format!("/proc/{}/environ", writer.id())).unwrap();
    while writers.iter().any(|writer| environment(writer).is_empty()) {
        std::thread::yield_now();
    }
    fixture.append(Base::Work, &anothers, &[3]);
    fixture.append(Base::Work, &own, &[4]);
    assert_eq!(steps(&files.look()), [4]);
    writers.iter_mut().for_each(|writer| writer.kill().unwrap());
    writers.iter_mut().for_each(|writer| _ = writer.wait().unwrap());
}

#[test]
fn named_places_are_looked_at_wherever_they_are_below_the_two_folders() {
    let fixture = Fixture::new();
    let mut files = fixture.files();
    fixture.append(Base::Work, "logs/PPO_1/events.out.tfevents.1", &[1]);
    assert!(steps(&files.look()).is_empty());
    files.name("logs/PPO_1/".to_owned());
    assert_eq!(steps(&files.look()), [1]);
    fixture.append(Base::Work, "logs/PPO_2/events.out.tfevents.1", &[2]);
    files.name(fixture.path(Base::Work, "logs/PPO_2").to_str().unwrap().to_owned());
    assert_eq!(steps(&files.look()), [2]);
    // Neither by a link nor by a path that leads out.
    let elsewhere = fixture.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(
        fixture.path(Base::Work, "logs/PPO_2/events.out.tfevents.1"),
        elsewhere.join("events.out.tfevents.1"),
    )
    .unwrap();
    std::os::unix::fs::symlink(&elsewhere, fixture.path(Base::Work, "linked")).unwrap();
    for place in ["linked", "../elsewhere", elsewhere.to_str().unwrap()] {
        files.name(place.to_owned());
    }
    assert!(steps(&files.look()).is_empty());
}

#[test]
fn our_own_files_are_not_read_back() {
    let fixture = Fixture::new();
    let mut files = fixture.files();
    let mut bytes = Vec::new();
    put_version(1.0, &mut bytes);
    fixture.append_bytes(Base::Run, FILE, &bytes);
    fixture.append(Base::Run, FILE, &[1]);
    assert!(steps(&files.look()).is_empty());
}

#[test]
fn a_look_reads_so_much_and_the_next_goes_on() {
    let fixture = Fixture::new();
    let mut files = fixture.files();
    let all: Vec<u64> = (0..250_000).collect();
    fixture.append(Base::Run, FILE, &all);
    let look = files.look();
    assert!(look.has_more);
    let mut read = steps(&look);
    assert!(read.len() < all.len());
    read.extend(steps(&files.look()));
    assert_eq!(read, all);
}
