"""What a demand is, and how demands are combined. No particular demand lives here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from stepcache._data import Verdict
from stepcache.errors import ConfigurationError

__all__ = ["Counted", "Demand", "and_", "any_", "not_"]


class Demand(ABC):
    """One thing a reply must satisfy; a frozen value, pure, in time linear in the text.

    `says` states it in words that fit after "The reply needs:"; a failing verdict says what was found instead.
    """

    @property
    @abstractmethod
    def says(self) -> str: ...

    @abstractmethod
    def check(self, text: str) -> Verdict: ...

    def _verdict(self, ok: bool, found: str = "") -> Verdict:
        detail = "" if ok else f"it needs {self.says}" + (f", but {found}" if found else "")
        return Verdict(ok, type(self).__name__.lower().strip("_"), detail)

    def __repr__(self) -> str:
        """The call that makes this value, defaults left out."""
        given = [f"{field.name}={value!r}" for field in fields(self)  # type: ignore[arg-type]
                 if (value := getattr(self, field.name)) != field.default]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False, kw_only=True)
class Counted(Demand):
    """A demand on how many of something there are: at least, at most, or (both equal) exactly so many."""

    at_least: int | None = None
    at_most: int | None = None
    unit: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name in ("at_least", "at_most"):
            bound = getattr(self, name)
            if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int) or bound < 0):
                raise ConfigurationError(f"{type(self).__name__}.{name} takes a whole number >= 0, not {bound!r}")
        if self.at_least is None and self.at_most is None:
            raise ConfigurationError(f"{type(self).__name__} takes at_least=, at_most=, or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ConfigurationError(
                f"{type(self).__name__} can't have at least {self.at_least} and at most {self.at_most}")

    @abstractmethod
    def count(self, text: str) -> int:
        """How many there are in the text."""

    @property
    def noun(self) -> str:
        return self.unit

    @property
    def says(self) -> str:
        low, high = self.at_least, self.at_most
        if low is None or high is None:
            bound = f"at most {high}" if low is None else f"at least {low}"
        else:
            bound = f"exactly {low}" if low == high else f"{low} to {high}"
        return f"{bound} {self.noun}"

    def check(self, text: str) -> Verdict:
        count = self.count(text)
        ok = (self.at_least is None or count >= self.at_least) and (self.at_most is None or count <= self.at_most)
        return self._verdict(ok, f"it has {count}")


@dataclass(frozen=True, repr=False)
class _All(Demand):
    demands: tuple[Demand, ...]

    @property
    def says(self) -> str:
        return " and ".join(demand.says for demand in self.demands)

    def check(self, text: str) -> Verdict:
        failed = [verdict for demand in self.demands if not (verdict := demand.check(text)).ok]
        if not failed:
            return Verdict(True, "all")
        return Verdict(False, failed[0].check, "; ".join(verdict.detail for verdict in failed))

    def __repr__(self) -> str:
        return f"and_({', '.join(map(repr, self.demands))})"


@dataclass(frozen=True, repr=False)
class _Any(Demand):
    demands: tuple[Demand, ...]

    @property
    def says(self) -> str:
        return " or ".join(demand.says for demand in self.demands)

    def check(self, text: str) -> Verdict:
        return self._verdict(any(demand.check(text).ok for demand in self.demands), "none of these holds")

    def __repr__(self) -> str:
        return f"any_({', '.join(map(repr, self.demands))})"


@dataclass(frozen=True, repr=False)
class _Not(Demand):
    demand: Demand

    @property
    def says(self) -> str:
        return f"the contrary of: {self.demand.says}"

    def check(self, text: str) -> Verdict:
        return self._verdict(not self.demand.check(text).ok)

    def __repr__(self) -> str:
        return f"not_({self.demand!r})"


def and_(*demands: Demand) -> Demand:
    """All of these; the verdict names every one that fails."""
    return demands[0] if len(demands) == 1 else _All(_demands(demands, "and_"))


def any_(*demands: Demand) -> Demand:
    """At least one of these."""
    return demands[0] if len(demands) == 1 else _Any(_demands(demands, "any_"))


def not_(demand: Demand) -> Demand:
    """The contrary; `not_(not_(d))` is `d`."""
    if isinstance(demand, _Not):
        return demand.demand
    return _Not(_demands((demand,), "not_")[0])


def _demands(given: tuple[Demand, ...], where: str) -> tuple[Demand, ...]:
    for demand in given:
        if not isinstance(demand, Demand):
            raise ConfigurationError(f"{where} takes demands such as Words(at_most=50), not {demand!r}")
    if not given:
        raise ConfigurationError(f"{where} takes at least one demand")
    return given
