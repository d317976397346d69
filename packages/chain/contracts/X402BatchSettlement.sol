// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IToken {
  function balanceOf(address holder) external view returns (uint256);
}

interface IDepositCollector {
  function collect(
    address payer,
    address token,
    uint256 amount,
    bytes32 channelId,
    bytes calldata collectorData
  ) external;
}

interface ISigningWallet {
  function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// Payment channels of the x402 scheme `batch-settlement`, with the interface and the rules of the contract that public
/// chains carry at 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003: a payer deposits once, signs cumulative vouchers off chain, and
/// the receiver claims many calls at once. Nothing is set up in a constructor, so the code works at whatever address it is installed.
contract X402BatchSettlement {
  struct ChannelConfig {
    address payer;
    address payerAuthorizer;
    address receiver;
    address receiverAuthorizer;
    address token;
    uint40 withdrawDelay;
    bytes32 salt;
  }

  struct ChannelState {
    uint128 balance;
    uint128 totalClaimed;
  }

  struct WithdrawalState {
    uint128 amount;
    uint40 initiatedAt;
  }

  struct ReceiverState {
    uint128 totalClaimed;
    uint128 totalSettled;
  }

  struct Voucher {
    ChannelConfig channel;
    uint128 maxClaimableAmount;
  }

  struct VoucherClaim {
    Voucher voucher;
    bytes signature;
    uint128 totalClaimed;
  }

  event ChannelCreated(bytes32 indexed channelId, ChannelConfig config);
  event ChannelClosed(bytes32 indexed channelId, ChannelConfig config);
  event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance);
  event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed);
  event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);
  event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount);
  event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter);
  event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount);

  error ClaimExceedsBalance();
  error ClaimExceedsCeiling();
  error DepositCollectionFailed();
  error DepositOverflow();
  error EmptyBatch();
  error InvalidChannel();
  error InvalidCollector();
  error InvalidRefundNonce();
  error InvalidSignature();
  error NotAuthorizedToClaim();
  error NotAuthorizedToFinalizeWithdraw();
  error NotAuthorizedToRefund();
  error NothingToWithdraw();
  error NotReceiverAuthorizer();
  error ReentrantCall();
  error TransferFailed();
  error WithdrawAmountExceedsAvailable();
  error WithdrawDelayNotElapsed();
  error WithdrawDelayOutOfRange();
  error WithdrawalAlreadyPending();
  error WithdrawalNotPending();
  error ZeroDeposit();
  error ZeroRefund();

  uint40 public constant MIN_WITHDRAW_DELAY = 900;
  uint40 public constant MAX_WITHDRAW_DELAY = 2_592_000;

  bytes32 public constant CHANNEL_CONFIG_TYPEHASH =
    keccak256(
      "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
  bytes32 public constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
  bytes32 public constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
  bytes32 public constant CLAIM_ENTRY_TYPEHASH =
    keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
  bytes32 public constant CLAIM_BATCH_TYPEHASH =
    keccak256(
      "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );

  string private constant DOMAIN_NAME = "x402 Batch Settlement";
  string private constant DOMAIN_VERSION = "1";
  bytes32 private constant DOMAIN_TYPEHASH =
    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
  uint256 private constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

  mapping(bytes32 => ChannelState) public channels;
  mapping(bytes32 => WithdrawalState) public pendingWithdrawals;
  mapping(bytes32 => uint256) public refundNonce;
  mapping(address => mapping(address => ReceiverState)) public receivers;
  bool private _entered;

  modifier exclusive() {
    if (_entered) revert ReentrantCall();
    _entered = true;
    _;
    _entered = false;
  }

  /// Calls this contract several times in the sender's name. One that reverts undoes all.
  function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
    results = new bytes[](data.length);
    for (uint256 i = 0; i < data.length; i++) {
      (bool success, bytes memory answer) = address(this).delegatecall(data[i]);
      if (!success) _revertAs(answer);
      results[i] = answer;
    }
  }

  /// Anyone may submit a deposit: what authorizes it stands in the collector's data.
  function deposit(
    ChannelConfig calldata config,
    uint128 amount,
    address collector,
    bytes calldata collectorData
  ) external exclusive {
    _requireValid(config);
    if (amount == 0) revert ZeroDeposit();
    if (collector == address(0)) revert InvalidCollector();
    bytes32 channelId = getChannelId(config);
    ChannelState storage channel = channels[channelId];
    uint128 balance = channel.balance;
    if (balance > type(uint128).max - amount) revert DepositOverflow();
    channel.balance = balance + amount;

    uint256 held = IToken(config.token).balanceOf(address(this));
    IDepositCollector(collector).collect(config.payer, config.token, amount, channelId, collectorData);
    if (IToken(config.token).balanceOf(address(this)) != held + amount) revert DepositCollectionFailed();

    if (balance == 0 && channel.totalClaimed == 0) emit ChannelCreated(channelId, config);
    emit Deposited(channelId, msg.sender, amount, balance + amount);
  }

  /// Books claims by the receiver's side; no money moves.
  function claim(VoucherClaim[] calldata voucherClaims) external exclusive {
    if (voucherClaims.length == 0) revert EmptyBatch();
    for (uint256 i = 0; i < voucherClaims.length; i++) {
      if (!_isReceiverSide(voucherClaims[i].voucher.channel)) revert NotAuthorizedToClaim();
      _claim(voucherClaims[i]);
    }
  }

  /// Books claims that the authorizer of all their channels signed, whoever submits them.
  function claimWithSignature(
    VoucherClaim[] calldata voucherClaims,
    bytes calldata authorizerSignature
  ) external exclusive {
    if (voucherClaims.length == 0) revert EmptyBatch();
    address authorizer = voucherClaims[0].voucher.channel.receiverAuthorizer;
    if (!_signed(authorizer, getClaimBatchDigest(voucherClaims), authorizerSignature)) revert InvalidSignature();
    for (uint256 i = 0; i < voucherClaims.length; i++) {
      if (voucherClaims[i].voucher.channel.receiverAuthorizer != authorizer) revert NotReceiverAuthorizer();
      _claim(voucherClaims[i]);
    }
  }

  /// Pays a receiver what was claimed for it and not paid yet. Anyone may ask for it.
  function settle(address receiver, address token) external exclusive {
    ReceiverState storage state = receivers[receiver][token];
    uint128 amount = state.totalClaimed - state.totalSettled;
    if (amount == 0) return;
    state.totalSettled = state.totalClaimed;
    _send(token, receiver, amount);
    emit Settled(receiver, token, msg.sender, amount);
  }

  /// Begins a withdrawal by the payer's side. Vouchers that are not claimed reserve nothing.
  function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external exclusive {
    if (!_isPayerSide(config)) revert InvalidChannel();
    if (amount == 0) revert NothingToWithdraw();
    bytes32 channelId = getChannelId(config);
    WithdrawalState storage withdrawal = pendingWithdrawals[channelId];
    if (withdrawal.initiatedAt != 0) revert WithdrawalAlreadyPending();
    if (amount > _unclaimed(channels[channelId])) revert WithdrawAmountExceedsAvailable();
    withdrawal.amount = amount;
    withdrawal.initiatedAt = uint40(block.timestamp);
    emit WithdrawInitiated(channelId, amount, uint40(block.timestamp) + config.withdrawDelay);
  }

  /// Pays the payer what it asked for, at most what is not claimed by now.
  function finalizeWithdraw(ChannelConfig calldata config) external exclusive {
    if (!_isPayerSide(config)) revert NotAuthorizedToFinalizeWithdraw();
    bytes32 channelId = getChannelId(config);
    WithdrawalState memory withdrawal = pendingWithdrawals[channelId];
    if (withdrawal.initiatedAt == 0) revert WithdrawalNotPending();
    if (block.timestamp < withdrawal.initiatedAt + config.withdrawDelay) revert WithdrawDelayNotElapsed();
    ChannelState storage channel = channels[channelId];
    uint128 amount = _least(withdrawal.amount, _unclaimed(channel));
    delete pendingWithdrawals[channelId];
    channel.balance -= amount;
    emit WithdrawFinalized(channelId, msg.sender, amount);
    _noteClosed(channelId, channel, config);
    if (amount > 0) _send(config.token, config.payer, amount);
  }

  /// Gives the payer what is not claimed, at most the amount, at once.
  function refund(ChannelConfig calldata config, uint128 amount) external exclusive {
    if (!_isReceiverSide(config)) revert NotAuthorizedToRefund();
    _refund(config, amount);
  }

  /// The same by the authorizer's signature, whoever submits it.
  function refundWithSignature(
    ChannelConfig calldata config,
    uint128 amount,
    uint256 nonce,
    bytes calldata receiverAuthorizerSignature
  ) external exclusive {
    bytes32 channelId = getChannelId(config);
    if (nonce != refundNonce[channelId]) revert InvalidRefundNonce();
    bytes32 digest = getRefundDigest(channelId, nonce, amount);
    if (!_signed(config.receiverAuthorizer, digest, receiverAuthorizerSignature)) revert InvalidSignature();
    _refund(config, amount);
  }

  /// The signing domain, as ERC-5267 has it.
  function eip712Domain()
    external
    view
    returns (
      bytes1 fields,
      string memory name,
      string memory version,
      uint256 chainId,
      address verifyingContract,
      bytes32 salt,
      uint256[] memory extensions
    )
  {
    return (hex"0f", DOMAIN_NAME, DOMAIN_VERSION, block.chainid, address(this), 0, new uint256[](0));
  }

  function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
    return _digest(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
  }

  function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) public view returns (bytes32) {
    return _digest(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, maxClaimableAmount)));
  }

  function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) public view returns (bytes32) {
    return _digest(keccak256(abi.encode(REFUND_TYPEHASH, channelId, nonce, amount)));
  }

  function getClaimBatchDigest(VoucherClaim[] calldata voucherClaims) public view returns (bytes32) {
    bytes32[] memory entries = new bytes32[](voucherClaims.length);
    for (uint256 i = 0; i < voucherClaims.length; i++) {
      VoucherClaim calldata row = voucherClaims[i];
      entries[i] = keccak256(
        abi.encode(
          CLAIM_ENTRY_TYPEHASH,
          getChannelId(row.voucher.channel),
          row.voucher.maxClaimableAmount,
          row.totalClaimed
        )
      );
    }
    return _digest(keccak256(abi.encode(CLAIM_BATCH_TYPEHASH, keccak256(abi.encodePacked(entries)))));
  }

  function _requireValid(ChannelConfig calldata config) private pure {
    if (
      config.payer == address(0) ||
      config.receiver == address(0) ||
      config.receiverAuthorizer == address(0) ||
      config.token == address(0)
    ) revert InvalidChannel();
    if (config.withdrawDelay < MIN_WITHDRAW_DELAY || config.withdrawDelay > MAX_WITHDRAW_DELAY)
      revert WithdrawDelayOutOfRange();
  }

  /// A row that claims no more than was claimed before does nothing: totals are cumulative.
  function _claim(VoucherClaim calldata row) private {
    ChannelConfig calldata config = row.voucher.channel;
    bytes32 channelId = getChannelId(config);
    ChannelState storage channel = channels[channelId];
    uint128 before = channel.totalClaimed;
    if (row.totalClaimed <= before) return;
    if (row.totalClaimed > row.voucher.maxClaimableAmount) revert ClaimExceedsCeiling();
    if (row.totalClaimed > channel.balance) revert ClaimExceedsBalance();
    bytes32 digest = getVoucherDigest(channelId, row.voucher.maxClaimableAmount);
    bool good = config.payerAuthorizer == address(0)
      ? _signed(config.payer, digest, row.signature)
      : _recover(digest, row.signature) == config.payerAuthorizer;
    if (!good) revert InvalidSignature();
    channel.totalClaimed = row.totalClaimed;
    receivers[config.receiver][config.token].totalClaimed += row.totalClaimed - before;
    emit Claimed(channelId, msg.sender, row.totalClaimed - before, row.totalClaimed);
  }

  /// The nonce rises even when nothing is left to give. A refund counts towards a withdrawal that is pending.
  function _refund(ChannelConfig calldata config, uint128 requested) private {
    if (requested == 0) revert ZeroRefund();
    bytes32 channelId = getChannelId(config);
    refundNonce[channelId] += 1;
    ChannelState storage channel = channels[channelId];
    uint128 amount = _least(requested, _unclaimed(channel));
    if (amount == 0) return;
    channel.balance -= amount;
    WithdrawalState storage withdrawal = pendingWithdrawals[channelId];
    if (amount < withdrawal.amount) withdrawal.amount -= amount;
    else delete pendingWithdrawals[channelId];
    emit Refunded(channelId, msg.sender, amount);
    _noteClosed(channelId, channel, config);
    _send(config.token, config.payer, amount);
  }

  function _noteClosed(bytes32 channelId, ChannelState storage channel, ChannelConfig calldata config) private {
    if (channel.balance == 0 && channel.totalClaimed == 0) emit ChannelClosed(channelId, config);
  }

  function _unclaimed(ChannelState storage channel) private view returns (uint128) {
    return channel.balance - channel.totalClaimed;
  }

  function _least(uint128 a, uint128 b) private pure returns (uint128) {
    return a < b ? a : b;
  }

  function _isReceiverSide(ChannelConfig calldata config) private view returns (bool) {
    return msg.sender == config.receiver || msg.sender == config.receiverAuthorizer;
  }

  function _isPayerSide(ChannelConfig calldata config) private view returns (bool) {
    return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
  }

  function _digest(bytes32 content) private view returns (bytes32) {
    bytes32 domain = keccak256(
      abi.encode(
        DOMAIN_TYPEHASH,
        keccak256(bytes(DOMAIN_NAME)),
        keccak256(bytes(DOMAIN_VERSION)),
        block.chainid,
        address(this)
      )
    );
    return keccak256(abi.encodePacked("\x19\x01", domain, content));
  }

  /// An address with code is asked (EIP-1271); one without signs with its key.
  function _signed(address signer, bytes32 digest, bytes calldata signature) private view returns (bool) {
    if (signer.code.length == 0) return _recover(digest, signature) == signer;
    (bool success, bytes memory answer) = signer.staticcall(
      abi.encodeCall(ISigningWallet.isValidSignature, (digest, signature))
    );
    return
      success &&
      answer.length >= 32 &&
      abi.decode(answer, (bytes32)) == bytes32(ISigningWallet.isValidSignature.selector);
  }

  /// Strict: 65 bytes, a recovery byte of 27 or 28, and the lower of the two values of s.
  function _recover(bytes32 digest, bytes calldata signature) private pure returns (address signer) {
    if (signature.length != 65) revert InvalidSignature();
    uint8 v = uint8(signature[64]);
    bytes32 s = bytes32(signature[32:64]);
    if (uint256(s) > HALF_CURVE_ORDER || (v != 27 && v != 28)) revert InvalidSignature();
    signer = ecrecover(digest, v, bytes32(signature[0:32]), s);
    if (signer == address(0)) revert InvalidSignature();
  }

  /// Tokens that answer nothing count as those that answer true.
  function _send(address token, address to, uint256 value) private {
    (bool success, bytes memory answer) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to, value));
    if (!success) _revertAs(answer);
    if (token.code.length == 0 || (answer.length > 0 && !abi.decode(answer, (bool)))) revert TransferFailed();
  }

  function _revertAs(bytes memory answer) private pure {
    assembly ("memory-safe") {
      revert(add(answer, 0x20), mload(answer))
    }
  }
}
