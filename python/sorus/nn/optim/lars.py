"""LARS: gradients scaled layer by layer before another optimizer takes them."""

from ... import _core
from ... import _functions as F
from ...common.parameter import Parameter
from ._checks import check_bool, check_gradients, check_not_negative
from .optimizer import Optimizer


class LARS(Optimizer):
    """Scales each gradient by coefficient * |p| / (|g| + decay |p| + epsilon) and hands them to
    `optimizer`, whose weight decay moves in here. `lars_filter(parameter)` says which parameters are scaled.
    """

    def __init__(
        self,
        optimizer,
        epsilon=1e-05,
        coefficient=0.001,
        use_clip=False,
        lars_filter=lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"LARS: 'optimizer' has the wrong type: got {type(optimizer).__name__}, need an Optimizer"
            )
        if optimizer.is_group or optimizer.dynamic_weight_decay:
            raise ValueError("LARS: 'optimizer' has groups or a changing weight decay: need one without")
        check_not_negative("LARS", epsilon=epsilon, coefficient=coefficient)
        check_bool("LARS", use_clip=use_clip)
        fake = Parameter(_core.Tensor(0.0, _core.dtypes["float32"]), name="fake_param")
        super().__init__(0.0, [fake])
        self.learning_rate.name = "fake_lr"
        self.opt = optimizer
        self.epsilon, self.coefficient, self.use_clip = float(epsilon), float(coefficient), use_clip
        self.lars_flag = tuple(bool(lars_filter(p)) for p in optimizer.parameters)
        self.parameters = optimizer.parameters
        self._decay = float(optimizer.weight_decay)
        self.global_step = optimizer.global_step
        optimizer.exec_weight_decay = False

    def construct(self, gradients):
        gradients = tuple(gradients)
        check_gradients("LARS", self.parameters, gradients)
        rates = self.opt._rates
        scaled = []
        for p, g, on, rate in zip(self.parameters, gradients, self.lars_flag, rates):
            rate = rate(self.global_step) if self.opt.dynamic_lr else rate
            if on:
                rate = rate.reshape(())
                g = F.rule_layer_scaled(
                    p, g, rate, self._decay, self.coefficient, self.epsilon, self.use_clip
                )
            scaled.append(g)
        return self.opt(tuple(scaled))
