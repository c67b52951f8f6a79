//! Writes networks that look at a board as ONNX files into a folder, and beside each what our own
//! kernels make of some positions: for `tests/onnx` and `benches/boardnets.sh`, which run the files
//! elsewhere.
//!
//! `cargo run --release -p cartridge-learn --example board_net -- FOLDER`

use std::path::PathBuf;

use cartridge_learn::board_net::{BoardNet, Config, Preset, Shape, Workspace};
use cartridge_learn::onnx::board::export_board_net;

/// Positions beside each network.
const N: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    let tic_tac_toe = Shape { n_planes: 2, n_rows: 3, n_columns: 3, n_actions: 9 };
    let connect4 = Shape { n_planes: 2, n_rows: 6, n_columns: 7, n_actions: 7 };
    let othello = Shape { n_planes: 2, n_rows: 8, n_columns: 8, n_actions: 65 };
    let networks = [
        ("tic_tac_toe_tiny", tic_tac_toe, Preset::Tiny.config()),
        ("tic_tac_toe_1x16", tic_tac_toe, Config::residual(1, 16)),
        ("connect4_small", connect4, Preset::Small.config()),
        ("connect4_medium", connect4, Preset::Medium.config()),
        ("othello_medium", othello, Preset::Medium.config()),
        ("othello_small", othello, Preset::Small.config()),
        ("connect4_mlp", connect4, Preset::Mlp.config()),
        ("othello_mlp", othello, Preset::Mlp.config()),
    ];
    for (index, (name, shape, config)) in networks.into_iter().enumerate() {
        let rng = &mut fastrand::Rng::with_seed(index as u64);
        let mut network = BoardNet::new(shape, &config, rng)?;
        // A fresh network has zeros that would hide what is amiss, and says next to nothing.
        network.change(|all| all.iter_mut().for_each(|x| *x += 0.1 * (rng.f32() - 0.5)));
        let planes: Vec<f32> =
            (0..N * shape.n_inputs()).map(|_| f32::from(u8::from(rng.u8(..3) == 0))).collect();
        let (mut logits, mut values) = (vec![0.0; N * shape.n_actions], vec![0.0; N]);
        network.infer(&mut Workspace::default(), &planes, &mut logits, &mut values);
        let facts = vec![("weights_sha256".to_owned(), network.sha256())];
        std::fs::write(folder.join(format!("{name}.onnx")), export_board_net(&network, facts))?;
        let said = serde_json::json!({ "planes": planes, "logits": logits, "values": values });
        std::fs::write(folder.join(format!("{name}.json")), said.to_string())?;
    }
    Ok(())
}
