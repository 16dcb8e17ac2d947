"""Averaged stochastic gradient descent."""

from ... import _functions as F
from ._checks import check_positive
from .optimizer import Optimizer, state_parameter, update


class ASGD(Optimizer):
    """p = p (1 - lambd eta) - eta g with a falling eta; the average of p is kept in `ax`."""

    def __init__(self, params, learning_rate=0.1, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        check_positive("ASGD", lambd=lambd, alpha=alpha, t0=t0)
        self.lambd, self.alpha, self.t0 = float(lambd), float(alpha), float(t0)
        first = [float(rate(self.global_step) if self.dynamic_lr else rate) for rate in self._rates]
        self._mu = [state_parameter(1.0, f"mu_{p.name}") for p in self.parameters]
        self._eta = [state_parameter(rate, f"eta_{p.name}") for p, rate in zip(self.parameters, first)]
        for p in (*self._mu, *self._eta):
            self.insert_param_to_cell(p.name, p, check_name_contain_dot=False)
        self.ax = self.make_state("ax_")

    def construct(self, gradients):
        gradients = self.prepared(gradients)
        step = self.global_step.astype(self._mu[0].dtype).reshape(())
        rows = zip(self.parameters, self._mu, self._eta, self.ax, gradients, self.rates())
        for p, mu, eta, average, g, rate in rows:
            values = F.rule_averaged_descent(
                p, average, g, self.beside(eta, p), self.beside(mu, p), self.lambd
            )
            update((p, average), values)
            update(
                (eta, mu), F.rule_averaged_descent_rates(rate, step + 1.0, self.lambd, self.alpha, self.t0)
            )
        return True
