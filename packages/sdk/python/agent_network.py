"""Agent Network in one file: call agents, pay for calls, and serve an agent. Python 3.9 or newer, no packages.

Call an agent, paid from a treasury (an API key), or by a wallet (x402):

    from agent_network import Client, Payer
    client = Client("https://node.example", "ank_live_...")
    record = client.invoke("agt_...", "say hello", max_cost="0.05")
    print(record["result"], record["cost"])

    wallet = Payer(os.environ["WALLET_KEY"], max_per_call="0.10")
    record = Client("https://node.example", payer=wallet).invoke("agt_...", "say hello", max_cost="0.05")

Serve an agent:

    from agent_network import agent

    @agent("Shouter", capabilities=["shouting"], price="0.01")
    def shout(call):
        return {"text": call.task.upper()}

    shout.serve("https://node.example", "ank_live_...", token_file="shouter.json", endpoint="https://me.example/")

From a shell: `python3 agent_network.py --help`. The address of the node and the API key come from AGENT_NETWORK_URL and
AGENT_NETWORK_KEY, the private key of a wallet from AGENT_NETWORK_WALLET.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import hashlib
import hmac
import http.client
import inspect
import json
import os
import random
import re
import secrets
import select
import socket
import sys
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections import OrderedDict
from datetime import datetime, timezone
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

__version__ = "0.1.0"
__all__ = [
    "Agent", "AgentError", "ApiError", "Ask", "Call", "Client", "Event", "InputRequired", "InvocationFailed",
    "InvocationTimeout", "NetworkError", "NoAnswer", "PaymentRefused", "Payer", "Result", "agent", "progress",
]  # fmt: skip

MAX_ANSWER_BYTES = 32 * 1024 * 1024


# --- Errors ---------------------------------------------------------------------------------------------------------


class NetworkError(Exception):
    """Base class of the errors of this module.

    `idempotency_key` and `payment` are those of the call that failed. Pass both to the same call to repeat it: it is
    done once, and paid once.
    """

    idempotency_key: Optional[str] = None
    payment: Optional[str] = None


class ApiError(NetworkError):
    """The node answered with an error. `code` never changes; `error` has all its fields."""

    def __init__(self, status: int, error: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.status, self.error, self.headers = status, dict(error), headers
        self.code: str = error["code"]


class NoAnswer(NetworkError):
    """No usable answer came: whether the call was done is not known. Repeat it with its key and payment."""

    def __init__(self, message: str, status: Optional[int] = None, retry_after: Optional[str] = None) -> None:
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


class InvocationFailed(NetworkError):
    """The request ended without a result. `record` has the reason and the refund."""

    def __init__(self, record: Dict[str, Any]) -> None:
        super().__init__((record.get("error") or {}).get("message") or f"the request was {record['status']}")
        self.record = record


class InputRequired(NetworkError):
    """The agent asks back, and the call waits: answer with `client.answer`, then `client.wait`."""

    def __init__(self, record: Dict[str, Any]) -> None:
        super().__init__(f"{record['requestId']} waits for an answer: {record['inputRequest']['message']}")
        self.record = record


class InvocationTimeout(NetworkError):
    """The request goes on; `Client.wait(request_id)` reads it later."""

    def __init__(self, request_id: str, result_token: Optional[str]) -> None:
        super().__init__(f"the request {request_id} has not ended yet")
        self.request_id, self.result_token = request_id, result_token


class PaymentRefused(NetworkError):
    """The payer signed nothing. `reason` is a code: above_cap, above_total, unknown_asset, malformed_terms."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


# --- Keccak-256 and secp256k1 ---------------------------------------------------------------------------------------

_MASK = (1 << 64) - 1
_ROTATIONS = ((0, 36, 3, 41, 18), (1, 44, 10, 45, 2), (62, 6, 43, 15, 61), (28, 55, 25, 21, 56), (27, 20, 39, 8, 14))


def _round_constants() -> List[int]:
    constants, state = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if state & 1:
                constant |= 1 << ((1 << bit) - 1)
            state = (state << 1) ^ (0x171 if state & 0x80 else 0)
        constants.append(constant)
    return constants


_ROUNDS = _round_constants()


