"""`python -m sorus.mindspore script.py [arguments]`: a program that imports mindspore runs with Sorus."""

import os
import runpy
import sys

_USAGE = """usage: python -m sorus.mindspore SCRIPT [ARGUMENTS]
       python -m sorus.mindspore -m MODULE [ARGUMENTS]
       python -m sorus.mindspore -c CODE [ARGUMENTS]
Runs a program in which each `import mindspore...` gives Sorus."""


def _without_runner(show):
    """Tracebacks begin with the program's own lines."""

    def hook(kind, error, trace):
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, *_RUNNERS):
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)

    return hook


_RUNNERS = (runpy.__file__, "<frozen runpy>")


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] in ("-m", "-c") and len(arguments) == 1:
        print(f"sorus.mindspore: {arguments[0]}: got no argument, need one\n{_USAGE}", file=sys.stderr)
        return 2
    sys.excepthook = _without_runner(sys.excepthook)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path[0] = ""
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = arguments
        if os.path.isfile(arguments[0]):
            sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
