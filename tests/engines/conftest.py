"""Real clusters of two worker processes each, and small inputs whose dataset is known."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_tools.config import DatasetConfig, PageFilter, RunOptions
from archive_tools.pipeline import build_dataset
from tests import image_fixtures, pdf_fixtures
from tests.engines.object_store import serve_objects

CONFIG = DatasetConfig(filter=PageFilter.NONE, size_px=256, min_size_px=0)


@pytest.fixture(scope="session")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two PDFs, one of them in a ZIP beside two images; a copy; a file that is no PDF."""
    folder = tmp_path_factory.mktemp("scans")
    (folder / "a.pdf").write_bytes(pdf_fixtures.colour_jpeg(pages=5))
    (folder / "bad.pdf").write_bytes(pdf_fixtures.html_named_pdf())
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        archive.writestr("copy.pdf", pdf_fixtures.colour_jpeg(pages=3))
        for number in range(2):
            archive.writestr(
                f"plates/{number}.png", image_fixtures.page_image("PNG", seed=30 + number)
            )
    return folder


@pytest.fixture(scope="session")
def built(scans: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The dataset that `build` makes of them."""
    return build_plainly(scans, tmp_path_factory.mktemp("built") / "dataset.zip")


def build_plainly(scans: Path, out: Path) -> bytes:
    """Return the dataset that `build` makes in this process."""
    list(build_dataset([scans], out, CONFIG, RunOptions(workers=0)))
    return out.read_bytes()


@pytest.fixture(scope="session")
def two_scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a PDF, and another one in a folder below it."""
    folder = tmp_path_factory.mktemp("two_scans")
    (folder / "b").mkdir()
    for name in ("a.pdf", "b/c.pdf"):
        (folder / name).write_bytes(pdf_fixtures.colour_jpeg(pages=3) + name.encode())
    return folder


@pytest.fixture(scope="session")
def two_built(two_scans: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The dataset that `build` makes of them."""
    return build_plainly(two_scans, tmp_path_factory.mktemp("two_built") / "dataset.zip")


@pytest.fixture(scope="session")
def object_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The requests to the object store, one a line."""
    return tmp_path_factory.mktemp("objects") / "requests"


@pytest.fixture(scope="session")
def object_address(object_log: Path) -> Iterator[str]:
    """The one object store of all tests, each of which has a bucket of its own."""
    with serve_objects(object_log) as address:
        yield address


@pytest.fixture(scope="session")
def dask_address() -> Iterator[str]:
    """A Dask cluster of two processes."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="session")
def ray_address() -> Iterator[str]:
    """A Ray cluster of two processes."""
    import ray

    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 2**20
    )
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()