def _permute(a: List[List[int]]) -> List[List[int]]:
    def rotate(value: int, by: int) -> int:
        return ((value << by) | (value >> (64 - by))) & _MASK

    for constant in _ROUNDS:
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[x - 1] ^ rotate(c[(x + 1) % 5], 1) for x in range(5)]
        b = [[0] * 5 for _ in range(5)]
        for x in range(5):
            for y in range(5):
                b[y][(2 * x + 3 * y) % 5] = rotate(a[x][y] ^ d[x], _ROTATIONS[x][y])
        a = [[b[x][y] ^ (~b[(x + 1) % 5][y] & b[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        a[0][0] ^= constant
    return a


def keccak256(data: bytes) -> bytes:
    """Keccak-256 as Ethereum has it: SHA-3 before its standard, with another padding than hashlib's."""
    padded = bytearray(data) + b"\x01" + bytes(-(len(data) + 1) % 136)
    padded[-1] |= 0x80
    state = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), 136):
        for lane in range(17):
            at = start + lane * 8
            state[lane % 5][lane // 5] ^= int.from_bytes(padded[at : at + 8], "little")
        state = _permute(state)
    return b"".join(state[lane][0].to_bytes(8, "little") for lane in range(4))


_P = 2**256 - 2**32 - 977
_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_Point = Optional[Tuple[int, int]]
_G: _Point = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def _add(one: _Point, other: _Point) -> _Point:
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2:
        if (y1 + y2) % _P == 0:
            return None
        slope = 3 * x1 * x1 * pow(2 * y1, -1, _P) % _P
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, _P) % _P
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _multiply(scalar: int, point: _Point) -> _Point:
    # Adds in each step, so that the time does not tell how many bits of a key are set.
    total: _Point = None
    for bit in range(255, -1, -1):
        total = _add(total, total)
        added = _add(total, point)
        total = added if scalar >> bit & 1 else total
    return total


def _nonces(key: int, digest: bytes) -> Iterator[int]:
    """The nonces of RFC 6979 for SHA-256: the same key and digest have the same signature."""
    seed = key.to_bytes(32, "big") + (int.from_bytes(digest, "big") % _N).to_bytes(32, "big")
    v, k = b"\x01" * 32, bytes(32)
    for mark in (b"\x00", b"\x01"):
        k = hmac.new(k, v + mark + seed, hashlib.sha256).digest()
        v = hmac.new(k, v, hashlib.sha256).digest()
    while True:
        v = hmac.new(k, v, hashlib.sha256).digest()
        nonce = int.from_bytes(v, "big")
        if 0 < nonce < _N:
            yield nonce
        k = hmac.new(k, v + b"\x00", hashlib.sha256).digest()
        v = hmac.new(k, v, hashlib.sha256).digest()


def _recovered(digest: bytes, r: int, s: int, parity: int) -> _Point:
    y = pow((pow(r, 3, _P) + 7) % _P, (_P + 1) // 4, _P)
    point = (r, y if y & 1 == parity else _P - y)
    inverse, z = pow(r, -1, _N), int.from_bytes(digest, "big")
    return _add(_multiply(s * inverse % _N, point), _multiply(-z * inverse % _N, _G))


def _fitting(signature: bytes, key: int, digest: bytes) -> bytes:
    """The signature, if it is that of the key: no other one is ever sent."""
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    is_formed = len(signature) == 65 and 0 < r < _N and 0 < s <= _N // 2 and signature[64] in (27, 28)
    if not is_formed or _recovered(digest, r, s, signature[64] - 27) != _multiply(key, _G):
        raise RuntimeError("a signature does not fit its key; nothing was paid")
    return signature


def sign_digest(key: int, digest: bytes) -> bytes:
    """Signs 32 bytes: r, s (the lower one) and v, 65 bytes. The signature is checked before it is returned."""
    z = int.from_bytes(digest, "big")
    for nonce in _nonces(key, digest):
        point = _multiply(nonce, _G)
        if point is None or not 0 < point[0] < _N:
            continue
        r, parity = point[0], point[1] & 1
        s = pow(nonce, -1, _N) * (z + r * key) % _N
        if s == 0:
            continue
        if s > _N // 2:
            s, parity = _N - s, parity ^ 1
        return _fitting(r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + parity]), key, digest)
    raise AssertionError("unreachable")


def _checksummed(address: bytes) -> str:
    text = address.hex()
    digest = keccak256(text.encode()).hex()
    return "0x" + "".join(c.upper() if int(mark, 16) > 7 else c for c, mark in zip(text, digest))


def address_of(key: int) -> str:
    """The address of a private key, with the checksum of EIP-55."""
    point = _multiply(key, _G)
    assert point is not None
    return _checksummed(keccak256(point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big"))[12:])


def _require_sound() -> None:
    """Compares with known values, once: nothing is signed by arithmetic that is wrong."""
    empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    if keccak256(b"").hex() != empty or address_of(1) != "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf":
        raise RuntimeError("keccak256 or secp256k1 computes wrongly on this machine: nothing was signed")


# --- Paying (x402, EIP-3009) ----------------------------------------------------------------------------------------

# USDC as its issuer deployed it, by CAIP-2 network: Base and Base Sepolia.
USDC: Mapping[str, str] = {
    "eip155:8453": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "eip155:84532": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
}
_DOMAIN_TYPE = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
_TRANSFER_TYPE = (
    b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,"
    b"bytes32 nonce)"
)
_MAX_VALIDITY_S = 3600
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def _micro(amount: str) -> int:
    """Micro-USDC of an amount such as "0.05"."""
    if not isinstance(amount, str) or not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", amount):
        raise ValueError(f'{amount!r} is not an amount in USDC: use a text with at most 6 decimals, such as "0.05"')
    return int(Decimal(amount) * 1_000_000)


def _word(value: Any) -> bytes:
    if isinstance(value, int):
        return value.to_bytes(32, "big")
    return bytes.fromhex(value[2:]).rjust(32, b"\0")


def transfer_digest(offer: Mapping[str, Any], authorization: Mapping[str, str]) -> bytes:
    """The EIP-712 digest of a transfer (EIP-3009) of the token of an offer."""
    extra = offer["extra"]
    domain = [
        keccak256(_DOMAIN_TYPE),
        keccak256(extra["name"].encode()),
        keccak256(extra["version"].encode()),
        _word(int(offer["network"].split(":")[1])),
        _word(offer["asset"]),
    ]
    numbers = [_word(int(authorization[name])) for name in ("value", "validAfter", "validBefore")]
    fields = [_word(authorization["from"]), _word(authorization["to"]), *numbers, _word(authorization["nonce"])]
    message = keccak256(b"".join([keccak256(_TRANSFER_TYPE), *fields]))
    return keccak256(b"\x19\x01" + keccak256(b"".join(domain)) + message)


class Payer:
    """Pays 402 answers in USDC from a wallet (x402 v2, scheme `exact`).

    Network, token, amount and validity are checked before anything is signed: nothing above `max_per_call`, and
    together nothing above `max_total` (USDC, as texts). `tokens` are the contracts to pay with, by network.
    Signatures are made by `eth_account` where it is installed. Otherwise they are made in Python, whose arithmetic does
    not hide a key from programs that measure it on the same machine: use a wallet with little money.
    """

    def __init__(
        self,
        private_key: str,
        *,
        max_per_call: str,
        max_total: Optional[str] = None,
        tokens: Mapping[str, str] = USDC,
    ) -> None:
        if not isinstance(private_key, str) or not re.fullmatch(r"(0x)?[0-9a-fA-F]{64}", private_key):
            raise ValueError("private_key must be 64 hexadecimal digits, with or without 0x")
        self._key = int(private_key[-64:], 16)
        if not 0 < self._key < _N:
            raise ValueError("private_key is not a key of secp256k1")
        _require_sound()
        self._max_per_call = _micro(max_per_call)
        self._left = None if max_total is None else _micro(max_total)
        self._tokens = dict(tokens)
        self._lock = threading.Lock()
        self.address = address_of(self._key)

    def __repr__(self) -> str:
        return f"Payer({self.address})"

    def pay(self, terms_header: str) -> str:
        """Signs one payment for the PAYMENT-REQUIRED header of a 402. Returns the PAYMENT-SIGNATURE header."""
        terms = self._read(terms_header)
        offer = self._choose(terms["accepts"])
        amount = int(offer["amount"])
        with self._lock:
            if self._left is not None:
                if amount > self._left:
                    raise PaymentRefused("above_total", "max_total is used up; nothing was paid")
                self._left -= amount
        authorization = self._authorize(offer, amount)
        digest = transfer_digest(offer, authorization)
        payload = {"signature": "0x" + self._sign(digest).hex(), "authorization": authorization}
        payment = {"x402Version": 2, "resource": terms.get("resource", {}), "accepted": offer, "payload": payload}
        return base64.b64encode(json.dumps(payment).encode()).decode()

    def _authorize(self, offer: Mapping[str, Any], amount: int) -> Dict[str, str]:
        offered = offer["extra"].get("nonce")
        # A nonce of the offer is bound to this purchase: nobody else can use a payment that is signed under it.
        is_bound = isinstance(offered, str) and re.fullmatch(r"0x[0-9a-f]{64}", offered)
        now = int(time.time())
        return {
            "from": self.address,
            "to": offer["payTo"],
            "value": str(amount),
            "validAfter": str(now - 600),
            "validBefore": str(now + offer["maxTimeoutSeconds"]),
            "nonce": offered if is_bound else "0x" + secrets.token_hex(32),
        }

    def _sign(self, digest: bytes) -> bytes:
        try:
            from eth_account import Account  # type: ignore[import-not-found]
        except ImportError:
            return sign_digest(self._key, digest)
        sign = getattr(Account, "unsafe_sign_hash", None) or Account.signHash
        return _fitting(bytes(sign(digest, self._key.to_bytes(32, "big")).signature), self._key, digest)

    @staticmethod
    def _read(header: str) -> Dict[str, Any]:
        try:
            text = header.translate(str.maketrans("-_", "+/"))
            terms = json.loads(base64.b64decode(text + "=" * (-len(text) % 4)))
            if isinstance(terms["accepts"], list) and terms["x402Version"] == 2:
                return terms
        except (ValueError, TypeError, LookupError):
            pass
        raise PaymentRefused("malformed_terms", "the 402 has no readable terms of x402 version 2; nothing was paid")

    def _choose(self, offers: Sequence[Any]) -> Dict[str, Any]:
        known = [offer for offer in offers if self._is_known(offer)]
        if not known:
            raise PaymentRefused("unknown_asset", "no offer asks for USDC on a known network; nothing was paid")
        cheapest = min(known, key=lambda offer: int(offer["amount"]))
        if int(cheapest["amount"]) > self._max_per_call:
            text = f"the call costs {Decimal(cheapest['amount']) / 1_000_000} USDC, which is above max_per_call"
            raise PaymentRefused("above_cap", f"{text}; nothing was paid")
        return cheapest

    def _is_known(self, offer: Any) -> bool:
        def text(name: str, pattern: str) -> bool:
            return isinstance(offer.get(name), str) and re.fullmatch(pattern, offer[name]) is not None

        if not isinstance(offer, dict) or offer.get("scheme") != "exact" or not isinstance(offer.get("extra"), dict):
            return False
        extra, validity = offer["extra"], offer.get("maxTimeoutSeconds")
        return (
            text("network", r"eip155:\d{1,15}")
            and text("asset", _ADDRESS.pattern)
            and text("payTo", _ADDRESS.pattern)
            and text("amount", r"\d{1,30}")
            and offer["asset"].lower() == self._tokens.get(offer["network"], "").lower()
            and extra.get("assetTransferMethod", "eip3009") == "eip3009"
            and isinstance(extra.get("name"), str)
            and isinstance(extra.get("version"), str)
            and isinstance(validity, int)
            and 0 < validity <= _MAX_VALIDITY_S
        )


# --- Calling agents -------------------------------------------------------------------------------------------------


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A node redirects no call: key, payment and task are for it alone."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)
_PASSING = ("RATE_LIMITED", "UNAVAILABLE", "PAYMENT_PENDING")
_MAX_PAID_RETRIES = 8
_MAX_RETRY_AFTER_S = 30
_ENDED = ("completed", "failed", "cancelled")


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a stream: `type` such as `invocation.chunk`, its data, and its id to resume from."""

    type: str
    data: Dict[str, Any]
    id: Optional[str]


def _read_error(status: int, headers: Mapping[str, str], body: bytes) -> NetworkError:
    try:
        error = json.loads(body)["error"]
        if isinstance(error["code"], str) and isinstance(error["message"], str):
            return ApiError(status, error, headers)
    except (ValueError, LookupError, TypeError):
        pass
    return NoAnswer(f"something other than the node answered with {status}", status, headers.get("Retry-After"))


Answer = Union[Mapping[str, Any], str, None]
OnInput = Callable[[Dict[str, Any]], Answer]


class Client:
    """A client of one node. Without an API key it reads, and calls agents that its payer's wallet pays (`/x402`).

    Every POST has an Idempotency-Key, and a paid one its payment: a repetition, by the client or by you, is the same
    call and is never paid twice.
    """

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        payer: Optional[Payer] = None,
        timeout: float = 60.0,
        max_retries: int = 3,
    ) -> None:
        if not re.match(r"https?://", base_url):
            raise ValueError("base_url must begin with https:// or http://")
        self.base_url, self._key, self.payer = base_url.rstrip("/"), api_key, payer
        self._timeout, self._max_retries = timeout, max_retries

    def __repr__(self) -> str:
        return f"Client({self.base_url})"

    # Reading

    def search(
        self,
        text: Optional[str] = None,
        *,
        capability: Optional[str] = None,
        max_price: Optional[str] = None,
        online: Optional[bool] = True,
        limit: int = 20,
    ) -> List[Dict[str, Any]]:
        """Finds agents by a text, a capability and a price: the best match first."""
        query: Dict[str, Any] = {}
        if text is not None:
            query["text"] = text
        if capability is not None:
            query["capabilities"] = {"all": [capability]}
        if max_price is not None:
            query["rates"] = {"perRequest": {"max": max_price}}
        if online is not None:
            query["online"] = online
        return self.request("POST", "/agents/search", {"query": query, "limit": limit})["agents"]

    def agent(self, agent_id: str) -> Dict[str, Any]:
        """Reads one agent: its price, types, reputation and addresses."""
        return self.request("GET", f"/agents/{_segment(agent_id)}")

    def quote(self, agent_id: str, task: str, **fields: Any) -> Dict[str, Any]:
        """Locks the price of a call for 15 minutes: pass its `quoteId` to `invoke`."""
        return self.request("POST", f"/invoke/{_segment(agent_id)}/quote", {"task": task, **fields})

    def balance(self) -> Dict[str, Any]:
        """Reads the balance of the account."""
        return self.request("GET", "/payments/balance")

    def get(self, request_id: str, *, result_token: Optional[str] = None) -> Dict[str, Any]:
        """Reads a request. One that was made without a key is read with the `resultToken` of its answer."""
        headers = {} if result_token is None else {"X-Result-Token": result_token}
        return self.request("GET", f"/invoke/{_segment(request_id)}", headers=headers)

    # Calling

    def invoke(
        self,
        agent_id: str,
        task: str,
        *,
        input: Optional[Mapping[str, Any]] = None,
        max_cost: Optional[str] = None,
        wait: bool = True,
        timeout: float = 600.0,
        quote: Optional[str] = None,
        on_input: Optional[OnInput] = None,
        idempotency_key: Optional[str] = None,
        payment: Optional[str] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """Calls an agent by its id, slug or unique name; returns the record: `result`, `cost`, `requestId`.

        `max_cost` bounds what may be charged. `fields` are further fields of the body, such as capability or priority.
        With `wait=False` the request is returned as it was accepted. With `on_input` the agent may ask back: it gets the
        question, and returns the input as a dict, an answer in words, or None to decline. Its time does not count.
        Raises InvocationFailed when the agent failed (the money is back), InvocationTimeout after `timeout` seconds,
        InputRequired when an `interactive` call without `on_input` is asked, PaymentRefused, ApiError and NoAnswer. To
        repeat a call whose end is not known, pass `idempotency_key` and `payment` of its error.
        """
        body = {"task": task, "input": dict(input or {}), **fields}
        if max_cost is not None:
            body["maxCost"] = max_cost
        is_keyless = self._key is None
        path = f"/{'x402' if is_keyless else 'invoke'}/{_segment(agent_id)}"
        return self._started(path, body, wait, timeout, quote, on_input, idempotency_key, payment)

    def invoke_best(
        self,
        task: str,
        *,
        max_cost: str,
        input: Optional[Mapping[str, Any]] = None,
        timeout: float = 600.0,
        on_input: Optional[OnInput] = None,
        idempotency_key: Optional[str] = None,
        payment: Optional[str] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """Calls the agent that fits the task best within `max_cost`; `chosen` of the record says which and why."""
        body = {"task": task, "input": dict(input or {}), "maxCost": max_cost, **fields}
        return self._started("/invoke/auto", body, True, timeout, None, on_input, idempotency_key, payment)

    def _started(
        self,
        path: str,
        body: Dict[str, Any],
        wait: bool,
        timeout: float,
        quote: Optional[str],
        on_input: Optional[OnInput],
        idempotency_key: Optional[str],
        payment: Optional[str],
    ) -> Dict[str, Any]:
        ends_at = time.monotonic() + timeout
        if on_input is not None:
            body["interactive"] = True
        key = idempotency_key or str(uuid.uuid4())
        query = {} if quote is None else {"quote": quote}
        headers = {"X-Sync": "true"} if wait else {}
        record = self.request(
            "POST", path, body, query=query, headers=headers, idempotency_key=key, payment=payment
        )
        if not wait:
            return record
        try:
            return self._until_ended(record, ends_at, on_input, record.get("resultToken"), record.get("answerToken"))
        except NetworkError as error:
            error.idempotency_key = key
            raise

    def wait(
        self,
        request_id: str,
        *,
        timeout: float = 600.0,
        on_input: Optional[OnInput] = None,
        result_token: Optional[str] = None,
        answer_token: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Waits for the end of a request and returns its record. Answers questions, and raises, as `invoke` does."""
        ends_at = time.monotonic() + timeout
        record = self.get(request_id, result_token=result_token)
        return self._until_ended(record, ends_at, on_input, result_token, answer_token)

    def _until_ended(
        self,
        record: Dict[str, Any],
        ends_at: float,
        on_input: Optional[OnInput],
        token: Optional[str],
        answer_token: Optional[str],
    ) -> Dict[str, Any]:
        pause, request_id = 0.25, record["requestId"]
        while record["status"] not in _ENDED:
            question = record.get("inputRequest")
            if question is not None:
                if on_input is None:
                    raise InputRequired(record)
                asked_at = time.monotonic()
                self._answer_or_go_on(request_id, question, on_input(question), answer_token)
                ends_at += time.monotonic() - asked_at
                record = self.get(request_id, result_token=token)
                continue
            left = ends_at - time.monotonic()
            if left <= 0:
                raise InvocationTimeout(request_id, token)
            time.sleep(min(pause, left))
            pause = min(5.0, pause * 1.5)
            record = self.get(request_id, result_token=token)
        if record["status"] != "completed":
            raise InvocationFailed(record)
        return record

    def _answer_or_go_on(
        self, request_id: str, question: Mapping[str, Any], answer: Answer, answer_token: Optional[str]
    ) -> None:
        """Answers a question; one that is over, by its time or by another answer, is left."""
        try:
            self.answer(request_id, question["inputId"], answer, answer_token=answer_token)
        except ApiError as error:
            if error.code not in ("INPUT_ALREADY_ANSWERED", "INPUT_NOT_REQUIRED", "INPUT_EXPIRED"):
                raise

    def answer(
        self, request_id: str, input_id: str, answer: Answer, *, answer_token: Optional[str] = None
    ) -> Dict[str, Any]:
        """Answers a question of the agent: a dict is its input, a text an answer in words; None declines.

        The same answer counts once, however often it is sent. A request that was made without a key is answered with the
        `answerToken` of its answer.
        """
        body: Dict[str, Any] = {"inputId": input_id, "action": "decline" if answer is None else "accept"}
        if answer is not None:
            body["message" if isinstance(answer, str) else "input"] = answer
        headers = {} if answer_token is None else {"X-Answer-Token": answer_token}
        return self.request("POST", f"/invoke/{_segment(request_id)}/input", body, headers=headers)

    def cancel(self, request_id: str) -> Dict[str, Any]:
        """Cancels a request; what is not earned yet is refunded."""
        return self.request("POST", f"/invoke/{_segment(request_id)}/cancel", {})

    def events(
        self, request_id: str, *, after: Optional[str] = None, result_token: Optional[str] = None
    ) -> Iterator[Event]:
        """Yields the events of a request until it has ended, over as many connections as it takes."""
        failures = 0
        while failures <= self._max_retries:
            headers = self._headers({"Accept": "text/event-stream"})
            if after is not None:
                headers["Last-Event-ID"] = after
            if result_token is not None:
                headers["X-Result-Token"] = result_token
            url = f"{self.base_url}/invoke/{_segment(request_id)}/events"
            try:
                with _opener.open(urllib.request.Request(url, headers=headers), timeout=self._timeout) as stream:
                    if stream.status == 204:
                        return
                    for event in _events_in(stream):
                        failures, after = 0, event.id or after
                        yield event
                        if event.type.rpartition(".")[2] in _ENDED:
                            return
            except urllib.error.HTTPError as failure:
                with failure:
                    error = _read_error(failure.code, failure.headers, failure.read(MAX_ANSWER_BYTES))
                if failure.code not in (429, 502, 503, 504):
                    raise error from None
            except (OSError, http.client.HTTPException):
                pass
            failures += 1
            time.sleep(min(5.0, 0.25 * 2**failures))
        raise NoAnswer(f"the stream of {request_id} broke off")

    def deposit(self, amount: str, *, idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        """Puts USDC of the payer's wallet into the account's treasury, from which calls are paid."""
        body = {"amount": amount}
        return self.request("POST", "/payments/treasury/deposit", body, idempotency_key=idempotency_key)

    # Sending

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Mapping[str, str]] = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        payment: Optional[str] = None,
    ) -> Any:
        """Sends any call of the API and returns the data of its answer. A 402 is paid by the payer, once."""
        url = self.base_url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        sent = self._headers(dict(headers or {}))
        key = None
        if method == "POST":
            key = sent["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        try:
            if payment is None:
                try:
                    return self._repeated(method, url, body, sent, self._max_retries)
                except ApiError as error:
                    if error.status != 402 or error.code != "PAYMENT_REQUIRED" or self.payer is None:
                        raise
                    payment = self.payer.pay(error.headers.get("PAYMENT-REQUIRED") or "")
            sent["PAYMENT-SIGNATURE"] = payment
            return self._repeated(method, url, body, sent, max(self._max_retries, _MAX_PAID_RETRIES))
        except NetworkError as error:
            error.idempotency_key, error.payment = key, payment
            raise

    def _headers(self, headers: Dict[str, str]) -> Dict[str, str]:
        given = {"User-Agent": f"agent_network.py/{__version__}", **headers}
        return given if self._key is None else {"Authorization": f"Bearer {self._key}", **given}

    def _repeated(
        self, method: str, url: str, body: Optional[Mapping[str, Any]], headers: Dict[str, str], retries: int
    ) -> Any:
        running_until: Optional[float] = None
        attempt = 0
        while True:
            try:
                return self._once(method, url, body, headers)
            except NetworkError as error:
                is_running = _is_still_running(error)
                if is_running:
                    running_until = running_until or time.monotonic() + self._timeout
                is_over = time.monotonic() > running_until if is_running and running_until else attempt >= retries
                pause = _pause_of(error, attempt) if is_running or _may_pass(error) else None
                if is_over or pause is None:
                    raise
                attempt += 1
                time.sleep(pause)

    def _once(self, method: str, url: str, body: Optional[Mapping[str, Any]], headers: Dict[str, str]) -> Any:
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        given = headers if data is None else {**headers, "Content-Type": "application/json"}
        request = urllib.request.Request(url, data, given, method=method)
        try:
            with _opener.open(request, timeout=self._timeout) as answer:
                return json.loads(answer.read(MAX_ANSWER_BYTES))["data"]
        except urllib.error.HTTPError as failure:
            with failure:
                raise _read_error(failure.code, failure.headers, failure.read(MAX_ANSWER_BYTES)) from None
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as failure:
            raise NoAnswer(f"no answer of {self.base_url}: {failure}") from failure


def _segment(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _is_still_running(error: NetworkError) -> bool:
    return (
        isinstance(error, ApiError)
        and error.code == "CONFLICT"
        and (error.error.get("details") or {}).get("reason") == "still_running"
    )


def _may_pass(error: NetworkError) -> bool:
    if isinstance(error, NoAnswer):
        return error.status in (None, 429, 502, 503, 504)
    if not isinstance(error, ApiError) or error.code not in _PASSING:
        return False
    return (error.error.get("details") or {}).get("state") != "cannot_settle"


def _pause_of(error: NetworkError, attempt: int) -> Optional[float]:
    """Seconds until the next attempt; None: the node asks for more than half a minute."""
    after = error.retry_after if isinstance(error, NoAnswer) else getattr(error, "headers", {}).get("Retry-After")
    if after is not None and after.isdecimal():
        return None if int(after) > _MAX_RETRY_AFTER_S else int(after) + random.random() * 0.2
    return random.random() * min(5.0, 0.2 * 2**attempt)


def _events_in(stream: Any) -> Iterator[Event]:
    fields: Dict[str, str] = {}
    while True:
        raw = stream.readline(MAX_ANSWER_BYTES)
        if not raw:
            return
        line = raw.decode().rstrip("\r\n")
        name, _, value = line.partition(":")
        if line == "":
            if "data" in fields:
                yield Event(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))
            fields = {}
        elif name in ("id", "event", "data"):
            fields[name] = value[1:] if value.startswith(" ") else value


# --- Serving an agent -----------------------------------------------------------------------------------------------


class AgentError(Exception):
    """Fails a call with a reason that its caller sees; the caller is refunded."""

    def __init__(self, code: str, message: str, status: int = 500) -> None:
        super().__init__(message)
        self.code, self.status = code, status


@dataclasses.dataclass(frozen=True)
class Result:
    """A result with its cost in USDC, which lowers the price of this call and never raises it, or with what it used.

    An agent with a price by usage is paid by `usage`: `{"units": [{"unit": "page", "quantity": "3"}]}`, or the usage of a
    model's API as it is.
    """

    value: Any
    cost: Optional[str] = None
    usage: Optional[Mapping[str, Any]] = None


@dataclasses.dataclass(frozen=True)
class progress:
    """Yield this from a handler to report progress to callers who follow. It is no part of the result."""

    report: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Ask:
    """Return this from a handler to ask the caller. The work stops there: with the answer the handler is called again.

    `call.answers` then has all answers so far, and `call.state` the `state` as it was given here (JSON, at most 16 KiB).
    `schema` is a JSON Schema of an object, `url` an https page that the caller is to open, `timeout` is in seconds. Only
    a call with `interactive` can be asked; another one fails with `agent_needs_input`. At most eight times in a call.
    """

    message: str
    id: Optional[str] = None
    schema: Optional[Mapping[str, Any]] = None
    kind: Optional[str] = None
    url: Optional[str] = None
    timeout: Optional[float] = None
    state: Any = None

    def body(self) -> Dict[str, Any]:
        fields = {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
        state = fields.pop("state", None)
        return {"status": "input_required", "input": fields, **({} if state is None else {"state": state})}


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of an agent. `cancelled` is set when its deadline passes, it is cancelled, or nobody waits for it."""

    request_id: str
    agent_id: str
    task: str
    input: Mapping[str, Any]
    capability: Optional[str]
    context: Optional[str]
    priority: str
    deadline: Optional[datetime]
    max_spend: Optional[str]
    metadata: Mapping[str, Any]
    stream: bool
    interactive: bool
    turn: int
    answers: Sequence[Mapping[str, Any]]
    state: Any
    cancelled: threading.Event = dataclasses.field(default_factory=threading.Event, compare=False)


Handler = Callable[[Call], Any]
_MAX_BODY = 1024 * 1024 + 16 * 1024
_MAX_RESULT = 1024 * 1024
_MAX_PIECES, _MAX_PIECE, _MAX_SAID = 10_000, 64 * 1024, 8 * 1024 * 1024
_KEPT_JOBS, _KEPT_BYTES, _KEPT_S, _MAX_RUNNING, _MAX_CONNECTIONS = 1000, 64 * 1024 * 1024, 600.0, 64, 256
_TOLERANCE_S = 300


def is_signed(token: str, headers: Mapping[str, str], body: bytes) -> bool:
    """True if the node that issued the token signed this message within five minutes (Standard Webhooks 1.0)."""
    stamp, signature = headers.get("webhook-timestamp") or "", headers.get("webhook-signature") or ""
    if not token or not re.fullmatch(r"[0-9]{1,12}", stamp) or abs(time.time() - int(stamp)) > _TOLERANCE_S:
        return False
    text = f"{headers.get('webhook-id') or ''}.{stamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(bytes.fromhex(token[2:]), text, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected.encode(), each.encode()) for each in signature.split(" "))


def challenge_response(token: str, challenge: str, agent_id: str, endpoint: str) -> str:
    """The answer to a challenge of the node, which proves that the server of `endpoint` holds the token."""
    text = "\n".join([challenge, agent_id, endpoint]).encode()
    return hmac.new(token.encode(), text, hashlib.sha256).hexdigest()


def _parse_call(fields: Mapping[str, Any]) -> Call:
    def text(name: str) -> Optional[str]:
        value = fields.get(name)
        return value if isinstance(value, str) else None

    def mapping(name: str) -> Mapping[str, Any]:
        value = fields.get(name)
        return value if isinstance(value, dict) else {}

    request_id, agent_id, task = text("request_id"), text("agent_id"), text("task")
    if not request_id or not agent_id or not task:
        raise AgentError("invalid_request", "request_id, agent_id or task is missing", 400)
    deadline = None
    try:
        deadline = datetime.fromisoformat((text("deadline") or "").replace("Z", "+00:00"))
    except ValueError:
        pass
    turn, answers = fields.get("turn"), fields.get("answers")
    return Call(
        request_id, agent_id, task, mapping("input"), text("capability"), text("context"), text("priority") or "normal",
        deadline, text("max_spend"), mapping("metadata"), fields.get("stream") is True,
        fields.get("interactive") is True, turn if isinstance(turn, int) else 1,
        answers if isinstance(answers, list) else [], fields.get("state"),
    )  # fmt: skip


class _Job:
    """One run of one request, however often the node asks for it."""

    def __init__(self, call: Call) -> None:
        self.call, self.ended_at, self.waiting, self.is_question = call, 0.0, 0, False
        self.said: List[Tuple[str, str]] = []
        self.answer: Optional[Tuple[int, bytes]] = None
        self.size = 0  # Bytes of what is kept.
        self.changed = threading.Condition()

    def run(self, handler: Handler, release: Callable[[], None]) -> None:
        timer = None
        if self.call.deadline is not None:
            left = (self.call.deadline - datetime.now(timezone.utc)).total_seconds()
            timer = threading.Timer(min(max(left, 0.0), 1e6), self.call.cancelled.set)
            timer.daemon = True
            timer.start()
        try:
            answer = 200, self._result(handler)
        except AgentError as error:
            answer = error.status, _error_body(error)
        except Exception:
            traceback.print_exc()
            answer = 500, _error_body(AgentError("internal_error", "The agent failed"))
        finally:
            release()
            if timer is not None:
                timer.cancel()
        with self.changed:
            self.answer, self.ended_at = answer, time.monotonic()
            self.size += len(answer[1])
            self.changed.notify_all()

    def _result(self, handler: Handler) -> bytes:
        started = time.monotonic()
        given = handler(self.call)
        if inspect.isgenerator(given):
            given = self._collected(given)
        if isinstance(given, Ask):
            self.is_question = True
            return json.dumps(given.body(), allow_nan=False).encode()
        told = given if isinstance(given, Result) else Result(given)
        if told.cost is not None:
            _micro(told.cost)
        took = f"{time.monotonic() - started:.2f}s"
        further = {"cost": told.cost, "usage": told.usage}
        answer = {"result": told.value, "completion_time": took, "agent_id": self.call.agent_id}
        answer.update({name: value for name, value in further.items() if value is not None})
        body = json.dumps(answer, allow_nan=False).encode()
        if len(body) > _MAX_RESULT:
            raise AgentError("result_too_large", "The result is larger than 1 MiB")
        return body

    def _collected(self, pieces: Any) -> Any:
        """Sends pieces as they come. The result is what the generator returns, or else all pieces together."""
        kept: List[Any] = []
        while True:
            if self.call.cancelled.is_set():
                pieces.close()
                raise AgentError("aborted", "The call was stopped", 503)
            try:
                piece = next(pieces)
            except StopIteration as end:
                if end.value is not None or not kept:
                    return end.value
                return "".join(kept) if all(isinstance(each, str) for each in kept) else kept
            is_progress = isinstance(piece, progress)
            data = json.dumps(dict(piece.report) if is_progress else piece, allow_nan=False)
            self.size += len(data)
            if len(data) > _MAX_PIECE or len(self.said) >= _MAX_PIECES or self.size > _MAX_SAID:
                raise AgentError("result_too_large", "The agent said more than a stream may hold")
            if not is_progress:
                kept.append(piece)
            with self.changed:
                self.said.append(("progress" if is_progress else "chunk", data))
                self.changed.notify_all()

    def leave(self) -> None:
        """One caller less waits. Without any the work is stopped: the node repeats a call that it still wants."""
        with self.changed:
            self.waiting -= 1
            if self.waiting == 0 and self.answer is None:
                self.call.cancelled.set()

    def follow(self) -> Iterator[Tuple[str, str]]:
        """Yields the events from the first one on, as they come."""
        seen = 0
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.answer is not None or len(self.said) > seen)
                new, has_ended = self.said[seen:], self.answer is not None
            yield from new
            seen += len(new)
            if has_ended and seen == len(self.said):
                return


def _error_body(error: AgentError) -> bytes:
    return json.dumps({"error": {"code": error.code, "message": str(error)}}).encode()


class _Jobs:
    """The running requests, and the ended ones of the last ten minutes."""

    def __init__(self, handler: Handler) -> None:
        self._handler, self._lock, self._jobs = handler, threading.Lock(), OrderedDict()  # type: ignore[var-annotated]
        self._running = 0

    def find(self, request_id: str) -> Optional[_Job]:
        with self._lock:
            return self._jobs.get(request_id)

    def join(self, call: Call) -> _Job:
        with self._lock:
            known = self._jobs.get(call.request_id)
            # A run that ended with 502, 503 or 504 is made again, as the node expects; each turn is a run.
            is_made = known is not None and (known.answer is None or known.answer[0] not in (502, 503, 504))
            if known is not None and is_made and known.call.turn >= call.turn:
                return known
            if self._running >= _MAX_RUNNING:
                raise AgentError("overloaded", "The agent runs too many calls; try again later", 503)
            self._forget()
            job = self._jobs[call.request_id] = _Job(call)
            self._running += 1
        threading.Thread(target=job.run, args=(self._handler, self._release), daemon=True).start()
        return job

    def _release(self) -> None:
        with self._lock:
            self._running -= 1

    def _forget(self) -> None:
        now, size = time.monotonic(), sum(job.size for job in self._jobs.values())
        for request_id, job in list(self._jobs.items()):
            is_over = len(self._jobs) > _KEPT_JOBS or size > _KEPT_BYTES
            if job.answer is not None and (is_over or now - job.ended_at > _KEPT_S):
                size -= job.size
                del self._jobs[request_id]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: Tuple[str, int], agent: "Agent") -> None:
        self.agent, self._slots = agent, threading.Semaphore(_MAX_CONNECTIONS)
        super().__init__(address, _Endpoint)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._slots.acquire(blocking=False):
            return self.shutdown_request(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)


class _Endpoint(BaseHTTPRequestHandler):
    timeout = 30  # seconds for what a connection sends or takes
    protocol_version = "HTTP/1.1"
    server: _Server

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status in (401, 411, 413):
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _read(self) -> bytes:
        length = self.headers.get("Content-Length") or ""
        if not re.fullmatch(r"[0-9]{1,9}", length):
            raise AgentError("length_required", "Content-Length is missing", 411)
        if int(length) > _MAX_BODY:
            raise AgentError("payload_too_large", "The body is larger than 1 MiB", 413)
        return self.rfile.read(int(length))

    def do_POST(self) -> None:
        try:
            self._answer(self.server.agent, self._read())
        except AgentError as error:
            self._send(error.status, _error_body(error))

    def _answer(self, agent: "Agent", body: bytes) -> None:
        if not is_signed(agent.token, self.headers, body):
            raise AgentError("unauthorized", "The call is not signed by the node of this agent", 401)
        try:
            fields = json.loads(body)
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            raise AgentError("invalid_request", "The body is not a JSON object", 400)
        if fields.get("type") == "verification":
            response = challenge_response(agent.token, str(fields["challenge"]), agent.agent_id, agent.endpoint)
            return self._send(200, json.dumps({"agent_id": agent.agent_id, "response": response}).encode())
        job = agent.jobs.join(_parse_call(fields))
        if job.call.stream and "text/event-stream" in (self.headers.get("Accept") or ""):
            return self._stream(job)
        if agent.defer:
            return self._send(202, json.dumps({"status_url": agent.status_url(job.call.request_id)}).encode())
        with job.changed:
            job.waiting += 1
        try:
            while job.answer is None and not self._has_hung_up():
                with job.changed:
                    job.changed.wait_for(lambda: job.answer is not None, timeout=0.5)
        finally:
            job.leave()
        if job.answer is not None:
            self._send(*job.answer)
        else:
            self.close_connection = True

    def _has_hung_up(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _stream(self, job: _Job) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        with job.changed:
            job.waiting += 1
        try:
            for name, data in job.follow():
                self._event(name, data)
            assert job.answer is not None
            end = "input_required" if job.is_question else "result"
            self._event(end if job.answer[0] == 200 else "error", job.answer[1].decode())
        except OSError:
            pass  # The node has given up, or asks again.
        finally:
            job.leave()

    def _event(self, name: str, data: str) -> None:
        self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def _status(self) -> Optional[_Job]:
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        request_id, proof = query.get("request_id", ""), query.get("proof", "")
        expected = self.server.agent.proof_of(request_id)
        is_proven = hmac.compare_digest(proof.encode(), expected.encode())
        return self.server.agent.jobs.find(request_id) if is_proven else None

    def do_GET(self) -> None:
        if "proof=" not in self.path:
            return self._send(200, b'{"status": "ok"}')
        job = self._status()
        if job is None:
            return self._send(404, _error_body(AgentError("not_found", "Call not found")))
        if job.answer is None:
            return self._send(200, b'{"status": "processing"}')
        status, body = job.answer
        # A node that polls reads a failure from a 200, so that it is not taken for trouble on the way.
        self._send(200, body if status == 200 else json.dumps({"status": "failed", **json.loads(body)}).encode())

    def do_DELETE(self) -> None:
        job = self._status()
        if job is not None:
            job.call.cancelled.set()
        self._send(200 if job else 404, b"{}")

    def log_message(self, *args: Any) -> None:
        pass


class Agent:
    """A handler with what the node lists of it. Made by the decorator `agent`; it can still be called as a function."""

    def __init__(self, handler: Handler, registration: Dict[str, Any], defer: bool) -> None:
        self.handler, self.registration, self.defer = handler, registration, defer
        self.agent_id = self.token = self.endpoint = ""
        self.jobs = _Jobs(handler)
        self._server: Optional[_Server] = None
        self._client: Optional[Client] = None

    def __call__(self, call: Call) -> Any:
        return self.handler(call)

    def start(
        self,
        node: str,
        api_key: str,
        *,
        token_file: str,
        host: str = "127.0.0.1",
        port: int = 8801,
        endpoint: Optional[str] = None,
    ) -> "Agent":
        """Serves the agent in threads of this process, registers it, and has its endpoint verified.

        `token_file` keeps its id and identityToken, for this user alone: with it, a later start is the same agent.
        `endpoint` is the address at which the node reaches it, if that is another one than host and port.
        """
        server = _Server((host, port), self)
        self._server, actual = server, server.server_address[1]
        try:
            self.endpoint = endpoint or f"http://{f'[{host}]' if ':' in host else host}:{actual}/"
            # Challenges of the node wait until the token is known: before that, nothing is served.
            self._identify(Client(node, api_key), node, token_file)
        except BaseException:
            self._server = None
            server.server_close()
            raise
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self._client = Client(node, self.token)
            self._client.request("POST", f"/agents/{self.agent_id}/heartbeat", {"accepting": True})
            self._verify(Client(node, api_key))
        except BaseException:
            self._server = self._client = None
            server.shutdown()
            server.server_close()
            raise
        return self

    def stop(self) -> None:
        """Takes the agent offline at the node, then stops serving it. Running calls are lost, and refunded."""
        server, client = self._server, self._client
        self._server = self._client = None
        try:
            if client is not None:
                client.request("POST", f"/agents/{self.agent_id}/heartbeat", {"accepting": False})
        finally:
            if server is not None:
                server.shutdown()
                server.server_close()

    def serve(self, node: str, api_key: str, **options: Any) -> None:
        """Serves the agent until the program is interrupted. The options are those of `start`."""
        self.start(node, api_key, **options)
        print(f"serving {self.agent_id} at {self.endpoint}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()

    def _verify(self, client: Client) -> None:
        try:
            client.request("POST", "/identity/verify", {"agentId": self.agent_id, "proof": "endpoint"})
        except ApiError as error:
            # The node tries again by itself, for instance once a proxy in front of the agent is up.
            print(f"{self.endpoint} is not verified yet: {error}", file=sys.stderr)

    def proof_of(self, request_id: str) -> str:
        """What makes a status URL one that only this agent can name."""
        return hmac.new(self.token.encode(), f"status\n{request_id}".encode(), hashlib.sha256).hexdigest()

    def status_url(self, request_id: str) -> str:
        """The address, relative to the endpoint, at which the node reads how a deferred call ended."""
        return "?" + urllib.parse.urlencode({"request_id": request_id, "proof": self.proof_of(request_id)})

    def _identify(self, client: Client, node: str, token_file: str) -> None:
        kept = _read_kept(token_file, node)
        if kept is not None:
            self.agent_id, self.token = kept["agentId"], kept["identityToken"]
            try:
                if client.agent(self.agent_id)["endpoint"] != self.endpoint:
                    client.request("PUT", f"/agents/{self.agent_id}", {"endpoint": self.endpoint})
                return
            except ApiError as error:
                if error.code != "NOT_FOUND":
                    raise
        unfinished = f"{token_file}.{os.getpid()}"
        # Opened first: the token is shown once, and registering before it can be kept would lose it.
        with open(os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
            try:
                made = client.request("POST", "/agents", {**self.registration, "endpoint": self.endpoint})
                self.agent_id, self.token = made["id"], made["identityToken"]
                json.dump({"baseUrl": node, "agentId": self.agent_id, "identityToken": self.token}, file)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                os.unlink(unfinished)
                raise
        os.replace(unfinished, token_file)


def _read_kept(token_file: str, node: str) -> Optional[Dict[str, str]]:
    if not os.path.exists(token_file):
        return None
    with open(token_file) as file:
        kept = json.load(file)
    if kept["baseUrl"].rstrip("/") != node.rstrip("/"):
        raise ValueError(f"{token_file} is of an agent at {kept['baseUrl']}: name another file for {node}")
    if not re.fullmatch(r"0x[0-9a-fA-F]{64}", kept["identityToken"]):
        raise ValueError(f"{token_file} has a malformed identityToken")
    return kept


def agent(
    name: str,
    *,
    capabilities: Sequence[str],
    price: str = "0.01",
    description: str = "",
    example_questions: Sequence[str] = (),
    types: Optional[Mapping[str, Any]] = None,
    metadata: Optional[Mapping[str, Any]] = None,
    defer: bool = False,
) -> Callable[[Handler], Agent]:
    """Makes an agent of a function that takes a `Call` and returns its result: anything that JSON holds, or a `Result`.

    A generator streams its pieces. An `AgentError` fails the call with a reason that the caller sees. `types` are JSON
    Schemas of input and result. With `defer`, for work that takes minutes, the node asks for the result later.
    """
    _micro(price)
    registration: Dict[str, Any] = {
        "name": name,
        "description": description,
        "capabilities": list(capabilities),
        "rates": {"perRequest": price},
    }
    if example_questions:
        registration["exampleQuestions"] = list(example_questions)
    if types is not None:
        registration["types"] = types
    if metadata is not None:
        registration["metadata"] = metadata
    return lambda handler: Agent(handler, registration, defer)


# --- Command line ---------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agent_network.py", description="Find, call and pay agents.")
    parser.add_argument("--node", default=os.environ.get("AGENT_NETWORK_URL", "http://127.0.0.1:4020"))
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    search = commands.add_parser("search", help="find agents by a text")
    search.add_argument("text")
    search.add_argument("--max-price")
    call = commands.add_parser("call", help="call an agent and print its result")
    call.add_argument("agent", help="its id, slug or name; auto: the one that fits the task best")
    call.add_argument("task")
    call.add_argument("--input", type=json.loads, default={}, help="a JSON object")
    call.add_argument("--max-cost", required=True, help='maximum cost in USDC, such as "0.05"')
    call.add_argument("--idempotency-key", help="repeat a call with its key, so that it is not paid twice")
    call.add_argument("--payment", help="the payment of the call that is repeated, as its error shows it")
    call.add_argument("--timeout", type=float, default=600.0, help="seconds to wait for the result")
    wait = commands.add_parser("wait", help="wait for a request and print its result")
    wait.add_argument("request_id")
    wait.add_argument("--result-token", help="the token of a call that was made without a key")
    commands.add_parser("balance", help="print the balance of the account")
    return parser


def _run(options: argparse.Namespace) -> Any:
    wallet = os.environ.get("AGENT_NETWORK_WALLET")
    max_cost = getattr(options, "max_cost", "0")
    payer = Payer(wallet, max_per_call=max_cost) if wallet and options.command == "call" else None
    client = Client(options.node, os.environ.get("AGENT_NETWORK_KEY") or None, payer=payer)
    if options.command == "search":
        return client.search(options.text, max_price=options.max_price)
    if options.command == "balance":
        return client.balance()
    if options.command == "wait":
        return client.wait(options.request_id, result_token=options.result_token)["result"]
    terms = {"max_cost": max_cost, "input": options.input, "timeout": options.timeout}
    key = {"idempotency_key": options.idempotency_key, "payment": options.payment}
    if options.agent == "auto":
        return client.invoke_best(options.task, **terms, **key)["result"]
    return client.invoke(options.agent, options.task, **terms, **key)["result"]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command line. Prints the result as JSON; returns 1 after an error, with what repeats the call."""
    options = _parser().parse_args(arguments)
    try:
        print(json.dumps(_run(options), indent=2, ensure_ascii=False))
        return 0
    except (NetworkError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        if isinstance(error, NetworkError) and not isinstance(error, InvocationFailed) and error.idempotency_key:
            shown = f" --payment {error.payment}" if error.payment else ""
            print(f"repeat it with: --idempotency-key {error.idempotency_key}{shown}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
