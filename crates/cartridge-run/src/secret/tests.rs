use super::*;

fn data() -> (DataDir, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (DataDir::open(folder.path()).unwrap(), folder)
}

#[test]
fn a_secret_is_made_once_and_only_the_owner_reads_it() {
    let (data, _folder) = data();
    let token = api_token(&data).unwrap();
    assert_eq!(token.len(), 64);
    assert_eq!(api_token(&data).unwrap(), token);
    assert_ne!(control_key(&data).unwrap(), token);
    let path = data.path().join("token");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(api_token(&data).unwrap(), token);
    assert_eq!(mode(&path), 0o600, "what was opened up is closed again");
}

#[test]
fn two_at_once_get_the_same_secret() {
    let (data, _folder) = data();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let data = data.clone();
            std::thread::spawn(move || api_token(&data).unwrap())
        })
        .collect();
    let tokens: Vec<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
}

#[test]
fn signatures_match_the_published_example() {
    // RFC 4231, test case 2.
    let signature = sign(b"Jefe", b"what do ya want for nothing?");
    assert_eq!(signature, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert!(verifies(b"Jefe", b"what do ya want for nothing?", &signature));
    for wrong in ["", "5b", "zz", "é", &signature[1..], &signature.replace('5', "6")] {
        assert!(!verifies(b"Jefe", b"what do ya want for nothing?", wrong), "{wrong}");
    }
}

#[test]
fn a_login_code_is_taken_once_and_in_time() {
    let (data, _folder) = data();
    let code = new_login_code(&data, 1000.0).unwrap();
    assert_eq!(take_login_code(&data, &code, 1001.0), Ok(()));
    assert_eq!(take_login_code(&data, &code, 1001.0), Err(LoginCodeError::Used));
    let late = new_login_code(&data, 1000.0).unwrap();
    assert_eq!(
        take_login_code(&data, &late, 1001.0 + LOGIN_CODE_SECONDS),
        Err(LoginCodeError::Expired)
    );
    for unknown in ["", "..", "../token", &random_hex()] {
        assert_eq!(
            take_login_code(&data, unknown, 1001.0),
            Err(LoginCodeError::Unknown),
            "{unknown}"
        );
    }
    // What nobody can use any more is swept out.
    new_login_code(&data, 2000.0 + LOGIN_CODE_SECONDS).unwrap();
    assert_eq!(fs::read_dir(data.path().join("login")).unwrap().count(), 1);
}
