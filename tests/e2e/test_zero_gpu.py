"""The page on ZeroGPU: the real `spaces` package against a device service of the tests.

Every way in which a GPU call can end gives a full triage on the right device and says why there.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import psutil
import pytest
from gradio_client import Client, handle_file

from tests.raw_visitor import RawVisitor
from tests.sample_files import draw_photo, write_bad_photo
from tests.scan_report import check_report
from tests.served_app import ServedApp, serve_app
from tests.waiting import wait_until
from tests.zero_gpu.cpu_torch import CUDA_IN_MAIN_PROCESS
from tests.zero_gpu.device_service import DeviceService, open_device_service
from tests.zero_gpu.tiny_model import write_tiny_model
from vetscanner.classifier import classify
from vetscanner.model_specs import read_spec
from vetscanner.photo import load_photo
from vetscanner.schema import Device

pytestmark = pytest.mark.e2e

FREE = "A GPU was free for this request."
REFUSED = ["/schedule"]
SERVED = ["/schedule", "/allow", "/release"]
# mode -> device, reason for a visitor with a token, reason without one, calls of the service.
MODES: dict[str, tuple[str, str, str, list[str]]] = {
    "ok": ("gpu", FREE, FREE, SERVED),
    "queue-ok": ("gpu", FREE, FREE, SERVED),
    "quota": ("cpu", "your GPU time is used up (", "visitors who are not signed in", REFUSED),
    "runs": ("cpu", "number of GPU runs is used up", "visitors who are not signed in", REFUSED),
    "illegal-duration": ("cpu", "more GPU time than one", "more GPU time than one", REFUSED),
    "pending-credits": ("cpu", "credits are held", "credits are held", REFUSED),
    "queue-failed": ("cpu", "no GPU became free", "no GPU became free", REFUSED),
    "queue-ends": ("cpu", "service reported", "service reported", REFUSED),
    "503": ("cpu", "no GPU was free", "no GPU was free", REFUSED),
    "401": ("cpu", "has expired", "has expired", REFUSED),
    "500": ("cpu", "service reported", "service reported", REFUSED),
    "dropped": ("cpu", "could not be reached", "could not be reached", REFUSED),
    "nonsense": ("cpu", "service reported", "service reported", REFUSED),
    "killed": ("cpu", "was stopped", "was stopped", SERVED),
    "allow-refused": ("cpu", "worker failed", "worker failed", SERVED),
    "release-500": ("cpu", "service reported", "service reported", SERVED),
    "no-cuda": ("cpu", "worker failed", "worker failed", SERVED),
    "cuda-full": ("cpu", "too little memory", "too little memory", SERVED),
}
ENDED_WELL = {"ok", "queue-ok", "release-500"}


def make_token(user: str) -> str:
    """Return a token in the form of Hugging Face's proxy (whose signature nobody here checks)."""
    payload = base64.urlsafe_b64encode(json.dumps({"user": user}).encode()).decode().rstrip("=")
    return f"header.{payload}.signature"


TOKEN = make_token("farmer")


@dataclass(frozen=True, slots=True)
class Space:
    """The page on ZeroGPU, its device service, and two visitors."""

    service: DeviceService
    app: ServedApp
    model: Path
    offload_folder: Path
    anonymous: Client
    signed_in: Client


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """One page for the module, with a small model of its own."""
    folder = tmp_path_factory.mktemp("zero")
    model, offload = write_tiny_model(folder / "model"), folder / "offload"
    with open_device_service() as service:
        environment = {
            "SPACES_ZERO_GPU": "true",
            "SPACES_ZERO_DEVICE_API_URL": service.url,
            "VETSCANNER_MODEL": str(model),
            "ZEROGPU_OFFLOAD_DIR": str(offload),
        }
        command = ("-m", "tests.zero_gpu.run_app")
        with serve_app(folder / "served", environment=environment, command=command) as app:
            downloads = folder / "downloads"
            yield Space(
                service,
                app,
                model,
                offload,
                Client(app.url, verbose=False, download_files=downloads),
                Client(
                    app.url,
                    verbose=False,
                    download_files=downloads,
                    headers={"X-IP-Token": TOKEN},
                ),
            )
            assert CUDA_IN_MAIN_PROCESS not in app.read_log()


