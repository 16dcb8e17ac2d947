"""Models, losses, optimizers and schedules of the package mindcv, which is written for MindSpore: unchanged.

A model of each family is trained for a step in both modes, which must give the same bits: of some families
always, of all with --full.
"""

import importlib.util

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops

FAMILIES = """
BiT_resnet50 cait_xxs24_224 cmt_tiny coat_lite_tiny convit_tiny convnext_tiny crossvit_9 densenet121 dpn92
edgenext_xx_small efficientnet_b0 ghostnet_050 googlenet halonet_50t hrnet_w32 inception_v3 inception_v4
mae_b_16_224_finetune mixnet_s mlp_mixer_s_p16 mnasnet_050 mobilenet_v1_025 mobilenet_v2_075
mobilenet_v3_small_075 mobilevit_xx_small nasnet_a_4x1056 pit_ti pnasnet poolformer_s12 pvt_tiny pvt_v2_b0
regnet_x_200mf repmlp_t224 repvgg_a0 res2net50 resnest14 resnet18 resnetv2_50 rexnet_09 seresnet18
shufflenet_v1_g3_05 shufflenet_v2_x0_5 skresnet18 squeezenet1_0 swin_tiny swinv2_tiny_window8 vgg11
visformer_tiny vit_b_32_224 volo_d1 xception xcit_tiny_12_p16_224
""".split()
# What takes seconds of time and little memory: the others are run with --full.
QUICK = """
convit_tiny convnext_tiny efficientnet_b0 ghostnet_050 mobilenet_v2_075 mobilenet_v3_small_075
mobilevit_xx_small pvt_v2_b0 rexnet_09 shufflenet_v1_g3_05 squeezenet1_0 xcit_tiny_12_p16_224
""".split()
SIZES = {"cmt_tiny": 160, "halonet_50t": 256, "swinv2_tiny_window8": 256, "inception_v3": 299}


@pytest.fixture(scope="module")
def mindcv():
    import sorus.mindspore  # noqa: F401

    import mindcv

    return mindcv


def values_of(outputs):
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return [y for y in outputs if isinstance(y, Tensor)]


def step_of(net):
    """A function that trains nothing but gives loss, gradients and buffers as they are after it."""
    buffers = [p for p in net.get_parameters() if not p.requires_grad]
    initial = [p.asnumpy() for p in buffers]
    forward = ms.value_and_grad(
        lambda x: sum(ops.square(y.astype(ms.float32)).mean() for y in values_of(net(x))),
        None,
        net.trainable_params(),
    )

    def step(x):
        ms.set_seed(5)
        for parameter, value in zip(buffers, initial):
            parameter.set_data(Tensor(value))
        loss, gradients = forward(x)
        return [loss.asnumpy(), *(g.asnumpy() for g in gradients), *(p.asnumpy() for p in buffers)]

    return step


def check_model(mindcv, name):
    ms.set_seed(3)
    net = mindcv.create_model(name)
    net.set_train(True)
    if name.startswith("volo"):
        net.to_float(ms.float16)  # one of its weights is, whatever the others are
    size = SIZES.get(name, 224)
    x = Tensor(np.random.RandomState(0).randn(1, 3, size, size).astype(np.float32))
    step = step_of(net)
    eager = step(x)
    assert all(np.isfinite(value).all() for value in eager)
    assert any(np.any(value) for value in eager[1:])
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for _ in range(3):
            for value, want in zip(step(x), eager):
                np.testing.assert_array_equal(value, want)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("name", QUICK)
def test_models_train_with_equal_bits_in_both_modes(mindcv, name):
    check_model(mindcv, name)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in QUICK])
def test_other_families(mindcv, name):
    check_model(mindcv, name)


def test_the_table_has_every_family(mindcv):
    from mindcv.models import registry

    covered = {registry._model_to_module[name] for name in FAMILIES}
    assert covered == set(registry.list_modules())


@pytest.mark.parametrize(
    "optimizer", "sgd momentum adam adamw lion nadam adan rmsprop adagrad lamb".split()
)
def test_optimizers_and_schedules(mindcv, mode, optimizer):  # noqa: ARG001
    from mindcv.optim import create_optimizer
    from mindcv.scheduler import create_scheduler

    rates = create_scheduler(
        4, "cosine_decay", lr=0.01, min_lr=0.001, warmup_epochs=1, decay_epochs=4, num_epochs=6
    )
    ms.set_seed(2)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
    made = create_optimizer(net.trainable_params(), opt=optimizer, lr=rates, weight_decay=1e-4)
    loss_fn = mindcv.create_loss("CE", label_smoothing=0.1)
    x = Tensor(np.random.RandomState(1).randn(16, 4).astype(np.float32))
    y = Tensor(np.arange(16) % 2, ms.int32)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, made.parameters)
    losses = []
    for _ in range(24):
        loss, gradients = step(x, y)
        made(gradients)
        losses.append(float(loss))
    assert losses[-1] < losses[0] and np.isfinite(losses).all()


def test_it_is_the_package(mindcv):
    """Not one of ours, and without a MindSpore beside it."""
    assert mindcv.__version__ == "0.3.0" and len(mindcv.list_models()) == 275
    assert importlib.util.find_spec("mindspore").loader.__class__.__module__ == "sorus.mindspore._alias"
