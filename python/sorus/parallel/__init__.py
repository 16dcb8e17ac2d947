"""Settings of parallel training, as programs ask for them. There is one process here."""
