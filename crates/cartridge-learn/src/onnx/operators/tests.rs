use std::slice::from_ref;

use super::*;

fn floats(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::floats(shape.to_vec(), values.to_vec())
}

fn integers(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::integers(shape.to_vec(), values.to_vec())
}

/// Some numbers that are not all alike.
fn ramp(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    floats(shape, &(0..n).map(|x| x as f32).collect::<Vec<f32>>())
}

type Told<'a> = &'a [(&'a str, Attribute)];

fn apply(operator: &str, told: Told<'_>, inputs: &[Tensor]) -> Result<Tensor, OnnxError> {
    apply_version(17, operator, told, inputs)
}

fn apply_version(
    opset: i64,
    operator: &str,
    told: Told<'_>,
    inputs: &[Tensor],
) -> Result<Tensor, OnnxError> {
    let node = Node {
        operator: operator.to_owned(),
        outputs: vec!["made".to_owned()],
        attributes: told.iter().map(|(name, x)| ((*name).to_owned(), x.clone())).collect(),
        ..Node::default()
    };
    let operator = Operator::read(&node, opset)?;
    let inputs: Vec<Option<&Tensor>> = inputs.iter().map(Some).collect();
    let made = operator.apply(&inputs, &mut Budget::new(), Isa::detect());
    Ok(made.map_err(|Fault(reason)| named(&node, reason))?.remove(0))
}

#[track_caller]
fn check(operator: &str, told: Told<'_>, inputs: &[Tensor], expected: &Tensor) {
    let made = apply(operator, told, inputs).unwrap();
    assert_eq!(made.shape(), expected.shape(), "{operator}");
    match (made.values(), expected.values()) {
        (Values::Float(made), Values::Float(expected)) => {
            for (x, y) in made.iter().zip(expected) {
                assert!((x - y).abs() < 1e-6, "{operator}: {made:?} is not {expected:?}");
            }
        }
        (made, expected) => assert_eq!(made, expected, "{operator}"),
    }
}

#[track_caller]
fn check_error(operator: &str, told: Told<'_>, inputs: &[Tensor], expected: &str) {
    let error = apply(operator, told, inputs).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

#[track_caller]
fn check_unary(operator: &str, x: f32, expected: f32) {
    check(operator, &[], &[floats(&[1], &[x])], &floats(&[1], &[expected]));
}

fn int(value: i64) -> Attribute {
    Attribute::Integer(value)
}

fn ints(values: &[i64]) -> Attribute {
    Attribute::Integers(values.to_vec())
}

#[test]
fn one_number() {
    check_unary("Tanh", 0.5, 0.462_117_16);
    check_unary("Relu", -2.0, 0.0);
    check_unary("Elu", -1.0, -0.632_120_56);
    check_unary("Selu", -1.0, -1.111_330_7);
    check_unary("LeakyRelu", -1.0, -0.01);
    check_unary("Sigmoid", 1.0, 0.731_058_6);
    check_unary("Softplus", 1.0, 1.313_261_7);
    check_unary("Softsign", -3.0, -0.75);
    check_unary("HardSigmoid", 1.0, 0.7);
    check_unary("HardSwish", 1.0, 2.0 / 3.0);
    // Abramowitz and Stegun, table 7.1; both sides of where the method changes.
    check_unary("Erf", 0.5, 0.520_499_9);
    check_unary("Erf", -2.4, -0.999_311_5);
    check_unary("Erf", 3.0, 0.999_977_9);
    check_unary("Gelu", 1.0, 0.841_344_8);
    check_unary("Mish", 1.0, 0.865_098_4);
    check_unary("Round", 2.5, 2.0);
    check_unary("Sign", -0.0, 0.0);
    check_unary("Reciprocal", 4.0, 0.25);
    check(
        "Gelu",
        &[("approximate", Attribute::Text("tanh".to_owned()))],
        &[floats(&[1], &[1.0])],
        &floats(&[1], &[0.841_192]),
    );
}

#[test]
fn pairs_of_numbers() {
    let row = floats(&[2], &[10.0, 20.0]);
    check("Add", &[], &[ramp(&[2, 2]), row.clone()], &floats(&[2, 2], &[10.0, 21.0, 12.0, 23.0]));
    check("Sub", &[], &[row.clone(), ramp(&[2, 2])], &floats(&[2, 2], &[10.0, 19.0, 8.0, 17.0]));
    let column = floats(&[2, 1], &[1.0, 2.0]);
    check("Mul", &[], &[column.clone(), row.clone()], &floats(&[2, 2], &[10.0, 20.0, 20.0, 40.0]));
    check("Pow", &[], &[row.clone(), integers(&[], &[2])], &floats(&[2], &[100.0, 400.0]));
    check("Div", &[], &[integers(&[2], &[7, -7]), integers(&[], &[2])], &integers(&[2], &[3, -3]));
    check("Mod", &[], &[integers(&[2], &[7, -7]), integers(&[], &[3])], &integers(&[2], &[1, 2]));
    check("Max", &[], &[ramp(&[3]), floats(&[], &[1.0])], &floats(&[3], &[1.0, 1.0, 2.0]));
    check("Less", &[], &[ramp(&[3]), floats(&[], &[1.0])], &integers(&[3], &[1, 0, 0]));
    check(
        "Where",
        &[],
        &[integers(&[2, 1], &[1, 0]), row.clone(), floats(&[], &[0.0])],
        &floats(&[2, 2], &[10.0, 20.0, 0.0, 0.0]),
    );
    check(
        "Clip",
        &[],
        &[ramp(&[3]), floats(&[], &[0.5]), floats(&[], &[1.5])],
        &floats(&[3], &[0.5, 1.0, 1.5]),
    );
    check(
        "Clip",
        &[("max", Attribute::Float(1.5))],
        &[ramp(&[3])],
        &floats(&[3], &[0.0, 1.0, 1.5]),
    );
    check("Cast", &[("to", int(7))], &[floats(&[2], &[1.9, -1.9])], &integers(&[2], &[1, -1]));
    check("Cast", &[("to", int(9))], &[floats(&[2], &[0.5, 0.0])], &integers(&[2], &[1, 0]));
    check_error("Div", &[], &[integers(&[1], &[7]), integers(&[1], &[0])], "by zero");
    check_error("Add", &[], &[ramp(&[2]), ramp(&[3])], "[2] and [3] do not fit each other");
    check_error("Add", &[], &[ramp(&[2])], "input 1 is missing");
    check_error("Add", &[], &[ramp(&[2]), integers(&[2], &[1, 2])], "do not mix");
}

#[test]
fn products_of_matrices() {
    let (a, b) = (ramp(&[2, 3]), ramp(&[3, 2]));
    let product = floats(&[2, 2], &[10.0, 13.0, 28.0, 40.0]);
    check("MatMul", &[], &[a.clone(), b.clone()], &product);
    check("Gemm", &[], &[a.clone(), b.clone()], &product);
    let turned = [
        apply("Transpose", &[], from_ref(&a)).unwrap(),
        apply("Transpose", &[], from_ref(&b)).unwrap(),
    ];
    check("Gemm", &[("transA", int(1)), ("transB", int(1))], &turned, &product);
    let halved = [("alpha", Attribute::Float(0.5)), ("beta", Attribute::Float(2.0))];
    let third = floats(&[2, 1], &[1.0, 2.0]);
    check(
        "Gemm",
        &halved,
        &[a.clone(), b.clone(), third],
        &floats(&[2, 2], &[7.0, 8.5, 18.0, 24.0]),
    );
    check(
        "Gemm",
        &[],
        &[a.clone(), b.clone(), floats(&[2], &[1.0, 2.0])],
        &floats(&[2, 2], &[11.0, 15.0, 29.0, 42.0]),
    );
    // Batches, and vectors that leave no axis behind.
    check("MatMul", &[], &[ramp(&[2, 1, 2]), ramp(&[2, 2, 1])], &floats(&[2, 1, 1], &[1.0, 13.0]));
    check("MatMul", &[], &[ramp(&[2, 1, 2]), ramp(&[2, 1])], &floats(&[2, 1, 1], &[1.0, 3.0]));
    check("MatMul", &[], &[ramp(&[2]), ramp(&[2])], &floats(&[], &[1.0]));
    check("MatMul", &[], &[ramp(&[2, 0]), ramp(&[0, 1])], &floats(&[2, 1], &[0.0, 0.0]));
    check_error("MatMul", &[], &[ramp(&[2, 3]), ramp(&[2, 3])], "[2, 3] and [2, 3] do not fit");
    check_error("Gemm", &[], &[ramp(&[2]), ramp(&[2, 3])], "are not matrices");
}

#[test]
fn windows() {
    let picture = ramp(&[1, 1, 3, 3]);
    let ones = floats(&[1, 1, 2, 2], &[1.0; 4]);
    check(
        "Conv",
        &[],
        &[picture.clone(), ones.clone()],
        &floats(&[1, 1, 2, 2], &[8.0, 12.0, 20.0, 24.0]),
    );
    let padded = [("pads", ints(&[1, 1, 0, 0])), ("strides", ints(&[2, 2]))];
    let biased = [picture.clone(), ones.clone(), floats(&[1], &[0.5])];
    check("Conv", &padded, &biased, &floats(&[1, 1, 2, 2], &[0.5, 3.5, 9.5, 24.5]));
    check(
        "Conv",
        &[("dilations", ints(&[2, 2]))],
        &[picture.clone(), ones.clone()],
        &floats(&[1, 1, 1, 1], &[16.0]),
    );
    let same = [("auto_pad", Attribute::Text("SAME_UPPER".to_owned())), ("strides", ints(&[2, 2]))];
    check(
        "Conv",
        &same,
        &[picture.clone(), ones.clone()],
        &floats(&[1, 1, 2, 2], &[8.0, 7.0, 13.0, 8.0]),
    );
    check(
        "Conv",
        &[],
        &[ramp(&[1, 1, 3]), floats(&[1, 1, 2], &[1.0, 1.0])],
        &floats(&[1, 1, 2], &[1.0, 3.0]),
    );
    let each = floats(&[2, 1, 1, 1], &[1.0, 10.0]);
    check(
        "Conv",
        &[("group", int(2))],
        &[ramp(&[1, 2, 1, 2]), each],
        &floats(&[1, 2, 1, 2], &[0.0, 1.0, 20.0, 30.0]),
    );
    let two = [("kernel_shape", ints(&[2, 2]))];
    check("MaxPool", &two, from_ref(&picture), &floats(&[1, 1, 2, 2], &[4.0, 5.0, 7.0, 8.0]));
    check("AveragePool", &two, from_ref(&picture), &floats(&[1, 1, 2, 2], &[2.0, 3.0, 5.0, 6.0]));
    check("GlobalAveragePool", &[], from_ref(&picture), &floats(&[1, 1, 1, 1], &[4.0]));
    check_error("Conv", &[], &[ramp(&[1, 1, 1, 1]), ones.clone()], "does not fit");
    check_error(
        "Conv",
        &[("strides", ints(&[0, 1]))],
        &[picture.clone(), ones.clone()],
        "not sound",
    );
    check_error("Conv", &[], &[ramp(&[1, 2, 3, 3]), ones], "do not fit");
}

#[test]
fn many_to_one() {
    let x = ramp(&[2, 3]);
    check("ReduceMean", &[("axes", ints(&[1]))], from_ref(&x), &floats(&[2, 1], &[1.0, 4.0]));
    check(
        "ReduceSum",
        &[("keepdims", int(0))],
        &[x.clone(), integers(&[1], &[0])],
        &floats(&[3], &[3.0, 5.0, 7.0]),
    );
    check("ReduceMax", &[("keepdims", int(0))], from_ref(&x), &floats(&[], &[5.0]));
    check("ReduceSum", &[("noop_with_empty_axes", int(1))], from_ref(&x), &x);
    check(
        "ReduceL2",
        &[("axes", ints(&[-1]))],
        &[floats(&[1, 2], &[3.0, 4.0])],
        &floats(&[1, 1], &[5.0]),
    );
    check(
        "ReduceLogSumExp",
        &[],
        &[floats(&[2], &[1000.0, 1000.0])],
        &floats(&[1], &[1_000.693_2]),
    );
    check("ReduceProd", &[], &[integers(&[2], &[3, 4])], &integers(&[1], &[12]));
    check(
        "ArgMax",
        &[("axis", int(1)), ("keepdims", int(0))],
        &[floats(&[2, 2], &[1.0, 1.0, 0.0, 2.0])],
        &integers(&[2], &[0, 1]),
    );
    check(
        "ArgMax",
        &[("select_last_index", int(1))],
        &[floats(&[2], &[1.0, 1.0])],
        &integers(&[1], &[1]),
    );
    let even = floats(&[1, 2], &[0.5, 0.5]);
    check("Softmax", &[], &[floats(&[1, 2], &[3.0, 3.0])], &even);
    check("LogSoftmax", &[], &[floats(&[2], &[800.0, 0.0])], &floats(&[2], &[0.0, -800.0]));
    check(
        "LayerNormalization",
        &[("epsilon", Attribute::Float(0.0))],
        &[floats(&[1, 2], &[1.0, 3.0]), floats(&[2], &[2.0, 2.0]), floats(&[2], &[0.0, 1.0])],
        &floats(&[1, 2], &[-2.0, 3.0]),
    );
    let one = |x: f32| floats(&[1], &[x]);
    check(
        "BatchNormalization",
        &[("epsilon", Attribute::Float(0.0))],
        &[floats(&[2, 1], &[1.0, 5.0]), one(2.0), one(1.0), one(3.0), one(4.0)],
        &floats(&[2, 1], &[-1.0, 3.0]),
    );
    check_error("ArgMax", &[], &[floats(&[0], &[])], "greatest of nothing");
    check_error("ReduceMean", &[("axes", ints(&[1, 1]))], &[x], "named twice");
}

#[test]
fn softmax_took_axes_together_once() {
    let made = apply_version(11, "Softmax", &[], &[floats(&[1, 2, 2], &[0.0; 4])]).unwrap();
    assert_eq!(made, floats(&[1, 2, 2], &[0.25; 4]));
}

#[test]
fn moved_numbers() {
    let x = ramp(&[2, 3]);
    check("Reshape", &[], &[x.clone(), integers(&[2], &[3, -1])], &ramp(&[3, 2]));
    check("Reshape", &[], &[x.clone(), integers(&[2], &[0, 3])], &x);
    check("Flatten", &[], &[ramp(&[2, 1, 3])], &x);
    check("Flatten", &[("axis", int(0))], from_ref(&x), &ramp(&[1, 6]));
    check(
        "Transpose",
        &[("perm", ints(&[1, 0]))],
        from_ref(&x),
        &floats(&[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
    );
    check("Squeeze", &[], &[ramp(&[1, 2, 1])], &ramp(&[2]));
    check("Unsqueeze", &[], &[ramp(&[2]), integers(&[2], &[0, -1])], &ramp(&[1, 2, 1]));
    check(
        "Concat",
        &[("axis", int(1))],
        &[x.clone(), floats(&[2, 1], &[7.0, 8.0])],
        &floats(&[2, 4], &[0.0, 1.0, 2.0, 7.0, 3.0, 4.0, 5.0, 8.0]),
    );
    let list = |x: &[i64]| integers(&[x.len()], x);
    check(
        "Slice",
        &[],
        &[x.clone(), list(&[1]), list(&[i64::MAX]), list(&[1])],
        &floats(&[2, 2], &[1.0, 2.0, 4.0, 5.0]),
    );
    check(
        "Slice",
        &[],
        &[ramp(&[5]), list(&[-1]), list(&[i64::MIN]), list(&[0]), list(&[-2])],
        &floats(&[3], &[4.0, 2.0, 0.0]),
    );
    check("Slice", &[], &[ramp(&[3]), list(&[2]), list(&[1])], &floats(&[0], &[]));
    check("Split", &[("axis", int(1)), ("split", ints(&[3]))], from_ref(&x), &x);
    check(
        "Gather",
        &[("axis", int(1))],
        &[x.clone(), integers(&[], &[-1])],
        &floats(&[2], &[2.0, 5.0]),
    );
    check(
        "GatherElements",
        &[("axis", int(1))],
        &[x.clone(), integers(&[2, 1], &[2, 0])],
        &floats(&[2, 1], &[2.0, 3.0]),
    );
    check(
        "Expand",
        &[],
        &[floats(&[2, 1], &[1.0, 2.0]), list(&[1, 2])],
        &floats(&[2, 2], &[1.0, 1.0, 2.0, 2.0]),
    );
    check("Shape", &[("start", int(-1))], from_ref(&x), &integers(&[1], &[3]));
    check("Size", &[], from_ref(&x), &integers(&[], &[6]));
    check(
        "ConstantOfShape",
        &[("value", Attribute::Tensor(integers(&[1], &[7])))],
        &[list(&[2])],
        &integers(&[2], &[7, 7]),
    );
    check(
        "Constant",
        &[("value_floats", Attribute::Floats(vec![1.0, 2.0]))],
        &[],
        &floats(&[2], &[1.0, 2.0]),
    );
    check_error("Reshape", &[], &[x.clone(), list(&[4, -1])], "cannot become [4, 1]");
    check_error("Gather", &[], &[x.clone(), integers(&[], &[2])], "index 2 is beyond 2");
    check_error("Concat", &[], &[x, ramp(&[2])], "differ");
}

#[test]
fn what_is_beyond_all_bounds_is_refused_before_it_is_made() {
    let huge = |lengths: &[i64]| integers(&[lengths.len()], lengths);
    check_error("ConstantOfShape", &[], &[huge(&[1 << 40])], "more memory");
    check_error("ConstantOfShape", &[], &[huge(&[i64::MAX, i64::MAX, 0])], "more memory");
    check_error("ConstantOfShape", &[], &[huge(&[-1])], "negative");
    check_error("ConstantOfShape", &[], &[huge(&[1; 17])], "17 axes");
    check_error("Expand", &[], &[ramp(&[1]), huge(&[1 << 20, 1 << 20])], "more memory");
    check_error("MatMul", &[], &[ramp(&[1 << 13, 1]), ramp(&[1, 1 << 14])], "more memory");
    check_error(
        "Conv",
        &[("pads", ints(&[1 << 14; 4]))],
        &[ramp(&[1, 1, 1, 1]), ramp(&[1, 1, 1, 1])],
        "more memory",
    );
    check_error(
        "Conv",
        &[("kernel_shape", ints(&[i64::MAX, 1]))],
        &[ramp(&[1, 1, 1, 1]), ramp(&[1, 1, 1, 1])],
        "not sound",
    );
    let product = [ramp(&[1 << 12, 1 << 12]), ramp(&[1 << 12, 1 << 12])];
    check_error("MatMul", &[], &product, "more time");
    check_error("Unsqueeze", &[("axes", ints(&[0; 20]))], &[ramp(&[1])], "axes");
}

#[test]
fn what_we_do_not_compute_is_named() {
    let error = apply("LSTM", &[], &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("operator `LSTM` is not one that policies here are made of"),
        "{error}"
    );
    check_error("MaxPool", &[("ceil_mode", int(1))], &[], "ceil_mode");
    check_error(
        "Gemm",
        &[("transB", Attribute::Float(1.0))],
        &[],
        "its `transB` is no whole number",
    );
}
