//! Turns the proto file into Rust, without a `protoc` on the machine, and keeps what describes it for
//! callers that ask.

use std::path::PathBuf;

const PROTO: &str = "cartridge/trainer/v1/trainer.proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(true).open_file(PROTO)?;
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(folder.join("trainer.descriptor"), compiler.encode_file_descriptor_set())?;
    // Without the transport: the lab's own sockets carry it, and we need no client.
    tonic_prost_build::configure()
        .build_transport(false)
        .build_client(false)
        // In order, so that a request that is sent again is the same one.
        .btree_map(".")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
