"""`run_check`: does the installation work?"""

from . import _core
from .common.tensor import Tensor


def run_check():
    """Computes a product and says so, or raises what went wrong."""
    product = Tensor([[1.0, 2.0], [3.0, 4.0]]) @ Tensor([[1.0], [1.0]])
    if product.tolist() != [[3.0], [7.0]]:
        raise RuntimeError(f"run_check: wrong result: got {product}, need [[3.] [7.]]")
    print(f"Sorus version: {_core.__version__}")
    print(
        "The result of multiplication calculation is correct, Sorus has been installed on platform "
        "[CPU] successfully!"
    )
