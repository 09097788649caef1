"""That each arithmetic is really run in, and that a choice without effect is noticed."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from tests import arithmetics
from tests.arithmetics import WANTED, Wanted, absent, found_with, main, same
from tests.machine import Arithmetic

USUAL = Arithmetic(["SkylakeX"], [4], ["X86_V3", "X86_V4", "AVX512_ICL"])
AVX512, AVX2, AVX, SSE = WANTED
ON_X86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="only x86-64 has others")


def obtained(wanted: Wanted) -> Arithmetic:
    """What a process finds where every variable took effect."""
    simd = [name for name in USUAL.simd if not wanted.without or not name.startswith(wanted.without)]
    return Arithmetic([wanted.kernels], [wanted.threads], simd)


@ON_X86
def test_variables_take_effect_here() -> None:
    usual = found_with({})
    assert SSE.missed(found_with(SSE.environment(usual))) == []
    assert AVX2.missed(found_with(AVX2.environment(usual))) == []


def test_each_arithmetic_rounds_in_its_own_way() -> None:
    every = [obtained(wanted) for wanted in WANTED]
    assert [wanted.missed(found) for wanted, found in zip(WANTED, every, strict=True)] == [[], [], [], []]
    assert not any(same(one, other) for one in every for other in every if one is not other)
    assert {wanted.threads for wanted in WANTED} == {1, 2}


def test_numpy_does_without_what_it_has_here() -> None:
    assert AVX512.environment(USUAL)["NPY_DISABLE_CPU_FEATURES"] == ""
    assert AVX2.environment(USUAL)["NPY_DISABLE_CPU_FEATURES"] == "X86_V4 AVX512_ICL"
    assert SSE.environment(USUAL)["NPY_DISABLE_CPU_FEATURES"] == "X86_V3 X86_V4 AVX512_ICL"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kernels": ["SkylakeX"]}, "OpenBLAS uses ['SkylakeX'], not Haswell"),
        ({"kernels": ["Haswell", "SkylakeX"]}, "OpenBLAS uses ['Haswell', 'SkylakeX'], not Haswell"),
        ({"threads": [4]}, "OpenBLAS has [4] threads, not 2"),
        ({"simd": ["X86_V3", "AVX512_SKX"]}, "numpy still uses AVX512_SKX"),
    ],
)
def test_a_variable_without_effect_is_told(change: Mapping[str, object], told: str) -> None:
    assert AVX2.missed(replace(obtained(AVX2), **change)) == [told]  # type: ignore[arg-type]


def test_kernels_that_a_processor_has_not_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    old = replace(USUAL, simd=["X86_V3"])
    assert absent(AVX512, old) == "this processor has no AVX-512"
    assert [absent(wanted, USUAL) for wanted in WANTED] == [None] * 4
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert absent(AVX, old) == "this machine has fewer than 2 processors"


Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run on a machine whose variables do as told, with tests that end as told: code, kernels run in, and output."""

    def made(usual: Arithmetic, *, works: bool = True, right: bool = True) -> tuple[int, list[str], str]:
        by_kernels = {wanted.kernels: obtained(wanted) for wanted in WANTED}
        ran: list[str] = []

        def found(variables: Mapping[str, str]) -> Arithmetic:
            return by_kernels[variables["OPENBLAS_CORETYPE"]] if "OPENBLAS_CORETYPE" in variables and works else usual

        def passed(variables: Mapping[str, str]) -> tuple[bool, str]:
            ran.append(variables["OPENBLAS_CORETYPE"])
            return right, "270 of 270 golden tables, 900 of 900 tests in all"

        monkeypatch.setattr(platform, "machine", lambda: "x86_64")
        monkeypatch.setattr("os.cpu_count", lambda: 2)
        monkeypatch.setattr(arithmetics, "found_with", found)
        monkeypatch.setattr(arithmetics, "passed", passed)
        return main([]), ran, capsys.readouterr().out

    return made


def test_every_other_arithmetic_is_run_in_and_that_of_make_test_is_not(run: Run) -> None:
    code, ran, said = run(USUAL)
    assert (code, ran) == (0, ["SkylakeX", "Haswell", "Sandybridge", "Nehalem"])  # 4 threads are another arithmetic
    assert said.endswith("equal in 5 arithmetics, that of make test too\n")
    code, ran, said = run(obtained(AVX512))
    assert (code, ran) == (0, ["Haswell", "Sandybridge", "Nehalem"])
    assert "avx512: not run, as make test runs in it" in said
    assert said.endswith("equal in 4 arithmetics, that of make test too\n")


def test_a_failing_test_fails_and_so_does_a_variable_without_effect(run: Run) -> None:
    code, ran, said = run(USUAL, right=False)
    assert (code, len(ran)) == (1, 4)
    assert "FAILED sse: tests failed" in said
    code, ran, said = run(USUAL, works=False)
    assert (code, ran) == (1, [])
    assert "FAILED avx2: OpenBLAS uses ['SkylakeX'], not Haswell" in said
    assert "FAILED 1 arithmetics are fewer than 3" in said


def test_another_kind_of_processor_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert main([]) == 0
    assert "only x86-64" in capsys.readouterr().out
