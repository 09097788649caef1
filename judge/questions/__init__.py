"""What can be asked of runs: each question once, from which its command and its Python method follow.

`judge.questions.registry` lists the questions by name, `question` says what one is, `answer` what comes back.
"""
