//! Trainers that are started by name.

use super::{Lab, RunView};
use crate::error::Result;
use crate::named_trainer::{Trainers, Wanted};
use crate::queue::Demand;
use crate::steer::{self, By};

impl Lab {
    /// The trainers that `lab.json` names, read anew: a change counts at once.
    pub fn trainers(&self) -> Result<Trainers> {
        Trainers::read(&self.data)
    }

    /// Makes a run of a named trainer and starts it as soon as there is room, as `cartridge exec`
    /// does. A request that was made before, by its key, gives the run that it made.
    pub fn start_trainer(&self, id: &str, wanted: Wanted, by: By<'_>) -> Result<RunView> {
        let external = self.trainers()?.find(id)?.external(&self.data, wanted)?;
        self.limits.admit(&Demand::of_resources(&external.resources))?;
        self.make(by, || steer::create_external(&self.data, &self.launcher, external, by))
    }
}
