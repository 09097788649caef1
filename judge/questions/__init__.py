"""What can be asked of runs: each question once, from which its command and its Python method follow.

`judge.questions.registry` lists the questions by name, `judge.questions.question` says what one is,
`judge.questions.answer` what comes back. `Question.ask` takes a `Source` (runs, opened) and options as words.
"""
