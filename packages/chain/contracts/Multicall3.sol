// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Many calls in one, with the interface of the Multicall3 that public chains carry at
/// 0xcA11bde05977b3631167028862bE2a173976CA11, so that stock clients find it on a local chain too.
contract Multicall3 {
  struct Call {
    address target;
    bytes callData;
  }

  struct Call3 {
    address target;
    bool allowFailure;
    bytes callData;
  }

  struct Call3Value {
    address target;
    bool allowFailure;
    uint256 value;
    bytes callData;
  }

  struct Result {
    bool success;
    bytes returnData;
  }

  function aggregate(
    Call[] calldata calls
  ) external payable returns (uint256 blockNumber, bytes[] memory returnData) {
    blockNumber = block.number;
    returnData = new bytes[](calls.length);
    for (uint256 i = 0; i < calls.length; i++) {
      returnData[i] = _call(calls[i].target, 0, calls[i].callData, true).returnData;
    }
  }

  function tryAggregate(
    bool requireSuccess,
    Call[] calldata calls
  ) public payable returns (Result[] memory returnData) {
    returnData = new Result[](calls.length);
    for (uint256 i = 0; i < calls.length; i++) {
      returnData[i] = _call(calls[i].target, 0, calls[i].callData, requireSuccess);
    }
  }

  function tryBlockAndAggregate(
    bool requireSuccess,
    Call[] calldata calls
  ) public payable returns (uint256 blockNumber, bytes32 blockHash, Result[] memory returnData) {
    blockNumber = block.number;
    blockHash = blockhash(block.number);
    returnData = tryAggregate(requireSuccess, calls);
  }

  function blockAndAggregate(
    Call[] calldata calls
  ) external payable returns (uint256 blockNumber, bytes32 blockHash, Result[] memory returnData) {
    return tryBlockAndAggregate(true, calls);
  }

  function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
    returnData = new Result[](calls.length);
    for (uint256 i = 0; i < calls.length; i++) {
      Call3 calldata each = calls[i];
      returnData[i] = _call(each.target, 0, each.callData, !each.allowFailure);
    }
  }

  function aggregate3Value(Call3Value[] calldata calls) external payable returns (Result[] memory returnData) {
    returnData = new Result[](calls.length);
    uint256 spent;
    for (uint256 i = 0; i < calls.length; i++) {
      Call3Value calldata each = calls[i];
      spent += each.value;
      returnData[i] = _call(each.target, each.value, each.callData, !each.allowFailure);
    }
    require(msg.value == spent, "Multicall3: value mismatch");
  }

  function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash) {
    return blockhash(blockNumber);
  }

  function getBlockNumber() external view returns (uint256 blockNumber) {
    return block.number;
  }

  function getCurrentBlockCoinbase() external view returns (address coinbase) {
    return block.coinbase;
  }

  function getCurrentBlockDifficulty() external view returns (uint256 difficulty) {
    return block.prevrandao;
  }

  function getCurrentBlockGasLimit() external view returns (uint256 gaslimit) {
    return block.gaslimit;
  }

  function getCurrentBlockTimestamp() external view returns (uint256 timestamp) {
    return block.timestamp;
  }

  function getEthBalance(address addr) external view returns (uint256 balance) {
    return addr.balance;
  }

  function getLastBlockHash() external view returns (bytes32 blockHash) {
    return blockhash(block.number - 1);
  }

  function getBasefee() external view returns (uint256 basefee) {
    return block.basefee;
  }

  function getChainId() external view returns (uint256 chainid) {
    return block.chainid;
  }

  function _call(
    address target,
    uint256 value,
    bytes calldata callData,
    bool requireSuccess
  ) private returns (Result memory result) {
    (result.success, result.returnData) = target.call{ value: value }(callData);
    require(result.success || !requireSuccess, "Multicall3: call failed");
  }
}
