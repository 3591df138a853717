"""Stand-ins and contracts for tests of one's own."""

from stepcache.testing._embedder import HashEmbedder
from stepcache.testing._model import ScriptedModel
from stepcache.testing._store_contract import StoreContract

__all__ = ["HashEmbedder", "ScriptedModel", "StoreContract"]
