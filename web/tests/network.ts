/**
 * A network that looks at a board, as an ONNX file: it has learnt nothing, likes some moves better than
 * others, and thinks that every position is a little good. Enough to be played against and asked.
 */

type Bytes = number[];

const FLOAT = 1;
const text = (value: string): Bytes => [...new TextEncoder().encode(value)];

function varint(value: number): Bytes {
  const bytes: Bytes = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) + 128);
  }
}

/** A number of a message in protocol buffers. */
const number = (field: number, value: number): Bytes => [...varint(field * 8), ...varint(value)];
/** A text, bytes or a message in it. */
const part = (field: number, value: Bytes | string): Bytes => {
  const bytes = typeof value === 'string' ? text(value) : value;
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
};

function node(op: string, inputs: string[], output: string): Bytes {
  return part(1, [...inputs.flatMap((name) => part(1, name)), ...part(2, output), ...part(4, op)]);
}

function weights(name: string, shape: number[], values: number[]): Bytes {
  const raw = [...new Uint8Array(new Float32Array(values).buffer)];
  const dims = shape.flatMap((size) => number(1, size));
  return part(5, [...dims, ...number(2, FLOAT), ...part(8, name), ...part(9, raw)]);
}

/** An input or output of the graph; the first size is that of the batch. */
function port(field: number, name: string, sizes: number[]): Bytes {
  const shape = [part(1, part(2, 'batch')), ...sizes.map((size) => part(1, number(1, size)))];
  const tensor = [...number(1, FLOAT), ...part(2, shape.flat())];
  return part(field, [...part(1, name), ...part(2, part(1, tensor))]);
}

/** The file of a network for boards of so many planes, rows, columns and actions. */
export function network(board: [number, number, number], n_actions: number): Uint8Array {
  const n_inputs = board.reduce((product, size) => product * size, 1);
  const zeros = (n: number) => Array.from({ length: n }, () => 0);
  // The middle is best.
  const likes = zeros(n_actions).map((_, action) => -Math.abs(action - (n_actions - 1) / 2) / 2);
  const graph = [
    node('Flatten', ['planes'], 'flat'),
    node('Gemm', ['flat', 'policy.weight', 'policy.bias'], 'logits'),
    node('Gemm', ['flat', 'value.weight', 'value.bias'], 'judged'),
    node('Tanh', ['judged'], 'value'),
    part(2, 'board'),
    weights('policy.weight', [n_inputs, n_actions], zeros(n_inputs * n_actions)),
    weights('policy.bias', [n_actions], likes),
    weights('value.weight', [n_inputs, 1], zeros(n_inputs)),
    weights('value.bias', [1], [0.1]),
    port(11, 'planes', board),
    port(12, 'logits', [n_actions]),
    port(12, 'value', [1]),
  ];
  const opset = part(8, number(2, 17));
  return new Uint8Array([...number(1, 8), ...part(7, graph.flat()), ...opset]);
}
