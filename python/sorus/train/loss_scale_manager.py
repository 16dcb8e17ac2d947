"""Loss scales for training in 16-bit floats."""

from ..nn.wrap.loss_scale import DynamicLossScaleUpdateCell


class LossScaleManager:
    """The base of loss scales."""

    def get_loss_scale(self):
        """The scale."""
        raise NotImplementedError

    def update_loss_scale(self, overflow):
        """Learns of a step that did or did not overflow."""
        raise NotImplementedError

    def get_update_cell(self):
        """The cell that updates the scale in a training step, or None."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """A fixed scale; with `drop_overflow_update` steps that overflow change nothing."""

    def __init__(self, loss_scale=128.0, drop_overflow_update=True):
        if loss_scale < 1:
            raise ValueError(
                f"FixedLossScaleManager: 'loss_scale' is out of range: got {loss_scale}, need 1 or more"
            )
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self):
        return self._loss_scale

    def get_drop_overflow_update(self):
        """Whether steps that overflow change nothing."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow):
        """The scale stays."""

    def get_update_cell(self):
        if not self._drop_overflow_update:
            return None
        from ..nn.wrap.loss_scale import FixedLossScaleUpdateCell

        return FixedLossScaleUpdateCell(self._loss_scale)


class DynamicLossScaleManager(LossScaleManager):
    """A scale that shrinks after an overflow and grows after `scale_window` steps without one."""

    def __init__(self, init_loss_scale=2**24, scale_factor=2, scale_window=2000):
        if init_loss_scale < 1 or scale_factor < 1 or scale_window < 1:
            raise ValueError(
                "DynamicLossScaleManager: out of range: "
                f"got {init_loss_scale}, {scale_factor} and {scale_window}, need 1 "
                "or more"
            )
        self.loss_scale, self.scale_factor, self.scale_window = init_loss_scale, scale_factor, scale_window
        self.increase_ratio, self.decrease_ratio = scale_factor, 1 / scale_factor
        self.cur_iter, self.last_overflow_iter = 1, 0

    def get_loss_scale(self):
        return self.loss_scale

    def get_drop_overflow_update(self):
        """Steps that overflow change nothing."""
        return True

    def update_loss_scale(self, overflow):
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
        elif (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
            self.loss_scale *= self.increase_ratio
        self.cur_iter += 1

    def get_update_cell(self):
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
