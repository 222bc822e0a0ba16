"""What comes back from a real listener over a real connection."""

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription

from adaptive.control.controller import AdaptiveController
from adaptive.control.reports import NetworkReport
from transport_webrtc import aiortc_private


async def test_pings_are_answered_and_become_reports(server, ear) -> None:
    one = ear(server)
    await one.connect()
    one.send({"say": "A tone that lasts for a second or two."})
    await one.told("finished")
    snapshot = await one.snapshot()
    network = snapshot["reports"]["network"]
    assert network["source"] == "feedback"
    assert 0 <= network["rtt_ms"] < 200
    assert network["loss"] == 0
    assert network["queue_delay_ms"] >= 0
    assert 0.5 * 4 < one.pings / snapshot["connected_s"] < 1.3 * 4, "four pings a second"
    assert snapshot["opinion"] > 4
    assert one.delays == [snapshot["plan"]["playout_delay_ms"]], "asked once, early"


async def test_a_listener_without_channels_is_known_by_its_rtcp(server) -> None:
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    pc.addTransceiver("audio", "recvonly")
    await pc.setLocalDescription(await pc.createOffer())
    headers = {"Content-Type": "application/sdp"}
    made = await server.client.post("/v1/listen", content=pc.localDescription.sdp, headers=headers)
    await pc.setRemoteDescription(RTCSessionDescription(sdp=made.text, type="answer"))
    url = str(made.url.join(made.headers["location"]))
    await server.client.post(f"{url}/speak", json={"say": "A tone that lasts for a second or two, or three."})
    listener = server.listeners.get(url.rsplit("/", 1)[1])
    await server.until(lambda: (r := listener.network_report) is not None and r.rtt_s is not None)
    report = listener.network_report
    assert report.source == "rtcp"
    assert 0 <= report.rtt_s < 0.2
    await server.until(lambda: listener.network_report.loss is not None)
    assert listener.network_report.loss == 0
    await pc.close()


async def test_a_listener_that_stops_answering_is_noticed(server, ear, monkeypatch) -> None:
    """Nothing arrives, so nothing counts as lost: only the silence tells."""
    seen: list[NetworkReport] = []

    class Recording(AdaptiveController):
        def on_network(self, report: NetworkReport) -> None:
            seen.append(report)
            super().on_network(report)

    monkeypatch.setattr("transport_webrtc.listener.load_controller", lambda name, profile: Recording(profile=profile))
    one = ear(server)
    await one.connect()
    await server.until(lambda: len(seen) > 3)
    assert all(report.rtt_s is not None for report in seen)
    one.deaf = True
    await server.until(lambda: any(report.rtt_s is None and report.loss is None for report in seen))
    await server.until(lambda: next(iter(server.listeners)).plan.reason == "stale")
    one.deaf = False
    await server.until(lambda: seen[-1].rtt_s is not None)


def test_the_private_names_are_there() -> None:
    aiortc_private.check()


def test_a_missing_private_name_is_said(monkeypatch) -> None:
    monkeypatch.delattr(RTCRtpSender, "_handle_rtcp_packet")
    with pytest.raises(aiortc_private.UnsupportedAiortc, match=r"_handle_rtcp_packet.*pip install"):
        aiortc_private.check()
