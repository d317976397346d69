// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Code that a key delegates to (EIP-7702) to make several calls in one transaction, in its own name. Only the key itself
/// can have it call anything. It keeps no storage, and takes ether and ERC-721 tokens as a key without code does.
contract BatchExecutor {
  struct Call {
    address target;
    bytes data;
  }

  /// A call of the batch that reverted, by its place in it; the others stand.
  event CallFailed(uint256 indexed place, bytes reason);

  error NotSelf(address caller);

  function execute(Call[] calldata calls) external {
    if (msg.sender != address(this)) revert NotSelf(msg.sender);
    for (uint256 i = 0; i < calls.length; i++) {
      (bool success, bytes memory answer) = calls[i].target.call(calls[i].data);
      if (!success) emit CallFailed(i, answer);
    }
  }

  function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
    return this.onERC721Received.selector;
  }

  receive() external payable {}
}
