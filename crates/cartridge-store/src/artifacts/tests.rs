use tempfile::TempDir;

use super::*;
use crate::data_dir::DataDir;

fn run_dir() -> (TempDir, RunDir, RunId) {
    let folder = tempfile::tempdir().unwrap();
    let id: RunId = "r-000001".parse().unwrap();
    let dir = DataDir::open(folder.path()).unwrap().run(&id);
    fs::create_dir_all(dir.path()).unwrap();
    (folder, dir, id)
}

fn artifact(kind: ArtifactKind, path: &str, created_at: f64) -> Artifact {
    Artifact {
        id: ArtifactId::new(kind, Base::Run, path),
        kind,
        base: Base::Run,
        path: path.to_owned(),
        is_folder: false,
        n_files: 1,
        size_bytes: 10,
        sha256: None,
        step: None,
        created_at,
        modified_at: created_at,
        milestone: false,
        pinned: false,
        shared: false,
    }
}

#[test]
fn ids_are_stable_and_never_paths() {
    let id = ArtifactId::new(ArtifactKind::Video, Base::Run, "videos/a/0.mp4");
    assert_eq!(id, ArtifactId::new(ArtifactKind::Video, Base::Run, "videos/a/0.mp4"));
    assert_ne!(id, ArtifactId::new(ArtifactKind::Other, Base::Run, "videos/a/0.mp4"));
    assert_ne!(id, ArtifactId::new(ArtifactKind::Video, Base::Work, "videos/a/0.mp4"));
    assert_eq!(id.as_str().parse::<ArtifactId>().unwrap(), id);
    for bad in
        ["", "a-", "a-../../x", "a-ABCDEFGH", "a-12345678 ", "a-1234567", "..", "a-%2e%2e%2f0"]
    {
        assert!(bad.parse::<ArtifactId>().is_err(), "{bad}");
    }
}

#[test]
fn the_list_counts_what_was_removed_and_forgets_it_when_it_comes_back() {
    let (_folder, dir, id) = run_dir();
    let mut locked = Locked::open(&dir, &id).unwrap();
    for n in 0..5 {
        locked.list.put(artifact(ArtifactKind::Video, &format!("videos/{n}.mp4"), f64::from(n)));
    }
    let first = locked.list.artifacts[0].clone();
    locked.list.drop(&first.id);
    assert_eq!(locked.list.kept(ArtifactKind::Video), (4, 5));
    locked.save().unwrap();
    drop(locked);
    let mut list = ArtifactList::read(&dir).unwrap().unwrap();
    assert_eq!(list.kept(ArtifactKind::Video), (4, 5));
    assert!(matches!(list.get(&first.id), Err(StoreError::NoSuchArtifact(_))));
    list.put(first);
    assert_eq!(list.kept(ArtifactKind::Video), (5, 5));
    assert_eq!(list.bytes()[&ArtifactKind::Video], 50);
}

#[test]
fn a_list_of_another_run_or_a_later_version_is_refused() {
    let (_folder, dir, id) = run_dir();
    let mut list = ArtifactList::new(id);
    list.format = 99;
    fs::write(list_path(&dir), serde_json::to_vec(&list).unwrap()).unwrap();
    assert!(matches!(ArtifactList::read(&dir), Err(StoreError::NewerFormat { found: 99, .. })));
    let list = ArtifactList::new("r-000002".parse().unwrap());
    fs::write(list_path(&dir), serde_json::to_vec(&list).unwrap()).unwrap();
    assert!(matches!(ArtifactList::read(&dir), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_folder_is_measured_and_hashed_by_its_plain_files() {
    let (_folder, dir, _) = run_dir();
    let inner = dir.path().join("runs/a/deep");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("events"), b"12345").unwrap();
    fs::write(dir.path().join("runs/a/b"), b"123").unwrap();
    let base = Beneath::open(dir.path()).unwrap();
    let before = measure(&base, "runs/a").unwrap().unwrap();
    assert_eq!((before.n_files, before.size_bytes), (2, 8));
    let sum = hash(&base, "runs/a", true).unwrap();
    // A link and a hidden file are not part of it.
    std::os::unix::fs::symlink("/etc/passwd", inner.join("link")).unwrap();
    fs::write(inner.join(".hidden"), b"x").unwrap();
    assert_eq!(hash(&base, "runs/a", true).unwrap(), sum);
    assert_eq!(measure(&base, "runs/a").unwrap().unwrap(), before);
    fs::write(inner.join("events"), b"12346").unwrap();
    assert_ne!(hash(&base, "runs/a", true).unwrap(), sum);
    assert_eq!(measure(&base, "runs/none").unwrap(), None);
    // sha256sum of `123`.
    assert_eq!(
        hash(&base, "runs/a/b", false).unwrap(),
        "a665a45920422f9d417e4867efdc4fb8a04a1f3fff1fa07e998e86f7f7a27ae3"
    );
}
