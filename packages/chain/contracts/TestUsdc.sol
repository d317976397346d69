// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IContractWallet {
  function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// Test USDC with the observable behaviour of the real token: ERC-20, EIP-2612, EIP-3009, EIP-1271, and the same revert
/// strings, a blacklist and a pause. Nothing is set up in a constructor, so the code works at whatever address it is installed.
/// Anyone may mint, blacklist and pause.
contract TestUsdc {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
  event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
  event Blacklisted(address indexed _account);
  event UnBlacklisted(address indexed _account);
  event Pause();
  event Unpause();

  string public constant name = "USDC";
  string public constant symbol = "USDC";
  string public constant version = "2";
  uint8 public constant decimals = 6;

  bytes32 public constant PERMIT_TYPEHASH =
    keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
  bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH =
    keccak256(
      "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
  bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH =
    keccak256(
      "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
  bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
    keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

  bytes32 private constant DOMAIN_TYPEHASH =
    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
  uint256 private constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

  /// The highest bit of a balance says that the account is blacklisted, as in the real token (v2.2).
  uint256 private constant BLACKLIST_BIT = 1 << 255;

  uint256 public totalSupply;
  mapping(address => uint256) private balanceAndBlacklistStates;
  mapping(address => mapping(address => uint256)) public allowance;
  mapping(address => uint256) public nonces;
  mapping(address => mapping(bytes32 => bool)) public authorizationState;
  bool public paused;

  modifier whenNotPaused() {
    require(!paused, "Pausable: paused");
    _;
  }

  modifier notBlacklisted(address account) {
    require(!isBlacklisted(account), "Blacklistable: account is blacklisted");
    _;
  }

  function balanceOf(address account) public view returns (uint256) {
    return balanceAndBlacklistStates[account] & ~BLACKLIST_BIT;
  }

  /// The real token carries itself on its blacklist, so that nobody loses money by sending it there.
  function isBlacklisted(address account) public view returns (bool) {
    return account == address(this) || balanceAndBlacklistStates[account] >= BLACKLIST_BIT;
  }

  function blacklist(address account) external {
    balanceAndBlacklistStates[account] |= BLACKLIST_BIT;
    emit Blacklisted(account);
  }

  function unBlacklist(address account) external {
    balanceAndBlacklistStates[account] &= ~BLACKLIST_BIT;
    emit UnBlacklisted(account);
  }

  function pause() external {
    paused = true;
    emit Pause();
  }

  function unpause() external {
    paused = false;
    emit Unpause();
  }

  function DOMAIN_SEPARATOR() public view returns (bytes32) {
    return
      keccak256(
        abi.encode(DOMAIN_TYPEHASH, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
      );
  }

  function mint(address to, uint256 value) external whenNotPaused notBlacklisted(to) returns (bool) {
    require(to != address(0), "FiatToken: mint to the zero address");
    totalSupply += value;
    unchecked {
      balanceAndBlacklistStates[to] += value;
    }
    emit Transfer(address(0), to, value);
    return true;
  }

  function transfer(
    address to,
    uint256 value
  ) external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(to) returns (bool) {
    _transfer(msg.sender, to, value);
    return true;
  }

  function transferFrom(
    address from,
    address to,
    uint256 value
  ) external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(from) notBlacklisted(to) returns (bool) {
    uint256 allowed = allowance[from][msg.sender];
    require(value <= allowed, "ERC20: transfer amount exceeds allowance");
    if (allowed != type(uint256).max) {
      unchecked {
        allowance[from][msg.sender] = allowed - value;
      }
    }
    _transfer(from, to, value);
    return true;
  }

  function approve(address spender, uint256 value) external returns (bool) {
    _approve(msg.sender, spender, value);
    return true;
  }

  function increaseAllowance(address spender, uint256 increment) external returns (bool) {
    _approve(msg.sender, spender, allowance[msg.sender][spender] + increment);
    return true;
  }

  function decreaseAllowance(address spender, uint256 decrement) external returns (bool) {
    uint256 allowed = allowance[msg.sender][spender];
    require(decrement <= allowed, "ERC20: decreased allowance below zero");
    _approve(msg.sender, spender, allowed - decrement);
    return true;
  }

  function permit(
    address owner,
    address spender,
    uint256 value,
    uint256 deadline,
    uint8 v,
    bytes32 r,
    bytes32 s
  ) external {
    permit(owner, spender, value, deadline, abi.encodePacked(r, s, v));
  }

  function permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature) public {
    require(deadline >= block.timestamp, "FiatTokenV2: permit is expired");
    bytes32 content = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner]++, deadline));
    require(_signed(owner, content, signature), "EIP2612: invalid signature");
    _approve(owner, spender, value);
  }

  function transferWithAuthorization(
    address from,
    address to,
    uint256 value,
    uint256 validAfter,
    uint256 validBefore,
    bytes32 nonce,
    uint8 v,
    bytes32 r,
    bytes32 s
  ) external {
    transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
  }

  function transferWithAuthorization(
    address from,
    address to,
    uint256 value,
    uint256 validAfter,
    uint256 validBefore,
    bytes32 nonce,
    bytes memory signature
  ) public whenNotPaused notBlacklisted(from) notBlacklisted(to) {
    _requireOpen(from, nonce, validAfter, validBefore);
    bytes32 content = keccak256(
      abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
    );
    _use(from, nonce, content, signature);
    _transfer(from, to, value);
  }

  function receiveWithAuthorization(
    address from,
    address to,
    uint256 value,
    uint256 validAfter,
    uint256 validBefore,
    bytes32 nonce,
    uint8 v,
    bytes32 r,
    bytes32 s
  ) external {
    receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
  }

  function receiveWithAuthorization(
    address from,
    address to,
    uint256 value,
    uint256 validAfter,
    uint256 validBefore,
    bytes32 nonce,
    bytes memory signature
  ) public whenNotPaused notBlacklisted(from) notBlacklisted(to) {
    require(to == msg.sender, "FiatTokenV2: caller must be the payee");
    _requireOpen(from, nonce, validAfter, validBefore);
    bytes32 content = keccak256(
      abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
    );
    _use(from, nonce, content, signature);
    _transfer(from, to, value);
  }

  function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
    cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
  }

  function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public whenNotPaused {
    require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    bytes32 content = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
    require(_signed(authorizer, content, signature), "FiatTokenV2: invalid signature");
    authorizationState[authorizer][nonce] = true;
    emit AuthorizationCanceled(authorizer, nonce);
  }

  function _requireOpen(address authorizer, bytes32 nonce, uint256 validAfter, uint256 validBefore) private view {
    require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
    require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
    require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
  }

  function _use(address authorizer, bytes32 nonce, bytes32 content, bytes memory signature) private {
    require(_signed(authorizer, content, signature), "FiatTokenV2: invalid signature");
    authorizationState[authorizer][nonce] = true;
    emit AuthorizationUsed(authorizer, nonce);
  }

  function _transfer(address from, address to, uint256 value) private {
    require(from != address(0), "ERC20: transfer from the zero address");
    require(to != address(0), "ERC20: transfer to the zero address");
    uint256 balance = balanceOf(from);
    require(value <= balance, "ERC20: transfer amount exceeds balance");
    unchecked {
      balanceAndBlacklistStates[from] -= value;
      balanceAndBlacklistStates[to] += value;
    }
    emit Transfer(from, to, value);
  }

  function _approve(
    address owner,
    address spender,
    uint256 value
  ) private whenNotPaused notBlacklisted(owner) notBlacklisted(spender) {
    require(owner != address(0), "ERC20: approve from the zero address");
    require(spender != address(0), "ERC20: approve to the zero address");
    allowance[owner][spender] = value;
    emit Approval(owner, spender, value);
  }

  function _signed(address signer, bytes32 content, bytes memory signature) private view returns (bool) {
    bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), content));
    return signer.code.length == 0 ? _recover(digest, signature) == signer : _approved(signer, digest, signature);
  }

  function _recover(bytes32 digest, bytes memory signature) private pure returns (address signer) {
    require(signature.length == 65, "ECRecover: invalid signature length");
    bytes32 r;
    bytes32 s;
    uint8 v;
    assembly ("memory-safe") {
      r := mload(add(signature, 0x20))
      s := mload(add(signature, 0x40))
      v := byte(0, mload(add(signature, 0x60)))
    }
    require(uint256(s) <= HALF_CURVE_ORDER, "ECRecover: invalid signature 's' value");
    require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
    signer = ecrecover(digest, v, r, s);
    require(signer != address(0), "ECRecover: invalid signature");
  }

  /// Asks a contract wallet (EIP-1271). A wallet that reverts or answers anything else has not signed.
  function _approved(address wallet, bytes32 digest, bytes memory signature) private view returns (bool) {
    (bool success, bytes memory answer) = wallet.staticcall(
      abi.encodeCall(IContractWallet.isValidSignature, (digest, signature))
    );
    return
      success &&
      answer.length >= 32 &&
      abi.decode(answer, (bytes32)) == bytes32(IContractWallet.isValidSignature.selector);
  }
}
