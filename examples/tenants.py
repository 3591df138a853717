"""An async service for many tenants: a wall around each, one model call for equal requests at once, counts by tenant.

Twelve tenants send five bursts of requests at the same time, as a web server's handlers would.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from stepcache import CacheControl, Result, StepCache
from stepcache.protocols import AsyncModel
from stepcache.testing import HashEmbedder, ScriptedModel

QUESTIONS = ("What is our return policy?", "what is our return policy", "How do I reset my password?",
             "How do I reset my PIN?", "Summarise our plan for spring.")


@dataclass
class Service:
    """What a request handler needs: the cache, the model, and who is asking."""

    cache: StepCache
    model: AsyncModel
    results: list[Result] = field(default_factory=list)

    async def answer(self, tenant: str, question: str) -> str:
        """One request. The namespace is a wall: nothing of one tenant can be served to, or counted for, another."""
        control = CacheControl(namespace=tenant, ttl=24 * 3600, tags=("support",))
        result = await self.cache.acomplete(question, self.model, control=control)
        self.results.append(result)
        return result.output


async def run(service: Service, tenants: int = 12, burst: int = 5) -> None:
    """Each tenant asks every question `burst` times, all at once; then all ask again."""
    for _ in range(2):
        await asyncio.gather(*(service.answer(f"tenant-{n}", question)
                               for n in range(tenants) for question in QUESTIONS for _ in range(burst)))


def main() -> None:
    made = iter(range(10_000))
    model = ScriptedModel(lambda prompt, purpose: f"Answer {next(made)} to: {prompt}", delay=0.02)
    print("A scripted model stands in, which takes 20 ms for a reply; any coroutine function does in its place.")
    with StepCache.open(":memory:", embedder=HashEmbedder(256)) as cache:
        service = Service(cache, model.acall)
        asyncio.run(run(service))
        shared = sum(result.shared for result in service.results)
        print(f"{len(service.results)} requests, {len(model.calls)} model calls: {shared} waited for an equal request, "
              f"{sum(result.source == 'cache' for result in service.results)} were in the cache")
        one = cache.stats("tenant-3")
        print(f"tenant-3 alone: {one}")
        print(f"why not from the cache: {dict(one.skips) | dict(one.misses)}")
        cache.clear(namespace="tenant-3")
        print(f"tenant-3 has left; {cache.stats().entries} entries of the others stay, "
              f"{cache.stats('tenant-3').entries} of its own")


if __name__ == "__main__":
    main()
