"""What the tests share: small indexes in temporary folders, and a cluster of Ray."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from s3_server import S3Server

import gannet

# Before anything imports Ray: nothing is sent anywhere, and all is bound to 127.0.0.1.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

BOOKS = [
    {"id": "1", "title": "Moby-Dick", "body": "Call me Ishmael. The white whale.", "year": 1851},
    {"id": "2", "title": "A Tale of Two Cities", "body": "It was the best of times.", "year": 1859},
    {"id": "3", "title": "The Whale", "body": "A whale, a harpoon and a rope.", "year": 1851},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "books.gnt"


@pytest.fixture
def ix(path: Path) -> Iterator[gannet.Index]:
    """An empty index."""
    with gannet.open(path, memory="16MiB") as index:
        yield index


@pytest.fixture
def books(ix: gannet.Index) -> gannet.Index:
    """An index of three books."""
    ix.add(BOOKS)
    return ix


NODE: dict[str, Any] = {
    "num_cpus": 2,
    "node_ip_address": "127.0.0.1",
    "object_store_memory": 80 << 20,
}
"""What a node of the cluster has. Processors are only numbers to Ray."""


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A server for URLs with s3://, which all processes find."""
    server = S3Server()
    with mock.patch.dict(os.environ, server.environment):
        yield server
    server.close()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, s3: S3Server) -> Iterator[Any]:
    """A cluster of two nodes on this machine, which ends with the tests."""
    import ray.data
    from ray.cluster_utils import Cluster

    quick = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
    made = Cluster()
    # Ray gives it no types.
    stop: Any = made.shutdown
    try:
        made.add_node(**NODE, include_dashboard=False, _system_config=quick)
        made.add_node(**NODE)
        # Workers look for modules where the program is, and there is a gannet without its engine.
        with contextlib.chdir(tmp_path_factory.mktemp("driver")):
            ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made
    finally:
        ray.shutdown()
        stop()
