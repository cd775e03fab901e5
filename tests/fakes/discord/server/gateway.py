"""The fake Discord's gateway: one WebSocket, its session, and what can go wrong with both.

Owns the protocol from HELLO to RESUME. Every event is kept with its number, so that a session can be taken up again.
"""

import asyncio
from typing import Any, Final

from aiohttp import WSMsgType, web

from tests.fakes.discord.server.rest import gateway_user, guild
from tests.fakes.discord.server.state import BOT_ID, GUILD_ID, JSON, DiscordState

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID_SESSION, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
_MESSAGE_CONTENT: Final = 1 << 15


class Gateway:
    """The gateway of one state.

    Args:
        token: what a client must name itself with.
    """

    def __init__(self, state: DiscordState, token: str) -> None:
        self._state = state
        self._token = token
        self.url = ""
        self.received: list[int] = []
        self.intents: list[int] = []
        self.resumed = asyncio.Event()
        self._events: list[JSON] = []
        self._session = 0
        self._socket: web.WebSocketResponse | None = None

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one socket until either side closes it."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": HELLO, "d": {"heartbeat_interval": 41250}, "s": None, "t": None})
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                break
            payload = message.json()
            self.received.append(payload["op"])
            await self._answer(socket, payload["op"], payload["d"])
        return socket

    async def _answer(self, socket: web.WebSocketResponse, op: int, data: Any) -> None:
        if op == HEARTBEAT:
            await socket.send_json({"op": ACK})
        elif op == IDENTIFY:
            await self._identify(socket, data)
        elif op == RESUME:
            await self._resume(socket, data)

    async def _identify(self, socket: web.WebSocketResponse, data: JSON) -> None:
        self.intents.append(data["intents"])
        if data["token"] != self._token:
            await socket.close(code=4004, message=b"Authentication failed.")
            return
        if data["intents"] & _MESSAGE_CONTENT and not self._state.shows_content:
            await socket.close(code=4014, message=b"Disallowed intent(s).")
            return
        self._session += 1
        self._events, self._socket = [], socket
        ready = {
            "v": 10,
            "user": gateway_user(self._state),
            "guilds": [{"id": str(GUILD_ID), "unavailable": True}],
            "session_id": str(self._session),
            "resume_gateway_url": self.url,
            "application": {"id": str(BOT_ID), "flags": 1 << 19},
            "shard": data.get("shard"),
        }
        await self.send("READY", ready)
        await self.send("GUILD_CREATE", self._guild())

    async def _resume(self, socket: web.WebSocketResponse, data: JSON) -> None:
        if data["session_id"] != str(self._session):
            await socket.send_json({"op": INVALID_SESSION, "d": False})
            return
        self._socket = socket
        for event in self._events:
            if event["s"] > data["seq"]:
                await socket.send_json(event)
        await self.send("RESUMED", {})
        self.resumed.set()

    async def send(self, name: str, data: JSON) -> JSON:
        """Tell the client of an event, now or when it takes its session up again."""
        event = {"op": DISPATCH, "t": name, "s": len(self._events) + 1, "d": data}
        self._events.append(event)
        if self._socket is not None and not self._socket.closed:
            await self._socket.send_json(event)
        return event

    async def send_again(self, *events: JSON) -> None:
        """Tell the client of past events once more, in this order, with the numbers that they had."""
        assert self._socket is not None
        for event in events:
            await self._socket.send_json(event)

    def expects(self, token: str) -> None:
        """From now on only this token is known."""
        self._token = token

    async def drop(self) -> None:
        """Close the socket in a way that lets the client take its session up again; events wait meanwhile."""
        socket, self._socket = self._socket, None
        assert socket is not None
        self.resumed.clear()
        await socket.close(code=4000)

    async def ask_to_reconnect(self) -> None:
        """Ask the client to connect again, as Discord does before it restarts a gateway."""
        socket, self._socket = self._socket, None
        assert socket is not None
        self.resumed.clear()
        await socket.send_json({"op": RECONNECT, "d": None})

    async def invalidate(self) -> None:
        """Forget the session: the client must identify again."""
        socket, self._socket = self._socket, None
        assert socket is not None
        self._session += 1
        await socket.send_json({"op": INVALID_SESSION, "d": False})

    def _guild(self) -> JSON:
        lists = ("threads", "voice_states", "presences", "stage_instances")
        more = ("guild_scheduled_events", "soundboard_sounds")
        return (
            guild(self._state)
            | {name: [] for name in (*lists, *more)}
            | {
                "channels": list(self._state.channels.values()),
                "members": [self._state.members[BOT_ID]],
                "unavailable": False,
                "member_count": len(self._state.members),
                "large": False,
                "joined_at": self._state.clock().isoformat(),
            }
        )
