// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A contract wallet with one owner key: what that key signs, the wallet has signed (EIP-1271).
contract ContractWallet {
  address public immutable owner;

  constructor(address owner_) {
    owner = owner_;
  }

  function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
    if (signature.length != 65) return 0xffffffff;
    address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
    return signer != address(0) && signer == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
  }
}
