"""Shell completion in bash, zsh and fish: writes the completion scripts and answers their requests."""

from __future__ import annotations

from judge.base.errors import SpecError, unknown

SHELLS = ("bash", "zsh", "fish")
# The variable by which a script requests completions, as typer names it.
REQUEST = "_JUDGE_COMPLETE"
SHOW, INSTALL = "--show-completion", "--install-completion"


def show(words: list[str]) -> None:
    """Print the completion script of the named shell, else of the one in which this process runs."""
    print(_script(_shell(SHOW, words)))


def install(words: list[str]) -> None:
    """Write the script to the file that the named shell, or the one in use, reads, and print its path; else
    SpecError."""
    from typer.completion import install as write  # type: ignore[attr-defined]

    shell = _shell(INSTALL, words)
    try:
        _, path = write(shell=shell, prog_name="judge", complete_var=REQUEST)
        path.write_text(f"{_script(shell)}\n", encoding="utf-8")
    except (OSError, RuntimeError) as error:  # the second: a user without a home folder
        why = f"{error.filename} cannot be written: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise SpecError(
            why,
            hint=f"judge {SHOW} {shell} prints the script, to be kept elsewhere",
        ) from error
    print(f"completion for {shell} is in {path}; it works in shells that start from now on")


def prepare() -> None:
    """Register the shells' completion formats with typer, before a completion request is answered."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()


def _script(shell: str) -> str:
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # typer itself imports it there

    script: str = get_completion_script(prog_name="judge", complete_var=REQUEST, shell=shell)
    if shell == "zsh":
        # zsh reads the file at the first Tab: without this line that Tab would find nothing.
        script += '\n[[ $zsh_eval_context[-1] != loadautofunc ]] || _judge_completion "$@"'
    return script


def _shell(option: str, words: list[str]) -> str:
    if len(words) > 1:
        raise SpecError(f"{option} takes one shell, not {' '.join(words)!r}", hint=f"judge {option} bash")
    shell = words[0] if words else _detected(option)
    if shell not in SHELLS:
        raise SpecError(unknown("the shell", shell, SHELLS), hint=f"judge {option} bash")
    return shell


def _detected(option: str) -> str:
    import shellingham

    try:
        name: str = shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure as error:
        raise SpecError("the shell that this process runs in is not known", hint=f"judge {option} bash") from error
    return name
