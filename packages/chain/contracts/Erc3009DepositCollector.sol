// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IAuthorizedToken {
  function receiveWithAuthorization(
    address from,
    address to,
    uint256 value,
    uint256 validAfter,
    uint256 validBefore,
    bytes32 nonce,
    bytes calldata signature
  ) external;

  function transfer(address to, uint256 value) external returns (bool);
}

/// Takes deposits of channels by ERC-3009 authorizations, with the interface of the collector that public chains carry at
/// 0x4020806089470a89826cB9fB1f4059150b550004. The authorization's nonce binds the channel, so nobody can have the money
/// go to another one. Nothing is set up in a constructor, so the code works at whatever address it is installed.
contract Erc3009DepositCollector {
  error OnlyX402BatchSettlement();
  error TransferFailed();

  address public constant x402BatchSettlement = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

  function collect(
    address payer,
    address token,
    uint256 amount,
    bytes32 channelId,
    bytes calldata collectorData
  ) external {
    if (msg.sender != x402BatchSettlement) revert OnlyX402BatchSettlement();
    (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) = abi.decode(
      collectorData,
      (uint256, uint256, uint256, bytes)
    );
    bytes32 nonce = keccak256(abi.encode(channelId, salt));
    IAuthorizedToken(token).receiveWithAuthorization(
      payer,
      address(this),
      amount,
      validAfter,
      validBefore,
      nonce,
      signature
    );
    if (!IAuthorizedToken(token).transfer(msg.sender, amount)) revert TransferFailed();
  }
}