@pytest.fixture
def service(space: Space) -> Iterator[DeviceService]:
    """The device service with an empty record; afterwards no worker is left behind."""
    space.service.mode = "ok"
    space.service.modes_by_token.clear()
    space.service.forget()
    yield space.service
    space.service.evict()
    assert wait_until(lambda: not space.app.list_children()), space.app.list_children()


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photo that can be read."""
    return draw_photo(tmp_path_factory.mktemp("photos") / "cow.jpg")


def triage(client: Client, *photos: Path) -> dict[str, Any]:
    """Ask for a triage and check that it is a full one."""
    files = [handle_file(str(photo)) for photo in photos]
    report: dict[str, Any] = client.predict(files, ["fever"], "en", api_name="/triage")
    assert len(report["photos"]) == len(photos)
    check_report(report)
    return report


def probabilities(report: dict[str, Any]) -> list[float]:
    return list(report["photos"][0]["probabilities"].values())


@pytest.mark.parametrize("has_token", [True, False], ids=["token", "anonymous"])
@pytest.mark.parametrize("mode", MODES)
def test_every_ending_of_a_gpu_call_gives_a_full_triage(
    space: Space, service: DeviceService, photo: Path, mode: str, has_token: bool
) -> None:
    device, reason_with_token, reason_without, calls = MODES[mode]
    service.mode = mode
    report = triage(space.signed_in if has_token else space.anonymous, photo)

    assert report["device"] == device
    assert (reason_with_token if has_token else reason_without) in report["device_reason"]
    assert "<" not in report["device_reason"]
    assert service.paths() == calls
    (asked,) = service.find("/schedule")
    assert asked.get("token") == (TOKEN if has_token else None)
    assert 0 < int(asked["durationSeconds"]) <= 10
    if calls == SERVED:
        (allowed,), (released,) = service.find("/allow"), service.find("/release")
        assert released["allowToken"] == allowed["allowToken"]
        assert released["fail"] == str(mode not in ENDED_WELL).lower()


def test_gpu_and_cpu_answer_as_the_model_itself_does(
    space: Space, service: DeviceService, photo: Path
) -> None:
    """A model at module level, packed away at the start, would answer zeros on the CPU."""
    spec, pixels = read_spec(space.model), load_photo(photo, "cow.jpg").pixels
    expected = list(classify([pixels], spec, Device.CPU, "").predictions[0].probabilities.values())
    assert max(expected) > 0.2  # unlike the even shares that zeros give
    on_gpu = triage(space.anonymous, photo)
    service.mode = "quota"
    on_cpu = triage(space.anonymous, photo)
    assert (on_gpu["device"], on_cpu["device"]) == ("gpu", "cpu")
    np.testing.assert_allclose(probabilities(on_gpu), expected, atol=1e-3)
    np.testing.assert_allclose(probabilities(on_cpu), expected, atol=1e-3)
    assert not space.offload_folder.exists(), "tensors on CUDA were packed at the start"


def test_an_idle_worker_serves_again(space: Space, service: DeviceService, photo: Path) -> None:
    triage(space.anonymous, photo)
    service.mode = "idle"
    assert triage(space.anonymous, photo)["device"] == "gpu"
    assert service.paths() == [*SERVED, "/schedule", "/release"]
    assert len(set(service.workers.values()) & set(service.live_workers())) == 1


def test_more_photos_ask_for_more_time(space: Space, service: DeviceService, photo: Path) -> None:
    triage(space.anonymous, photo)
    triage(space.anonymous, *[photo] * 12)
    one, twelve = (int(asked["durationSeconds"]) for asked in service.find("/schedule"))
    assert one < twelve <= 20


def test_a_bad_photo_asks_for_no_gpu(
    space: Space, service: DeviceService, tmp_path: Path, photo: Path
) -> None:
    bad = write_bad_photo(tmp_path, "text")
    files = [handle_file(str(bad))]
    report = space.anonymous.predict(files, ["fever"], "en", api_name="/triage")
    assert report["photo_errors"]
    assert service.calls == []
    files.append(handle_file(str(photo)))
    report = space.anonymous.predict(files, ["fever"], "en", api_name="/triage")
    assert (report["device"], len(report["photos"])) == ("gpu", 1)
    assert service.paths() == SERVED


def test_messages_reach_only_the_visitor_who_queues(
    space: Space, service: DeviceService, photo: Path
) -> None:
    queueing, hurried = make_token("queueing"), make_token("hurried")
    service.modes_by_token = {queueing: "queue-ok", hurried: "503"}
    visitors = [RawVisitor(space.app.url, {"X-IP-Token": token}) for token in (queueing, hurried)]
    for visitor in visitors:
        visitor.ask("triage", [visitor.upload(photo)], ["fever"], "en")
    threads = [Thread(target=visitor.wait_for_answer) for visitor in visitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logs = [[m["log"] for m in visitor.messages if m["msg"] == "log"] for visitor in visitors]
    reports = [visitor.messages[-1]["output"]["data"][0] for visitor in visitors]
    for visitor in visitors:
        visitor.close()
    assert "Waiting for a GPU to become available" in logs[0]
    assert logs[1] == []
    assert [report["device"] for report in reports] == ["gpu", "cpu"]
    assert {asked["token"] for asked in service.find("/schedule")} == {queueing, hurried}


def test_a_visitor_who_leaves_the_gpu_queue_is_not_served_on_the_cpu(
    space: Space, service: DeviceService, photo: Path
) -> None:
    service.mode = "queue-forever"
    closed_before, log_before = service.streams_closed, len(space.app.read_log())
    with RawVisitor(space.app.url) as visitor:
        visitor.ask("triage", [visitor.upload(photo)], ["fever"], "en")
        assert wait_until(lambda: bool(service.find("/schedule")))
    assert wait_until(lambda: service.streams_closed > closed_before)
    service.mode = "ok"
    assert triage(space.anonymous, photo)["device"] == "gpu"
    log = space.app.read_log()[log_before:]
    assert "the CPU answers" not in log
    assert "Traceback" not in log


def test_a_visitor_who_leaves_during_gpu_work_leaves_nothing(
    space: Space, service: DeviceService, photo: Path
) -> None:
    service.mode = "slow"
    with RawVisitor(space.app.url) as visitor:
        visitor.ask("triage", [visitor.upload(photo)], ["fever"], "en")
        assert wait_until(lambda: bool(service.find("/allow")))
    assert wait_until(lambda: bool(service.find("/release")))
    assert service.find("/release")[0]["fail"] == "false"


def test_workers_that_come_and_go_leave_no_thread_or_file(
    space: Space, service: DeviceService, photo: Path
) -> None:
    def measure_without_workers() -> tuple[int, int]:
        service.evict()
        assert wait_until(lambda: not space.app.list_children())
        server = psutil.Process(space.app.pid)
        return server.num_threads(), server.num_fds()

    triage(space.anonymous, photo)
    threads, files = measure_without_workers()
    for mode in ["ok", "killed", "cuda-full", "no-cuda"] * 8:
        service.mode = mode
        triage(space.anonymous, photo)
    service.mode = "ok"
    triage(space.anonymous, photo)
    threads_after, files_after = measure_without_workers()
    # A worker has two pipes and a thread that waits for its end. Some are in cycles until the
    # collector comes by, every eight models: 32 workers for ever would be 64 to 128 files.
    assert threads_after <= threads + 8
    assert files_after <= files + 36


def test_many_visitors_at_once_on_every_ending(
    space: Space, service: DeviceService, photo: Path
) -> None:
    modes = ["ok", "503", "quota", "queue-ok", "dropped", "ok", "500", "queue-failed"] * 2
    tokens = [make_token(f"visitor {number}") for number in range(len(modes))]
    service.modes_by_token = dict(zip(tokens, modes, strict=True))
    visitors = [RawVisitor(space.app.url, {"X-IP-Token": token}) for token in tokens]
    for visitor in visitors:
        visitor.ask("triage", [visitor.upload(photo)], ["fever"], "en")
    answers = [visitor.wait_for_answer() for visitor in visitors]
    for visitor in visitors:
        visitor.close()
    devices = [answer["output"]["data"][0]["device"] for answer in answers]
    assert devices == [MODES[mode][0] for mode in modes]
    assert len(service.find("/release")) == devices.count("gpu")
