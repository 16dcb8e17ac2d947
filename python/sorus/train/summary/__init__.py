"""Summary files: what a training run tells of itself, step by step."""

from .summary_record import SummaryRecord

__all__ = ["SummaryRecord"]
