"""Batches on a Dask cluster: a real scheduler and real workers, on loopback."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from test_batch import GRADUAL, batch, begun, rows, write

from gradual.batch import BatchError
from gradual.batch import cluster as clusters
from gradual.batch.work import Settings

pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")


def _start(*command: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", *map(str, command)], stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """The address of a scheduler with two workers, and all their processes; no nannies: who is killed stays dead. They
    take seconds to start, so the tests share them: the first needs any worker, the second two, the last ends all."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    scheduler = _start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    assert scheduler.stderr is not None
    address = next(found[0] for line in scheduler.stderr if (found := re.findall(r"tcp://127\.0\.0\.1:\d+", line)))
    workers = [_start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                      "--local-directory", tmp_path / f"worker{n}") for n in range(2)]
    yield address, [*workers, scheduler]
    for process in (*workers, scheduler):
        process.kill()
        process.communicate()


def test_same_rows_as_here(cluster: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path) -> None:
    address, _ = cluster
    for n in range(12):
        write(tmp_path / f"t/{n}.csv", "tso" if n % 3 else "sc", seed=n, operations=60)
    write(tmp_path / "t/many.csv", count=800)
    (tmp_path / "t/damaged.csv").write_text("thread,op,address,value\n0,W,x,one\n")
    there = batch(tmp_path / "t", "--out", tmp_path / "there", "--dask", address, "--model", "all")
    here = batch(tmp_path / "t", "--out", tmp_path / "here", "--model", "all")
    assert there.returncode == here.returncode == 1, there.stderr
    pd.testing.assert_frame_equal(rows(tmp_path / "there"), rows(tmp_path / "here"))


def test_a_worker_killed_in_the_middle(cluster: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path) -> None:
    address, workers = cluster
    for n in range(16):
        write(tmp_path / f"t/{n}.csv", seed=n, count=1500)
    command = [*GRADUAL, "batch", str(tmp_path / "t"), "--out", str(tmp_path / "there"), "--dask", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        begun(tmp_path / "there")
        time.sleep(0.3)
        assert process.poll() is None, process.communicate()
        workers[0].send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    batch(tmp_path / "t", "--out", tmp_path / "here")
    assert len(rows(tmp_path / "there")) == 24_000
    pd.testing.assert_frame_equal(rows(tmp_path / "there"), rows(tmp_path / "here"))


def test_a_cluster_that_goes_away(cluster: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path) -> None:
    """Its walltime is over, perhaps: nobody's fault, so nothing is written of what was not done."""
    address, processes = cluster
    write(tmp_path / "t/many.csv", count=6000)
    command = [*GRADUAL, "batch", str(tmp_path / "t"), "--out", str(tmp_path / "there"), "--dask", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        begun(tmp_path / "there")
        for one in processes:
            one.kill()
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert errors.decode().splitlines()[-1].endswith("the same command goes on from there")
    assert b"the cluster is gone" in errors and b"Traceback" not in errors
    assert batch(tmp_path / "t", "--out", tmp_path / "there").returncode == 0
    assert list(rows(tmp_path / "there")["verdict"]) == ["consistent"] * 6000


def test_no_scheduler_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", "1s")
    with pytest.raises(BatchError, match="no Dask scheduler answers there"):
        clusters.Cluster("tcp://127.0.0.1:9", Settings())
    write(tmp_path / "a.csv")
    done = batch(tmp_path / "a.csv", "--out", tmp_path / "r", "--dask", "scheduler")
    assert done.returncode == 2
    assert b"with its port" in done.stderr
    assert b"Traceback" not in done.stderr
