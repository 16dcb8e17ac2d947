"""Errors for names that a module does not have, with those that are near."""


def near_names(name, known, count=3):
    """Names of `known` that look like `name`, the nearest first; upper and lower case are the same here."""
    import difflib

    spelled = {}
    for k in known:
        spelled.setdefault(k.lower(), []).append(k)
    close = difflib.get_close_matches(name.lower(), spelled, count, 0.7)
    return [k for lower in close for k in spelled[lower]][:count]


def unknown_name(module, name, known):
    """The AttributeError for a name that a module lacks."""
    text = f"module '{module}' has no attribute '{name}'"
    # Names with a dash in front are probed for by Python itself, which looks at no text.
    near = [] if name.startswith("_") else near_names(name, (k for k in known if k[0] != "_"))
    if near:
        text += f": did you mean {' or '.join(repr(n) for n in near)}"
    return AttributeError(text)
