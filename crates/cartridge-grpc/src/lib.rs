//! The lab's door over gRPC: `cartridge.trainer.v1.TrainerService`.
//!
//! # Layout
//!
//! * [`v1`]: messages and service, generated from `proto/` when the crate is built.
//! * `lab`: the lab's HTTP application, asked in this process on behalf of a caller.
//! * `words`: its answers as messages.
//! * `service`: the five methods.
//!
//! **Invariants:** everything goes through the HTTP application, so that whoever may not do something
//! there may not do it here, and what is bounded, kept from happening twice and audited there is so
//! here. Nothing here knows the lab.

mod lab;
mod service;
mod words;

/// Messages and service, as `trainer.proto` describes them.
#[expect(clippy::allow_attributes_without_reason, reason = "the code is generated")]
#[expect(clippy::allow_attributes, reason = "the code is generated")]
pub mod v1 {
    tonic::include_proto!("cartridge.trainer.v1");
}

use axum::Router;
use axum::middleware::from_fn;
use tonic_reflection::server::Builder;

use crate::lab::note_caller;
use crate::service::Trainer;
use crate::v1::trainer_service_server::TrainerServiceServer;

/// What the service looks like, for callers that ask it.
const DESCRIPTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trainer.descriptor"));

/// The largest message of a caller: a run to be made.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// The service, and its reflection, before the application `lab`. `Peer` is what the application
/// finds in the extensions of a request to know where it came from.
///
/// # Panics
///
/// Never: the description of the service is part of the program.
pub fn routes<Peer: Clone + Send + Sync + 'static>(lab: Router) -> Router {
    let describe = || Builder::configure().register_encoded_file_descriptor_set(DESCRIPTOR);
    let trainer =
        TrainerServiceServer::new(Trainer { lab }).max_decoding_message_size(MAX_MESSAGE_BYTES);
    let reflection = describe().build_v1().expect("the description is whole");
    let reflection_alpha = describe().build_v1alpha().expect("the description is whole");
    Router::new()
        .route_service("/cartridge.trainer.v1.TrainerService/{method}", trainer)
        .route_service("/grpc.reflection.v1.ServerReflection/{method}", reflection)
        .route_service("/grpc.reflection.v1alpha.ServerReflection/{method}", reflection_alpha)
        .layer(from_fn(note_caller::<Peer>))
}
