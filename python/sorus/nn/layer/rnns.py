"""Recurrent layers: RNN, LSTM, GRU and their cells."""

import math

from ... import _core, _functions
from ..._core import Tensor
from ...common.initializer import Uniform, initializer
from ...common.parameter import Parameter
from ..cell import Cell
from .basic import Dropout, check_bool, check_positive_int

_float32 = _core.dtypes["float32"]
_GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}


class _DynamicRNN(Cell):
    """Names the kernel of a recurrent layer, as MindSpore shows it."""


class _DynamicRNNTanh(_DynamicRNN):
    pass


class _DynamicRNNRelu(_DynamicRNN):
    pass


class _DynamicLSTMCPUGPU(_DynamicRNN):
    pass


class _DynamicGRUCPUGPU(_DynamicRNN):
    pass


_SHOWN = {
    "tanh": _DynamicRNNTanh,
    "relu": _DynamicRNNRelu,
    "lstm": _DynamicLSTMCPUGPU,
    "gru": _DynamicGRUCPUGPU,
}


class _Recurrent(Cell):
    """What recurrent layers share. x is (T, B, input), or (B, T, input) with batch_first."""

    def __init__(
        self,
        kind,
        input_size,
        hidden_size,
        num_layers=1,
        has_bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        dtype=_float32,
    ):
        super().__init__()
        what = type(self).__name__
        self.input_size = check_positive_int(input_size, "input_size", what)
        self.hidden_size = check_positive_int(hidden_size, "hidden_size", what)
        self.num_layers = check_positive_int(num_layers, "num_layers", what)
        self.has_bias = check_bool(has_bias, "has_bias", what)
        self.batch_first = check_bool(batch_first, "batch_first", what)
        self.bidirectional = check_bool(bidirectional, "bidirectional", what)
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)):
            raise TypeError(
                f"{what}: 'dropout' has the wrong type: got {type(dropout).__name__}, need a number"
            )
        if not 0 <= dropout < 1:
            raise ValueError(
                f"{what}: 'dropout' is out of range: got {dropout}, need at least 0, less than 1"
            )
        self.dropout = dropout
        self._kind = kind
        self.rnn = _SHOWN[kind]()
        self.dropout_op = Dropout(p=float(dropout))
        bound = Uniform(1 / math.sqrt(hidden_size))
        gates = _GATES[kind] * hidden_size
        directions = ["", "_reverse"] if bidirectional else [""]
        self._names = []
        shapes = {"weight_ih": None, "weight_hh": (gates, hidden_size)}
        if has_bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        for name, shape in shapes.items():
            for layer in range(num_layers):
                width = input_size if layer == 0 else hidden_size * len(directions)
                for suffix in directions:
                    full = f"{name}_l{layer}{suffix}"
                    value = initializer(bound, shape or (gates, width), dtype)
                    self.insert_param_to_cell(full, Parameter(value, name=full))
        for layer in range(num_layers):
            for suffix in directions:
                self._names.append([f"{name}_l{layer}{suffix}" for name in shapes])

    def _first_states(self, x):
        batch = x.shape[0 if self.batch_first else 1]
        count = self.num_layers * (2 if self.bidirectional else 1)
        return _functions.full((count, batch, self.hidden_size), 0, x.dtype)

    def _compute_layers(self, x, h, c, lengths):
        directions = 2 if self.bidirectional else 1
        if not (self.dropout and self.training and self.num_layers > 1):
            weights = [self._params[n] for names in self._names for n in names]
            return _functions.recurrent(
                x, h, weights, c, self.has_bias, self._kind, self.bidirectional, self.batch_first, lengths
            )
        hs, cs = [], []
        for layer in range(self.num_layers):
            at = slice(layer * directions, (layer + 1) * directions)
            weights = [self._params[n] for names in self._names[at] for n in names]
            x, h_last, c_last = _functions.recurrent(
                x,
                h[at],
                weights,
                None if c is None else c[at],
                self.has_bias,
                self._kind,
                self.bidirectional,
                self.batch_first,
                lengths,
            )
            hs.append(h_last)
            cs.append(c_last)
            x = x if layer == self.num_layers - 1 else self.dropout_op(x)
        return x, _functions.concat(hs, 0), None if c is None else _functions.concat(cs, 0)

    def _check(self, x):
        if not isinstance(x, Tensor) or x.ndim != 3:
            shape = x.shape if isinstance(x, Tensor) else type(x).__name__
            raise ValueError(f"{type(self).__name__}: wrong number of axes: got {shape}, need 3")


