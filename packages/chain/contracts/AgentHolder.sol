// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A contract that owns agents, for tests: it calls what it is told to, answers a token as it was told, and first makes
/// one call back to the registry if it was told one. Anyone may tell it.
contract AgentHolder {
  bytes4 private _answer;
  bytes private _callBack;

  function prepare(bytes4 answer, bytes calldata callBack) external {
    _answer = answer;
    _callBack = callBack;
  }

  function run(address target, bytes calldata data) external {
    _call(target, data);
  }

  function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
    bytes memory callBack = _callBack;
    delete _callBack;
    if (callBack.length > 0) _call(msg.sender, callBack);
    return _answer;
  }

  function _call(address target, bytes memory data) private {
    (bool success, bytes memory answer) = target.call(data);
    if (success) return;
    assembly ("memory-safe") {
      revert(add(answer, 0x20), mload(answer))
    }
  }
}
