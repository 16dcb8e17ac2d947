"""Names of older releases and rare primitives against NumPy and values by hand, eager and in graph mode."""

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, nn, ops
from sorus.common import initializer as init

R = np.random.RandomState(6)
X = R.randn(3, 4).astype(np.float32)
Y = R.rand(3, 4).astype(np.float32) + 0.5


def close(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            close(g, w)
    else:
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got.asnumpy(), want, 2e-5, 1e-6)


class Of(nn.Cell):
    """A function as a cell, so that graph mode compiles it."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *args):
        return self.function(*args)


def thrice(function, want, *arrays):
    cell = Of(function)
    for _ in range(3):
        close(cell(*map(Tensor, arrays)), want)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("add", X + Y),
        ("sub", X - Y),
        ("mul", X * Y),
        ("div", X / Y),
        ("floordiv", X // Y),
        ("mod", np.mod(X, Y)),
        ("lt", X < Y),
        ("le", X <= Y),
        ("gt", X > Y),
        ("ge", X >= Y),
    ],
)
def test_of_two_tensors(mode, name, want):  # noqa: ARG001
    thrice(getattr(ops.functional, "tensor_" + name), want, X, Y)


def test_functions(mode):  # noqa: ARG001
    thrice(ops.functional.tensor_pow, Y**2, Y, np.float32(2))
    thrice(ops.functional.pows, Y**X, Y, X)
    thrice(ops.functional.tensor_exp, np.exp(X), X)
    order = np.argsort(-X, 1)[:, :2]
    thrice(lambda x: ops.functional.top_k(x, 2), (np.take_along_axis(X, order, 1), order), X)
    assert ops.top_k(Tensor(X), 2)[1].dtype == ms.int32
    F = ops.functional
    assert (F.make_range(3), F.make_range(1, 6, 2)) == ((0, 1, 2), (1, 3, 5))
    assert (F.make_tuple(1, 2), F.make_list(1, 2), F.tuple_getitem((4, 5), 1)) == ((1, 2), [1, 2], 5)
    assert (F.tuple_len((1, 2)), F.list_len([1]), F.shape_mul((2, 3)), F.scalar_add(1, 2)) == (2, 1, 6, 3)
    cast = F.mixed_precision_cast(ms.float16, (Tensor(X), [Tensor([1])], 3))
    assert cast[0].dtype == ms.float16 and cast[1][0].dtype == ms.int64 and cast[2] == 3
    assert F.mixed_precision_cast(ms.float16, Tensor(X)).dtype == ms.float16


def test_primitives(mode):  # noqa: ARG001
    thrice(ops.Cdist(1.0), np.abs(X[:, None] - Y[None]).sum(-1), X, Y)
    thrice(ops.CeLU(2.0), np.where(X > 0, X, 2 * np.expm1(X / 2)), X)
    thrice(ops.Conj(), X, X)
    root = np.sqrt((X**2).mean(1, keepdims=True) + 1e-3)
    thrice(ops.RmsNorm(1e-3), (X / root * Y[0], 1 / root), X, Y[0])
    boxes = np.array([[0, 0, 9, 19], [0, 0, 10, 5], [1, 1, 3, 20], [-1, 0, 2, 2], [5, 2, 1, 1]], np.float32)
    thrice(ops.CheckValid(), [True, False, False, False, True], boxes, np.array([20, 10, 1], np.float32))
    thrice(ops.CheckValid(), [True, True, True, False, True], boxes, np.array([20, 10, 2], np.float32))


def test_primitives_of_functions(mode):  # noqa: ARG001
    volume = R.randn(2, 3, 4, 6, 2).astype(np.float32)
    halves = volume.reshape(2, 3, 2, 2, 3, 2, 2).mean((3, 5))
    thrice(ops.AdaptiveAvgPool3D((2, 3, 2)), halves, volume)
    plane = R.permutation(32).reshape(1, 2, 4, 4).astype(np.float32)
    blocks = plane.reshape(1, 2, 2, 2, 2, 2)
    top = blocks.max((3, 5))
    places = [
        [[[int(np.argwhere(p.ravel() == v)[0, 0]) for v in r] for r in m] for p, m in zip(plane[0], top[0])]
    ]
    thrice(ops.AdaptiveMaxPool2D((2, 2)), (top, places), plane)
    rows = np.array([[1.0, 8, 5, 2], [4, 9, 6, 1]], np.float32)
    thrice(ops.InTopK(2), [True, False], rows, np.array([1, 3], np.int32))
    holes = np.array([1.0, np.nan, 3], np.float32)
    near = holes + np.float32(1e-6)
    thrice(ops.IsClose(), [True, False, True], holes, near)
    thrice(ops.IsClose(0.0, 0.0, True), [False, True, False], holes, near)
    thrice(lambda x: ops.MatrixBandPart()(x, 1, 0), np.triu(np.tril(X), -1), X)
    square = R.randn(3, 3) + 3 * np.eye(3)
    thrice(
        ops.MatrixSolve(True), np.linalg.solve(square.T, X.astype(np.float64)), square, X.astype(np.float64)
    )
    thrice(ops.Padding(5), np.pad(X[:, :1], ((0, 0), (0, 4))), X[:, :1])
    thrice(lambda x: ops.Quantile(1, True)(x, 0.25), np.quantile(X, 0.25, 1, keepdims=True), X)
    thrice(lambda x: ops.Quantile(0, ignore_nan=True)(x, 0.5), np.nanquantile(holes, 0.5), holes)
    ms.set_seed(3)
    drawn = ops.StandardLaplace()((40000,)).asnumpy()
    assert abs(np.median(drawn)) < 0.03 and abs(np.abs(drawn).mean() - 1) < 0.03


def test_pad_v3(mode):  # noqa: ARG001
    pairs = [1, 2, 0, 3]
    want = np.pad(X, ((0, 3), (1, 2)), constant_values=7)
    thrice(lambda x: ops.PadV3()(x, Tensor(pairs), 7), want, X)
    thrice(lambda x: ops.PadV3(paddings_contiguous=False)(x, (1, 0, 2, 3), Tensor(7.0)), want, X)
    thrice(lambda x: ops.PadV3()(x, (1, 0)), np.pad(X, ((0, 0), (1, 0))), X)
    cube = R.randn(2, 3, 4)
    for name, numpy_name in (("reflect", "reflect"), ("edge", "edge"), ("circular", "wrap")):
        thrice(
            lambda x, name=name: ops.PadV3(name)(x, (2, 1)),
            np.pad(cube, ((0, 0), (0, 0), (2, 1)), numpy_name),
            cube,
        )
    for bad in (lambda: ops.PadV3()(Tensor(X), (1,)), lambda: ops.PadV3("most")(Tensor(X), (1, 1))):
        with pytest.raises(ValueError, match="PadV3"):
            bad()


def test_randperm(mode):  # noqa: ARG001
    ms.set_seed(1)
    seen = set()
    for _ in range(20):
        got = ops.Randperm(max_length=6, pad=-1)(Tensor([4], ms.int32))
        assert got.dtype == ms.int32 and got.shape == (6,)
        line = got.tolist()
        assert sorted(line[:4]) == [0, 1, 2, 3] and line[4:] == [-1, -1]
        seen.add(tuple(line))
    assert len(seen) > 5
    with pytest.raises(ValueError, match="'n' is out of range"):
        ops.Randperm(max_length=3)(Tensor([4]))


def margin(x, target):
    total = 0.0
    labels = target[: list(target).index(-1)] if -1 in target else target
    for j in labels:
        for i in range(len(x)):
            if i not in labels:
                total += max(0.0, 1 - x[j] + x[i])
    return total / len(x)


def test_multilabel_margin(mode):  # noqa: ARG001
    target = np.array([[1, 3, -1, 0], [2, -1, -1, -1], [0, 1, 2, 3]], np.int32)
    want = np.array([margin(x, t) for x, t in zip(X, target)])
    is_label = np.array([[0, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]])
    thrice(lambda x, t: ops.multilabel_margin_loss(x, t, "none"), want, X, target)
    thrice(ops.multilabel_margin_loss, want.mean(), X, target)
    thrice(nn.MultilabelMarginLoss("sum"), want.sum(), X, target)
    thrice(ops.MultilabelMarginLoss("none"), (want, is_label), X, target)
    thrice(nn.MultilabelMarginLoss(), want[0], X[0], target[0])
    assert ops.MultilabelMarginLoss()(Tensor(X), Tensor(target))[1].dtype == ms.int32
    slope = ms.grad(nn.MultilabelMarginLoss("sum"))(Tensor(X.astype(np.float64)), Tensor(target)).asnumpy()
    for place in np.ndindex(*X.shape):
        ends = []
        for sign in (1, -1):
            moved = X.astype(np.float64)
            moved[place] += sign * 1e-6
            ends.append(sum(margin(x, t) for x, t in zip(moved, target)))
        np.testing.assert_allclose(slope[place], (ends[0] - ends[1]) / 2e-6, 1e-5, 1e-8)
    with pytest.raises(ValueError, match="shapes do not fit"):
        ops.multilabel_margin_loss(Tensor(X), Tensor(target[:2]))
    with pytest.raises(ValueError, match="unknown reduction"):
        ops.multilabel_margin_loss(Tensor(X), Tensor(target), "most")


def test_combined_layers(mode):  # noqa: ARG001
    ms.set_seed(1)
    image = Tensor(R.randn(2, 3, 5, 5).astype(np.float32))
    for train in (False, True):
        layer = nn.Conv2dBnAct(3, 4, 3, has_bn=True, activation="leakyrelu", alpha=0.1).set_train(train)
        assert sorted(p.name for p in layer.get_parameters()) == [
            "batchnorm.beta",
            "batchnorm.gamma",
            "batchnorm.moving_mean",
            "batchnorm.moving_variance",
            "conv.weight",
        ]
        parts = (
            nn.Conv2d(3, 4, 3, weight_init=layer.conv.weight),
            nn.BatchNorm2d(4, momentum=0.997).set_train(train),
        )
        y = parts[1](parts[0](image)).asnumpy()
        np.testing.assert_allclose(layer(image).asnumpy(), np.where(y > 0, y, 0.1 * y), 1e-5, 1e-6)
    plain = nn.Conv2dBnAct(3, 4, 3, has_bias=True, bias_init="ones")
    np.testing.assert_array_equal(plain(image).asnumpy(), plain.conv(image).asnumpy())
    dense = nn.DenseBnAct(4, 2, has_bn=True, activation=nn.ReLU()).set_train()
    y = X @ dense.dense.weight.asnumpy().T + dense.dense.bias.asnumpy()
    y = (y - y.mean(0)) / np.sqrt(y.var(0) + 1e-5)
    np.testing.assert_allclose(dense(Tensor(X)).asnumpy(), np.maximum(y, 0), 1e-3, 1e-4)
    for bad in (lambda: nn.Conv2dBnAct(3, 4, 3, has_bn=1), lambda: nn.DenseBnAct(3, 4, activation=3)):
        with pytest.raises(TypeError, match="has the wrong type"):
            bad()


def test_time_distributed(mode):  # noqa: ARG001
    x = R.randn(2, 5, 3).astype(np.float32)
    layer = nn.Dense(3, 4)
    want = x @ layer.weight.asnumpy().T + layer.bias.asnumpy()
    thrice(nn.TimeDistributed(layer, 1), want, x)
    thrice(nn.TimeDistributed(layer, 1, 0), want, x)
    thrice(nn.TimeDistributed(layer, -2), want, x)
    thrice(nn.TimeDistributed(lambda v: v.sum(1), 0), x.sum(2), x)
    for bad in (nn.TimeDistributed(layer, 3), nn.TimeDistributed(layer, 0, 2)):
        with pytest.raises(ValueError, match="TimeDistributed"):
            bad(Tensor(x))
    for bad in ((3, 1), (layer, "a"), (layer, 1, "b")):
        with pytest.raises(TypeError, match="has the wrong type"):
            nn.TimeDistributed(*bad)


def test_parts_of_initializers():
    array = np.zeros((3, 4, 5), np.float32)
    assert init._assignment(array, 3) is array and (array == 3).all()
    assert (init._assignment(array, np.full((3, 4, 5), 2.0)) == 2).all()
    assert init._calculate_correct_fan((3, 4, 5), "fan_in") == 20
    assert init._calculate_correct_fan((3, 4, 5), "fan_out") == 15
    assert init._calculate_in_and_out(array) == (20, 15)
    with pytest.raises(ValueError, match="unknown mode"):
        init._calculate_correct_fan((3, 4), "fan")
    assert ops.operations.Add is ops.Add and ops.composite.GradOperation is ops.GradOperation


def test_networks_without_initial_values():
    from sorus.nn.utils import no_init_parameters

    with no_init_parameters():
        layer = nn.Dense(4, 2)
    other = nn.Dense(4, 2)
    ms.load_param_into_net(layer, other.parameters_dict())
    np.testing.assert_array_equal(layer(Tensor(X)).asnumpy(), other(Tensor(X)).asnumpy())
