"""GPTCache as its own documentation sets it up, over the benchmark's embedder: SQLite, FAISS, threshold 0.8.

It is needed for nothing else: `pip install gptcache faiss-cpu cachetools sqlalchemy`.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

__all__ = ["NEEDED", "open_gptcache"]

NEEDED = "pip install gptcache faiss-cpu cachetools sqlalchemy"


def open_gptcache(embedder: Any, folder: Path) -> Any:
    """An empty cache in a folder, which must outlive the process: it writes once more when that ends.

    Raises `ImportError` where it is not installed.
    """
    import numpy
    from gptcache import Cache, Config
    from gptcache.manager import CacheBase, VectorBase, get_data_manager
    from gptcache.processor.pre import get_prompt
    from gptcache.similarity_evaluation.distance import SearchDistanceEvaluation

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cache = Cache()
    cache.init(
        pre_embedding_func=get_prompt,
        embedding_func=lambda text, **_: numpy.array(embedder.embed(text), dtype="float32"),
        data_manager=get_data_manager(
            CacheBase("sqlite", sql_url=f"sqlite:///{folder / 'sqlite.db'}"),
            VectorBase("faiss", dimension=len(embedder.embed("x")), index_path=str(folder / "faiss.index"))),
        similarity_evaluation=SearchDistanceEvaluation(),
        config=Config(similarity_threshold=0.8),
    )
    return cache