class RNN(_Recurrent):
    """A stack of Elman layers with tanh or relu."""

    def __init__(self, *args, **kwargs):
        nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: unknown nonlinearity: got {nonlinearity!r}, need 'tanh' or 'relu'")
        super().__init__(nonlinearity, *args, **kwargs)

    def construct(self, x, hx=None, seq_length=None):
        self._check(x)
        h = self._first_states(x) if hx is None else hx
        y, h, _ = self._compute_layers(x, h, None, seq_length)
        return y, h


class GRU(_Recurrent):
    """A stack of gated recurrent units."""

    def __init__(self, *args, **kwargs):
        super().__init__("gru", *args, **kwargs)

    def construct(self, x, hx=None, seq_length=None):
        self._check(x)
        h = self._first_states(x) if hx is None else hx
        y, h, _ = self._compute_layers(x, h, None, seq_length)
        return y, h


class LSTM(_Recurrent):
    """A stack of long short-term memory layers."""

    def __init__(self, *args, **kwargs):
        super().__init__("lstm", *args, **kwargs)

    def construct(self, x, hx=None, seq_length=None):
        self._check(x)
        h, c = (self._first_states(x), self._first_states(x)) if hx is None else hx
        y, h, c = self._compute_layers(x, h, c, seq_length)
        return y, (h, c)


class _RecurrentCell(Cell):
    """One step of a recurrent layer."""

    def __init__(self, gates, input_size, hidden_size, has_bias=True, dtype=_float32):
        super().__init__()
        what = type(self).__name__
        self.input_size = check_positive_int(input_size, "input_size", what)
        self.hidden_size = check_positive_int(hidden_size, "hidden_size", what)
        self.has_bias = check_bool(has_bias, "has_bias", what)
        bound = Uniform(1 / math.sqrt(hidden_size))
        rows = gates * hidden_size
        self.weight_ih = Parameter(initializer(bound, (rows, input_size), dtype), "weight_ih")
        self.weight_hh = Parameter(initializer(bound, (rows, hidden_size), dtype), "weight_hh")
        self.bias_ih = self.bias_hh = None
        if has_bias:
            self.bias_ih = Parameter(initializer(bound, (rows,), dtype), "bias_ih")
            self.bias_hh = Parameter(initializer(bound, (rows,), dtype), "bias_hh")

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(_RecurrentCell):
    """h' = tanh(W x + b + W h + b), or relu."""

    def __init__(self, input_size, hidden_size, has_bias=True, nonlinearity="tanh", dtype=_float32):
        super().__init__(1, input_size, hidden_size, has_bias, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: unknown nonlinearity: got {nonlinearity!r}, need 'tanh' or 'relu'")
        self.nonlinearity = nonlinearity

    def construct(self, x, hx):
        return _functions.rnn_cell(x, hx, *self._weights(), self.nonlinearity == "relu")


class LSTMCell(_RecurrentCell):
    """One step of an LSTM: (h, c)."""

    def __init__(self, input_size, hidden_size, has_bias=True, dtype=_float32):
        super().__init__(4, input_size, hidden_size, has_bias, dtype)

    def construct(self, x, hx):
        return _functions.lstm_cell(x, hx[0], hx[1], *self._weights())


class GRUCell(_RecurrentCell):
    """One step of a gated recurrent unit."""

    def __init__(self, input_size, hidden_size, has_bias=True, dtype=_float32):
        super().__init__(3, input_size, hidden_size, has_bias, dtype)

    def construct(self, x, hx):
        return _functions.gru_cell(x, hx, *self._weights())
