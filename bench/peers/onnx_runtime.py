"""ONNX Runtime's side of the benchmarks: inputs and outputs bound beforehand.

usage: onnx_runtime.py THREADS [WORK ...]"""
import measure
import numpy as np
import onnx_models
import onnxruntime as ort


def call_of(graph, result):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = measure.threads(), 1
    session = ort.InferenceSession(graph.model(result).SerializeToString(), options, providers=["CPUExecutionProvider"])
    first = session.run(None, graph.inputs)[0]
    binding = session.io_binding()
    kept = [ort.OrtValue.ortvalue_from_numpy(v) for v in graph.inputs.values()]
    for name, value in zip(graph.inputs, kept):
        binding.bind_ortvalue_input(name, value)
    out = ort.OrtValue.ortvalue_from_numpy(np.zeros(first.shape, first.dtype))
    binding.bind_ortvalue_output(result, out)
    return lambda keep=(kept, out): session.run_with_iobinding(binding)


measure.run({name: lambda make=make: call_of(*make()) for name, make in onnx_models.works.items()}, "onnxruntime")
