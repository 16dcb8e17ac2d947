"""The release of MindSpore whose names and behaviour Sorus has, for programs that ask."""

__version__ = "2.7.0"
