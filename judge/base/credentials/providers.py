"""The provider and model in a judge's name, and providers' hosts with their keys' variables and header. Only hosts that
the provider itself operates are listed: where anybody can rent a subdomain (gateways, dedicated endpoints), the renter
could collect the provider's keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

# What stands before the name of an automatic measure, which is no judge.
MEASURE = "measure"

# Providers without a language model: the control judge, answers from a file, answers from a script.
CONTROL, RECORDED, SCRIPTED = "surface", "recorded", "scripted"

# Providers that score a story in this process and generate nothing: a trained evaluator, a reward model.
TRAINED, REWARD = "trained", "reward"

# They generate nothing, ask no server and cost nothing.
MODELLESS = frozenset({CONTROL, RECORDED, SCRIPTED, TRAINED, REWARD})


class JudgeName(NamedTuple):
    """Parts of a judge's name; `model` is "" where none is given."""

    provider: str
    model: str

    @classmethod
    def of(cls, judge: str) -> JudgeName:
        """The parts of a judge's name. A name without "/" is a provider without a model."""
        provider, _, model = judge.partition("/")
        return cls(provider, model)

    @property
    def is_control(self) -> bool:
        """Whether the judge is the control judge, which rates by surface features of a text, such as its length."""
        return self.provider == CONTROL

    @property
    def is_scripted(self) -> bool:
        """Whether the judge gives fixed answers from a list, which were written without reading the stories."""
        return self.provider == SCRIPTED

    @property
    def is_recorded(self) -> bool:
        """Whether the judge's answers come from a file, so that no new answers can be requested."""
        return self.provider == RECORDED

    @property
    def is_modelless(self) -> bool:
        """Whether the judge generates no text (control, list or file of answers, trained evaluator, reward model), so
        that no server is asked and nothing is paid."""
        return self.provider in MODELLESS


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider. `variables` hold keys; a host `*.NAME` stands for all subdomains. `header` and `scheme` carry the key
    in OpenAI's protocol, `own_header` (without a scheme) in the provider's own, at `address` or what the user gives in
    `address_variable`."""

    name: str
    variables: tuple[str, ...]
    hosts: tuple[str, ...]
    header: str = "Authorization"
    scheme: str = "Bearer "
    own_header: str = ""
    address: str = ""
    address_variable: str = ""

    def owns(self, variable: str) -> bool:
        """Whether a variable holds one of the provider's keys, or its name begins like one that does
        (OPENAI_ORG_ID)."""
        families = {name.removesuffix("_API_KEY").removesuffix("_TOKEN") + "_" for name in self.variables}
        return variable in self.variables or variable.startswith(tuple(families))


OPENAI = Provider(
    "openai",
    ("OPENAI_API_KEY",),
    ("api.openai.com", "*.api.openai.com"),
    address="https://api.openai.com/v1",
    address_variable="OPENAI_BASE_URL",
)

ANTHROPIC = Provider(
    "anthropic",
    ("ANTHROPIC_API_KEY",),
    ("api.anthropic.com",),
    own_header="x-api-key",
    address="https://api.anthropic.com",
    address_variable="ANTHROPIC_BASE_URL",
)

GEMINI = Provider(
    "gemini",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ("generativelanguage.googleapis.com",),
    own_header="x-goog-api-key",
    address="https://generativelanguage.googleapis.com/v1beta",
)

# Back-end that asks over HTTP -> the provider whose protocol it speaks.
PROTOCOLS = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}

PROVIDERS = (
    OPENAI,
    ANTHROPIC,
    GEMINI,
    Provider(
        "azure",
        ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"),
        ("*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"),
        "api-key",
        "",
    ),
    Provider("openrouter", ("OPENROUTER_API_KEY",), ("openrouter.ai",)),
    Provider("groq", ("GROQ_API_KEY",), ("api.groq.com",)),
    Provider("together", ("TOGETHER_API_KEY",), ("api.together.xyz", "api.together.ai")),
    Provider("deepseek", ("DEEPSEEK_API_KEY",), ("api.deepseek.com",)),
    Provider("mistral", ("MISTRAL_API_KEY",), ("api.mistral.ai", "codestral.mistral.ai")),
    Provider("xai", ("XAI_API_KEY",), ("api.x.ai", "*.api.x.ai")),
    Provider("moonshot", ("MOONSHOT_API_KEY",), ("api.moonshot.ai", "api.moonshot.cn")),
    Provider("fireworks", ("FIREWORKS_API_KEY",), ("api.fireworks.ai",)),
    Provider("cerebras", ("CEREBRAS_API_KEY",), ("api.cerebras.ai",)),
    Provider("perplexity", ("PERPLEXITY_API_KEY",), ("api.perplexity.ai",)),
    Provider("cohere", ("COHERE_API_KEY", "CO_API_KEY"), ("api.cohere.ai", "api.cohere.com")),
    Provider("nvidia", ("NVIDIA_API_KEY",), ("integrate.api.nvidia.com",)),
    Provider("huggingface", ("HF_TOKEN",), ("router.huggingface.co", "api-inference.huggingface.co")),
    Provider("deepinfra", ("DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"), ("api.deepinfra.com",)),
    Provider(
        "dashscope",
        ("DASHSCOPE_API_KEY",),
        ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
    ),
    Provider("zai", ("ZAI_API_KEY", "ZHIPUAI_API_KEY"), ("api.z.ai", "open.bigmodel.cn")),
    Provider("sambanova", ("SAMBANOVA_API_KEY",), ("api.sambanova.ai",)),
)


def addresses_of(base_url: Sequence[str], backend: str = "openai") -> list[str]:
    """Addresses of a run: `base_url`, else the back-end's environment variable, else the provider's own."""
    protocol = PROTOCOLS[backend]
    return list(base_url) or [os.environ.get(protocol.address_variable) or protocol.address]


def provider_of(host: str) -> Provider | None:
    """The provider to which a host belongs; None if it belongs to no listed provider."""
    name = host.lower().removesuffix(".")
    for provider in PROVIDERS:
        for listed in provider.hosts:
            if name == listed or (listed.startswith("*.") and name.endswith(listed[1:])):
                return provider
    return None


def keys_of(address: str, protocol: Provider = OPENAI) -> str:
    """The variables of keys sent to an address, joined by "or"; those of `protocol` for an unlisted host."""
    host = address.partition("://")[2].partition("/")[0].partition(":")[0]
    return " or ".join((provider_of(host) or protocol).variables)
