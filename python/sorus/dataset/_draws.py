"""From where transforms that run in Python draw."""

import random
import threading


class Draws(threading.local):
    """`generator`: Python's own, or inside a pipeline one that is made anew for each row."""

    generator = random


draws = Draws()
