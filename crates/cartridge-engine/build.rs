//! Turns the proto file into Rust, without a `protoc` on the machine.

const PROTO: &str = "cartridge/engine/v1/engine.proto";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile([PROTO], ["proto"])?;
    // Without the transport: who calls the engine brings the channel, and we need no client.
    tonic_prost_build::configure().build_transport(false).compile_fds(files)?;
    Ok(())
}
