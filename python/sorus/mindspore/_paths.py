"""Modules of MindSpore that Sorus has under other names, and where their names are.

A module that stands at the same place in Sorus, such as `nn.layer.conv`, needs no row.
"""

# Parent: modules below it -> modules of Sorus in which their names are looked up.
_ROWS = """
common: _stub_tensor _tensor_docs -> common.tensor
common: jit_config lazy_inline recompute -> _root
common: _utils -> common
communication: comm_func _comm_helper -> communication.management communication
dataset: core -> dataset
dataset.core: config -> dataset.config
dataset.engine: datasets_audio datasets_standard_format datasets_text -> dataset
dataset.transforms: py_transforms_util -> dataset.transforms
dataset.vision: py_transforms_util -> dataset.vision.utils dataset.vision
experimental.optim: adadelta adagrad adam adamax adamw asgd nadam optimizer radam -> experimental.optim
experimental.optim: rmsprop rprop sgd -> experimental.optim
mint.nn: layer -> mint.nn
mint.nn.layer: activation basic conv normalization padding pooling -> mint.nn
mint.optim: adam adamw sgd -> mint.optim
nn.layer: channel_shuffle dense embedding rnn_cells timedistributed -> nn
nn.metrics: accuracy auc bleu_score confusion_matrix cosine_similarity dice error -> nn.metrics
nn.metrics: evaluation fbeta hausdorff_distance loss mean_surface_distance metric -> nn.metrics
nn.metrics: occlusion_sensitivity perplexity precision recall roc -> nn.metrics
nn.metrics: root_mean_square_surface_distance topk -> nn.metrics
nn.optim: ada_grad adadelta adafactor adamax adasum ftrl lamb lazyadam -> nn.optim
nn.optim: proximal_ada_grad rprop -> nn.optim
numpy: array_creations array_ops dtypes logic_ops math_ops -> numpy
ops: auto_generate -> ops.operations ops
ops: _tracefunc functional_overload tensor_method deprecated communication -> ops
ops.auto_generate: gen_extend_func gen_ops_def gen_ops_prim pyboost_inner_prim -> ops.operations ops
ops.composite: base clip_ops env_ops math_ops multitype_ops random_ops -> ops.composite ops
ops.function: array_func clip_func comm_func debug_func fft_func grad image_func -> ops.function ops
ops.function: linalg_func math_func nn_func other_func parameter_func -> ops.function ops
ops.function: random_func reshard_func sparse_func sparse_unary_func -> ops.function ops
ops.function: spectral_func vmap_func -> ops.function ops
ops.function.grad: grad_func -> ops.function ops
ops.operations: _grad_ops _infer_ops _inner_ops _scalar_ops _sequence_ops -> ops.operations
ops.operations: comm_ops control_ops custom_ops debug_ops image_ops inner_ops -> ops.operations
ops.operations: linalg_ops manually_defined other_ops random_ops -> ops.operations
ops.operations: sparse_ops spectral_ops -> ops.operations
train: data_sink -> train.sink
train.callback: _early_stop _history _lambda_callback _lr_scheduler_callback -> train.callback
train.callback: _on_request_exit _reduce_lr_on_plateau -> train.callback
train.metrics: accuracy auc bleu_score confusion_matrix cosine_similarity dice -> train.metrics
train.metrics: error fbeta hausdorff_distance mean_surface_distance -> train.metrics
train.metrics: occlusion_sensitivity perplexity precision recall topk -> train.metrics
train.metrics: root_mean_square_surface_distance loss -> train.metrics
"""


def _read(rows):
    modules = {"": ["mindspore._version", ""], "version": ["mindspore._version"]}
    for row in filter(None, rows.splitlines()):
        below, _, sources = row.partition(" -> ")
        parent, _, names = below.partition(": ")
        for name in names.split():
            modules[f"{parent}.{name}"] = sources.replace("_root", ".").split()
    return modules


MODULES = _read(_ROWS)
