"""`run_check`: does the installation work?"""

from . import _autograd, _core
from .common.tensor import Tensor


def run_check():
    """Says what is installed and what the processor offers, and proves a product and a gradient. Raises
    RuntimeError with what went wrong.
    """
    print(f"Sorus version: {_core.__version__}")
    print(f"processor: {_core.describe_cpu()}; {_core.num_threads()} threads")
    print(f"libraries: oneDNN {_core.onednn_version()}")
    a, b = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0], [1.0]])
    _expect("product", a @ b, [[3.0], [7.0]])
    _expect("gradient", _autograd.grad(lambda x: (x @ x).sum())(a), [[7.0, 11.0], [9.0, 13.0]])
    print(
        "The results of multiplication and gradient calculation are correct, Sorus has been installed on "
        "platform [CPU] successfully!"
    )


def _expect(what, got, need):
    if got.tolist() != need:
        raise RuntimeError(f"run_check: wrong {what}: got {got.tolist()}, need {need}")
