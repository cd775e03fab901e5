"""Writes the graphs of ``core/engine/backends``, which hold no weights: ``python -m training.heads.graphs``.

ONNX Runtime folds what turns weights into floats once, where it loads a graph. The
products are of floats: of vectors in eight bits they take a fifth less time, but then a text's outputs differ by .05 on
average from one library and processor to the next.
"""

import shutil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper
from safetensors.numpy import load_file, save

from core.engine.backends.blocks import BLOCK, SCALES
from core.engine.backends.e5 import ALL_LAYERS, LAYERS
from core.engine.backends.minilm import FOLDER, SHIPPED, TOKENIZER, WIDTH, Form, packaged_folder
from training.heads.network import in_eight_bits

_WORDS: Final = "embeddings.word_embeddings.weight"
_LAYERS: Final = {Form.MINILM: 6, Form.E5: LAYERS, Form.WHOLE_E5: ALL_LAYERS}
_INNER: Final = 4 * WIDTH
_ATTENTION: Final = ("attention.self.query", "attention.self.key", "attention.self.value")
_HEADS: Final = 12
_EPSILON: Final = 1e-12
_OWN: Final = "com.microsoft"
"""The domain of ONNX Runtime's own operators, which take several steps at once."""


class _Graph:
    """A graph as it is put together, node by node."""

    def __init__(self) -> None:
        self.nodes, self.empty = list[NodeProto](), list[TensorProto]()

    def put(self, operator: str, inputs: list[str], output: str, domain: str = "", **how: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **how))
        return output

    def weight(self, name: str, *shape: int) -> str:
        """A weight that is filled in where the graph is loaded, as floats."""
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT16, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="weights")
        self.empty.append(tensor)
        return self.put("Cast", [name], f"{name}.floats", to=TensorProto.FLOAT)

    def product(self, value: str, prefix: str, matrices: tuple[str, ...], inner: int, outer: int) -> tuple[str, str]:
        """Vectors times matrices side by side, and their biases, which are not yet added."""
        weights = [self.weight(f"{prefix}{matrix}.weight", outer, inner) for matrix in matrices]
        biases = [self.weight(f"{prefix}{matrix}.bias", outer) for matrix in matrices]
        name = f"{prefix}{matrices[0]}"
        if len(matrices) > 1:
            weights = [self.put("Concat", weights, f"{name}.weights", axis=0)]
            biases = [self.put("Concat", biases, f"{name}.biases", axis=0)]
        turned = self.put("Transpose", weights, f"{name}.turned", perm=[1, 0])
        return self.put("MatMul", [value, turned], f"{name}.product"), biases[0]

    def added(self, product: tuple[str, str], before: str, norm: str) -> str:
        """A product with its bias, added to what was before, and brought to one measure."""
        values = [
            product[0],
            before,
            *(self.weight(f"{norm}.{part}", WIDTH) for part in ("weight", "bias")),
            product[1],
        ]
        return self.put("SkipLayerNormalization", values, f"{norm}.output", _OWN, epsilon=_EPSILON)


def graph_of(form: Form) -> bytes:
    """The layers as an ONNX model, from word vectors with their places to what is made of them."""
    graph = _Graph()
    first = "embeddings.LayerNorm"
    norm = [graph.weight(f"{first}.{part}", WIDTH) for part in ("weight", "bias")]
    vectors = graph.put("LayerNormalization", ["vectors", *norm], f"{first}.output", axis=-1, epsilon=_EPSILON)
    for at in range(_LAYERS[form]):
        layer = f"encoder.layer.{at}."
        sides = [f"{layer}{side}" for side in _ATTENTION]
        product, bias = graph.product(vectors, layer, _ATTENTION, WIDTH, WIDTH)
        graph.nodes.append(helper.make_node("Split", [product], sides, axis=-1, num_outputs=3))
        attention = graph.put("MultiHeadAttention", [*sides, bias], f"{layer}attention", _OWN, num_heads=_HEADS)
        output = graph.product(attention, layer, ("attention.output.dense",), WIDTH, WIDTH)
        vectors = graph.added(output, vectors, f"{layer}attention.output.LayerNorm")
        risen = graph.product(vectors, layer, ("intermediate.dense",), WIDTH, _INNER)
        bent = graph.put("BiasGelu", list(risen), f"{layer}intermediate", _OWN)
        fallen = graph.product(bent, layer, ("output.dense",), _INNER, WIDTH)
        vectors = graph.added(fallen, vectors, f"{layer}output.LayerNorm")
    whole = helper.make_graph(
        graph.nodes,
        "layers",
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [1, "pieces", WIDTH])],
        [helper.make_tensor_value_info(vectors, TensorProto.FLOAT, [1, "pieces", WIDTH])],
        graph.empty,
    )
    versions = [helper.make_opsetid("", 20), helper.make_opsetid(_OWN, 1)]
    return bytes(helper.make_model(whole, opset_imports=versions, ir_version=10).SerializeToString(deterministic=True))


def shipped() -> bytes:
    """The package's weights, which our own networks share: its matrices in eight bits, all else in sixteen."""
    weights, arrays = load_file(packaged_folder() / "model.safetensors"), dict[str, NDArray[Any]]()
    for name, tensor in weights.items():
        if name == "embeddings.position_ids" or name.startswith("pooler."):
            continue
        if tensor.ndim > 1:
            arrays[name], arrays[name + SCALES] = in_eight_bits(tensor, WIDTH if name == _WORDS else BLOCK)
        else:
            arrays[name] = tensor.astype(np.float16)
    return save(arrays)


def main() -> None:
    """Write the graphs, and what the first networks begin with."""
    for form in Form:
        (FOLDER / form.value).write_bytes(graph_of(form))
    SHIPPED.write_bytes(shipped())
    shutil.copyfile(packaged_folder() / "tokenizer.json", TOKENIZER)


if __name__ == "__main__":
    main()
