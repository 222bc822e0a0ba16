"""The WebRTC side of a listener: one peer connection that speaks on one track and takes the channels it is offered."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCIceServer,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)
from aiortc.sdp import candidate_from_sdp

from . import aiortc_private, aiortc_sctp, aiortc_sctp_inbound
from .messages import Refused
from .settings import IceServer
from .signalling import capabilities
from .signalling.capabilities import Capabilities
from .signalling.sdp import MAX_CANDIDATES, Fragment, Offer

log = logging.getLogger(__name__)

MOST_CHANNELS = 16
"""Data channels of one listener at a time; three are of use. What is opened beyond is never answered."""
TOO_MANY = f"This listener has {MOST_CHANNELS} data channels open, and more are not taken: close those you do not use."

NARROW_REPORTS_S = 5.0
"""Between sender reports on a narrow path (the minimum of RFC 3550, section 6.2)."""
CLOSING_S = 5.0
"""A connection that is not closed by then is left to the garbage collector."""


class Peer:
    """Wraps an `RTCPeerConnection`, which it owns; the track is stopped with it."""

    def __init__(
        self,
        track: MediaStreamTrack,
        *,
        ice_servers: Sequence[IceServer],
        loopback: bool,
        on_state: Callable[[str], None],
        on_channel: Callable[[RTCDataChannel], None],
        on_refused: Callable[[Refused], None],
    ) -> None:
        """`loopback`: candidates are gathered on 127.0.0.1 and ::1 too; they are where there is no other address.
        `on_refused` is called for each channel that is not taken."""
        self._track = track
        self._loopback = loopback
        self._on_refused = on_refused
        self._ufrag = ""
        self._candidates = 0
        self._tell_sctp: Callable[[bool], None] = lambda is_narrow: None
        self._is_narrow = False
        # aiortc 1.16 takes an address of IPv6 in a URL for a broken one; browsers, which are told of it too, do not.
        known = [_server(server) for server in ice_servers if "[" not in server.urls]
        self._relays = any(str(server.urls).startswith("turn") for server in known)
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=known))
        transceiver = self.pc.addTransceiver(track, "sendonly")
        transceiver.setCodecPreferences(
            [codec for codec in RTCRtpSender.getCapabilities("audio").codecs if codec.mimeType == "audio/opus"]
        )
        self._transceiver = transceiver
        self.sender = transceiver.sender
        self.pc.on("connectionstatechange", lambda: on_state(self.pc.connectionState))
        self.pc.on("datachannel", on_channel)

    async def answer(self, offer: Offer) -> tuple[str, Capabilities]:
        """The answer, all candidates in it, and what it agrees to. Raises `Refused` where aiortc cannot make sense of
        the offer."""
        self._ufrag, self._candidates = offer.ufrag, offer.candidates
        found = capabilities.read(offer.sdp)
        if found is None:
            raise Refused(400, "The offer's first audio section does not offer Opus (opus/48000/2).")
        try:
            text = capabilities.for_aiortc(offer.sdp, found)
            await self.pc.setRemoteDescription(RTCSessionDescription(sdp=text, type="offer"))
            if self.pc.sctp is not None:
                aiortc_private.outlive_messages(
                    self.pc.sctp,
                    most_channels=MOST_CHANNELS,
                    on_more=lambda: self._on_refused(Refused(429, TOO_MANY)),
                )
                aiortc_sctp_inbound.limit_what_comes(self.pc.sctp, clock=time.monotonic)
                self._tell_sctp = aiortc_sctp.keep_out_of_the_way(self.pc.sctp)
            aiortc_private.send_as(self._transceiver, found.primary)
            aiortc_private.space_reports(self.sender, lambda: NARROW_REPORTS_S if self._is_narrow else 0.0)
            for transceiver in self.pc.getTransceivers():
                if transceiver.sender is not self.sender:
                    transceiver.direction = "inactive"
            aiortc_private.gather_on_loopback(self.sender, always=self._loopback)
            await self.pc.setLocalDescription()
            answer = self.pc.localDescription.sdp
            if "a=candidate:" not in answer:
                raise OSError("no socket could be opened")  # aioice passes that over in silence
        except OSError as error:
            log.warning("A listener was sent away, since no connection could be made: %s.", error.strerror or error)
            raise Refused(
                503, "This server cannot open a connection for one more listener; try again later."
            ) from error
        except Exception as error:
            # aiortc's parser asserts, indexes and converts; a broken offer comes out of it as any of a dozen errors.
            log.info("An offer was refused: %s.", type(error).__name__)
            raise Refused(400, "The offer could not be read as a session description for WebRTC.") from error
        if self._relays and " typ relay" not in answer:
            log.warning("No TURN server gave an address: a listener that needs one hears nothing.")
        return capabilities.for_listener(answer, found), found

    def narrow(self, is_narrow: bool) -> None:
        """The path is narrow, or is not: what nobody needs is left out."""
        self._is_narrow = is_narrow
        self._tell_sctp(is_narrow)

    async def add(self, fragment: Fragment) -> None:
        """Takes candidates that came after the offer, as far as there is room for more. Raises `Refused`."""
        if fragment.ufrag is not None and fragment.ufrag != self._ufrag:
            raise Refused(422, "ICE cannot be restarted here; DELETE this listener and POST a new offer.")
        for mid, line in fragment.candidates[: MAX_CANDIDATES - self._candidates]:
            self._candidates += 1
            candidate = candidate_from_sdp(line)
            candidate.sdpMid = mid
            await self.pc.addIceCandidate(candidate)
        # Without candidates the peer is found when it knocks; an end of them would stop ICE from waiting for that.
        if fragment.complete and self._candidates:
            await self.pc.addIceCandidate(None)

    async def close(self) -> None:
        """Closes the connection, then the track: the other way round, closing may hang."""
        try:
            await asyncio.wait_for(self.pc.close(), CLOSING_S)
        except TimeoutError:
            log.warning("A connection took longer than %.0f s to close.", CLOSING_S)
        except Exception:
            # One that was set up by half, from an offer that was refused, may not close cleanly.
            log.exception("A connection did not close cleanly.")
        self._track.stop()


def _server(server: IceServer) -> RTCIceServer:
    username, credential = server.credentials(time.time())
    return RTCIceServer(urls=server.urls, username=username, credential=credential)
