"""Text for plain pdflatex: special characters become commands, and none is lost. Those outside ASCII and Latin-1
without a command here, such as another script's, stay, and need LuaLaTeX or XeLaTeX."""

from __future__ import annotations

_ESCAPED = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    # The old text fonts hold other signs in their places.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "ς": "varsigma", "τ": "tau", "υ": "upsilon", "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma",
    "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_MATHS = {"−": "-", "×": r"\times", "±": r"\pm", "·": r"\cdot", "→": r"\rightarrow", "←": r"\leftarrow", "≤": r"\leq",
          "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∞": r"\infty", "√": r"\surd", "¹": "^1", "²": "^2", "³": "^3",
          "★": r"\star", "☆": r"\star"}  # fmt: skip
_SIGNS = {
    **{sign: f"${command}$" for sign, command in _MATHS.items()},
    **{letter: rf"$\{name}$" for letter, name in _GREEK.items()},
    "µ": r"$\mu$",
    "—": "---",
    "–": "--",
    "\u2010": "-",
    "\u2011": "-",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "„": ",,",
    "•": r"\textbullet{}",
}
_TEXT = str.maketrans({**_SIGNS, **_ESCAPED, "|": r"\textbar{}"})
_MONOSPACED = str.maketrans({**_SIGNS, **_ESCAPED})
_COMMENT = str.maketrans(_SIGNS)


def text(words: str) -> str:
    """Text escaped for a LaTeX cell or caption."""
    return words.translate(_TEXT)


def monospaced(words: str) -> str:
    """Text escaped for LaTeX's texttt. Its fonts have a vertical bar, so this character is not replaced."""
    return words.translate(_MONOSPACED)


def comment(words: str) -> str:
    """Text for a LaTeX comment after `%`, which is not typeset."""
    return words.translate(_COMMENT)
