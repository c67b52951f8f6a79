use super::*;

fn policy() -> Policy {
    Policy::new(4, 2, &mut fastrand::Rng::with_seed(1))
}

/// Writes a file in which `change` has altered a tensor's shape or values.
fn altered(name: &str, change: impl Fn(&mut Vec<usize>, &mut Vec<f32>)) -> Vec<u8> {
    let tensors: Vec<_> = policy()
        .tensors()
        .map(|(own, mut shape, mut values)| {
            if own == name {
                change(&mut shape, &mut values);
            }
            (own, shape, little_endian(&values))
        })
        .collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        (name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

#[track_caller]
fn check_error(bytes: &[u8], expected: &str) {
    let error = Policy::from_safetensors(bytes).expect_err("the file is broken");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_file_holds_the_policy_bit_for_bit() {
    let policy = policy();
    let again = Policy::from_safetensors(&policy.to_safetensors()).unwrap();
    assert_eq!(policy.sha256(), again.sha256());
    assert_eq!(policy.actor.parameters(), again.actor.parameters());
    let critic = |policy: &Policy| policy.critic.as_ref().unwrap().parameters().to_vec();
    assert_eq!(critic(&policy), critic(&again));
}

#[test]
fn tensors_are_named_and_shaped_as_in_torch() {
    let bytes = policy().to_safetensors();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors: Vec<String> =
        file.iter().map(|(name, tensor)| format!("{name} {:?}", tensor.shape())).collect();
    tensors.sort();
    assert_eq!(
        tensors,
        [
            "actor.0.bias [64]",
            "actor.0.weight [64, 4]",
            "actor.2.bias [64]",
            "actor.2.weight [64, 64]",
            "actor.4.bias [2]",
            "actor.4.weight [2, 64]",
            "critic.0.bias [64]",
            "critic.0.weight [64, 4]",
            "critic.2.bias [64]",
            "critic.2.weight [64, 64]",
            "critic.4.bias [1]",
            "critic.4.weight [1, 64]",
        ]
    );
    // The weight from input 1 to unit 2 is row 2, column 1 of the file.
    let weight = file.tensor("actor.0.weight").unwrap();
    let at = (2 * 4 + 1) * 4;
    let stored = f32::from_le_bytes(weight.data()[at..at + 4].try_into().unwrap());
    assert_eq!(stored, policy().actor.parameters()[64 + 2]);
}

#[test]
fn broken_files_are_refused() {
    check_error(
        &altered("actor.2.bias", |_, values| values[3] = f32::NAN),
        "tensor `actor.2.bias` holds a number that is not finite",
    );
    check_error(
        &altered("critic.0.weight", |shape, _| *shape = vec![4, 64]),
        "tensor `critic.2.weight` is of shape [64, 64]; expected 4 inputs, as many as come from the layer before",
    );
    check_error(
        &altered("actor.4.bias", |shape, values| {
            *shape = vec![0];
            values.clear();
        }),
        "tensor `actor.4.bias` is F32 of shape [0]; expected F32 of shape [2]",
    );
    assert!(matches!(Policy::from_safetensors(b"no"), Err(PolicyError::Format(_))));
    let file = policy().to_safetensors();
    assert!(Policy::from_safetensors(&file[..file.len() - 1]).is_err(), "a cut file");
}

#[test]
fn a_fresh_policy_is_nearly_indifferent() {
    let probabilities = policy().probabilities(&[0.1, -0.2, 0.3, -0.4]);
    assert!(probabilities.iter().all(|x| (x - 0.5).abs() < 0.02), "{probabilities:?}");
    assert!((probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-6);
}

#[test]
fn the_first_greatest_is_chosen() {
    let (policy, observations) = (policy(), [0.1, 0.2, 0.3, 0.4, -1.0, 0.0, 1.0, 2.0]);
    let choices = policy.choose(&observations, &[true; 4], 2);
    for (index, observation) in observations.chunks(4).enumerate() {
        let probabilities = policy.probabilities(observation);
        assert_eq!(choices.get(index).index(), first_greatest(&probabilities));
    }
    assert_eq!(first_greatest(&[1.0, 3.0, 3.0]), 1);
}

#[test]
fn only_what_is_legal_is_chosen() {
    let (policy, observations) = (policy(), [0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4]);
    let choices = policy.choose(&observations, &[true, false, false, true], 2);
    assert_eq!(choices, Choices::Discrete(vec![Action(0), Action(1)]));
}

/// Every kind of policy, through its file.
#[test]
fn every_form_has_a_file() {
    let rng = &mut fastrand::Rng::with_seed(2);
    let space = ActionSpace::Continuous { low: &[-1.0, -2.0], high: &[1.0, 2.0] };
    let mut gaussian = Policy::actor_critic(3, &space, &[8], Activation::Relu, -0.5, rng);
    gaussian.normalizer =
        Some(Normalizer { mean: vec![1.0, 2.0, 3.0], scale: vec![0.5, 0.25, 4.0] });
    let values = Policy::action_values(Mlp::uniform(&[3, 16, 16, 16, 4], Activation::Relu, rng));
    let mut scaled = gaussian.clone();
    scaled.value_scale = Some(12.5);
    assert_eq!(scaled.sha256(), gaussian.sha256(), "it acts and learns alike");
    for policy in [policy(), gaussian.clone(), scaled, values] {
        let again = Policy::from_safetensors(&policy.to_safetensors()).unwrap();
        assert_eq!(again.sha256(), policy.sha256());
        assert_eq!(again.head(), policy.head());
        assert_eq!(again.normalizer(), policy.normalizer());
        assert_eq!(again.value_scale(), policy.value_scale());
        assert_eq!(again.actor().activation(), policy.actor().activation());
        let observation = vec![0.3; policy.n_observation()];
        assert_eq!(again.outputs(&observation, 1), policy.outputs(&observation, 1));
        assert_eq!(again.value(&observation), policy.value(&observation));
    }
    assert!(gaussian.fits(3, &space) && !gaussian.fits(3, &ActionSpace::Discrete(2)));
    let mut moved = gaussian.clone();
    moved.normalizer.as_mut().unwrap().mean[0] = 0.0;
    assert_ne!(moved.sha256(), gaussian.sha256());
    // Beyond the bounds of the space, and held within them.
    let mut numbers = [3.0, 0.5, -0.5, -9.0];
    clip(&space, &mut numbers);
    assert_eq!(numbers, [1.0, 0.5, -0.5, -2.0]);
}

#[test]
fn log_softmax_by_hand() {
    // Weights 1 and 3, from logarithms large enough to overflow a careless sum.
    let mut logits = [100.0, 100.0 + 3.0_f32.ln()];
    log_softmax(&mut logits);
    assert!((logits[0] - 0.25_f32.ln()).abs() < 1e-5);
    assert!((logits[1] - 0.75_f32.ln()).abs() < 1e-5);
}
