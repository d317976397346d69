// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IERC721Receiver {
  function onERC721Received(address operator, address from, uint256 tokenId, bytes calldata data) external returns (bytes4);
}

interface IERC1271 {
  function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// ERC-8004 identity registry with the functions, events and errors of the published one. Nothing is set up in a
/// constructor, so the code works at whatever address it is installed. It differs from the published one in two ways:
/// it has no owner who could replace it, and a receiving contract is asked last, when all else is stored and logged.
contract IdentityRegistry {
  struct MetadataEntry {
    string metadataKey;
    bytes metadataValue;
  }

  event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
  event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
  event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
  event MetadataUpdate(uint256 _tokenId);
  event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
  event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);
  event MetadataSet(
    uint256 indexed agentId,
    string indexed indexedMetadataKey,
    string metadataKey,
    bytes metadataValue
  );

  error ERC721InvalidOwner(address owner);
  error ERC721NonexistentToken(uint256 tokenId);
  error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner);
  error ERC721InvalidReceiver(address receiver);
  error ERC721InsufficientApproval(address operator, uint256 tokenId);
  error ERC721InvalidApprover(address approver);
  error ERC721InvalidOperator(address operator);

  string public constant name = "AgentIdentity";
  string public constant symbol = "AGENT";

  string private constant WALLET_KEY = "agentWallet";
  string private constant DOMAIN_NAME = "ERC8004IdentityRegistry";
  string private constant DOMAIN_VERSION = "1";
  bytes32 private constant DOMAIN_TYPEHASH =
    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
  bytes32 private constant AGENT_WALLET_SET_TYPEHASH =
    keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
  uint256 private constant LONGEST_PROOF = 5 minutes;
  uint256 private constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

  // Chains that were saved have these slots filled, and later code meets them: new ones go to the end.
  uint256 private _nextId;
  mapping(uint256 => address) private _owners;
  mapping(address => uint256) private _balances;
  mapping(uint256 => address) private _approved;
  mapping(address owner => mapping(address operator => bool)) public isApprovedForAll;
  mapping(uint256 => string) private _uris;
  mapping(uint256 => mapping(string => bytes)) private _metadata;

  modifier onlyAuthorized(uint256 agentId) {
    require(isAuthorizedOrOwner(msg.sender, agentId), "Not authorized");
    _;
  }

  function register() external returns (uint256 agentId) {
    agentId = _mint();
    _announce(agentId, "", new MetadataEntry[](0));
  }

  function register(string calldata agentURI) external returns (uint256 agentId) {
    agentId = _mint();
    _setUri(agentId, agentURI);
    _announce(agentId, agentURI, new MetadataEntry[](0));
  }

  function register(
    string calldata agentURI,
    MetadataEntry[] calldata metadata
  ) external returns (uint256 agentId) {
    agentId = _mint();
    _setUri(agentId, agentURI);
    _announce(agentId, agentURI, metadata);
  }

  function setAgentURI(uint256 agentId, string calldata newURI) external onlyAuthorized(agentId) {
    _setUri(agentId, newURI);
    emit URIUpdated(agentId, newURI, msg.sender);
  }

  function setMetadata(
    uint256 agentId,
    string calldata metadataKey,
    bytes calldata metadataValue
  ) external onlyAuthorized(agentId) {
    _setFreeMetadata(agentId, metadataKey, metadataValue);
  }

  function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory) {
    return _metadata[agentId][metadataKey];
  }

  /// Takes the new wallet's own signature: of its key, or as a contract (ERC-1271).
  function setAgentWallet(
    uint256 agentId,
    address newWallet,
    uint256 deadline,
    bytes calldata signature
  ) external onlyAuthorized(agentId) {
    require(newWallet != address(0), "bad wallet");
    require(block.timestamp <= deadline, "expired");
    require(deadline <= block.timestamp + LONGEST_PROOF, "deadline too far");
    bytes32 content = keccak256(
      abi.encode(AGENT_WALLET_SET_TYPEHASH, agentId, newWallet, _owners[agentId], deadline)
    );
    bytes32 digest = keccak256(abi.encodePacked("\x19\x01", _domainSeparator(), content));
    bool signed = _recover(digest, signature) == newWallet || _approvedByContract(newWallet, digest, signature);
    require(signed, "invalid wallet sig");
    _setMetadata(agentId, WALLET_KEY, abi.encodePacked(newWallet));
  }

  function unsetAgentWallet(uint256 agentId) external onlyAuthorized(agentId) {
    _setMetadata(agentId, WALLET_KEY, "");
  }

  function getAgentWallet(uint256 agentId) external view returns (address) {
    return address(bytes20(_metadata[agentId][WALLET_KEY]));
  }

  /// True for the owner, an operator of all the owner's agents, and whoever is approved for this one.
  function isAuthorizedOrOwner(address spender, uint256 agentId) public view returns (bool) {
    address owner = ownerOf(agentId);
    return spender == owner || isApprovedForAll[owner][spender] || (spender == _approved[agentId] && spender != address(0));
  }

  function ownerOf(uint256 tokenId) public view returns (address) {
    address owner = _owners[tokenId];
    if (owner == address(0)) revert ERC721NonexistentToken(tokenId);
    return owner;
  }

  function balanceOf(address owner) external view returns (uint256) {
    if (owner == address(0)) revert ERC721InvalidOwner(owner);
    return _balances[owner];
  }

  function tokenURI(uint256 tokenId) external view returns (string memory) {
    ownerOf(tokenId);
    return _uris[tokenId];
  }

  function getApproved(uint256 tokenId) external view returns (address) {
    ownerOf(tokenId);
    return _approved[tokenId];
  }

  function approve(address to, uint256 tokenId) external {
    address owner = ownerOf(tokenId);
    if (msg.sender != owner && !isApprovedForAll[owner][msg.sender]) revert ERC721InvalidApprover(msg.sender);
    _approved[tokenId] = to;
    emit Approval(owner, to, tokenId);
  }

  function setApprovalForAll(address operator, bool approved) external {
    if (operator == address(0)) revert ERC721InvalidOperator(operator);
    isApprovedForAll[msg.sender][operator] = approved;
    emit ApprovalForAll(msg.sender, operator, approved);
  }

  function transferFrom(address from, address to, uint256 tokenId) public {
    if (to == address(0)) revert ERC721InvalidReceiver(to);
    if (!isAuthorizedOrOwner(msg.sender, tokenId)) revert ERC721InsufficientApproval(msg.sender, tokenId);
    address owner = _owners[tokenId];
    if (owner != from) revert ERC721IncorrectOwner(from, tokenId, owner);
    _setMetadata(tokenId, WALLET_KEY, "");
    delete _approved[tokenId];
    _give(from, to, tokenId);
  }

  function safeTransferFrom(address from, address to, uint256 tokenId) external {
    safeTransferFrom(from, to, tokenId, "");
  }

  function safeTransferFrom(address from, address to, uint256 tokenId, bytes memory data) public {
    transferFrom(from, to, tokenId);
    _requireAccepted(from, to, tokenId, data);
  }

  /// ERC-165 itself, ERC-721, its metadata extension, ERC-4906.
  function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
    return
      interfaceId == 0x01ffc9a7 ||
      interfaceId == 0x80ac58cd ||
      interfaceId == 0x5b5e139f ||
      interfaceId == 0x49064906;
  }

  /// The signing domain in the form of ERC-5267: name, version, chain and contract are used.
  function eip712Domain()
    external
    view
    returns (
      bytes1 fields,
      string memory name_,
      string memory version,
      uint256 chainId,
      address verifyingContract,
      bytes32 salt,
      uint256[] memory extensions
    )
  {
    return (0x0f, DOMAIN_NAME, DOMAIN_VERSION, block.chainid, address(this), bytes32(0), new uint256[](0));
  }

  function getVersion() external pure returns (string memory) {
    return "2.0.0";
  }

  function _mint() private returns (uint256 agentId) {
    agentId = _nextId++;
    _give(address(0), msg.sender, agentId);
  }

  function _announce(uint256 agentId, string memory agentURI, MetadataEntry[] memory metadata) private {
    emit Registered(agentId, agentURI, msg.sender);
    _setMetadata(agentId, WALLET_KEY, abi.encodePacked(msg.sender));
    for (uint256 i = 0; i < metadata.length; i++) {
      _setFreeMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
    }
    _requireAccepted(address(0), msg.sender, agentId, "");
  }

  function _give(address from, address to, uint256 tokenId) private {
    if (from != address(0)) _balances[from]--;
    _balances[to]++;
    _owners[tokenId] = to;
    emit Transfer(from, to, tokenId);
  }

  function _setUri(uint256 agentId, string calldata uri) private {
    _uris[agentId] = uri;
    emit MetadataUpdate(agentId);
  }

  function _setFreeMetadata(uint256 agentId, string memory key, bytes memory value) private {
    require(keccak256(bytes(key)) != keccak256(bytes(WALLET_KEY)), "reserved key");
    _setMetadata(agentId, key, value);
  }

  function _setMetadata(uint256 agentId, string memory key, bytes memory value) private {
    _metadata[agentId][key] = value;
    emit MetadataSet(agentId, key, key, value);
  }

  function _requireAccepted(address from, address to, uint256 tokenId, bytes memory data) private {
    if (to.code.length == 0) return;
    (bool success, bytes memory answer) = to.call(
      abi.encodeCall(IERC721Receiver.onERC721Received, (msg.sender, from, tokenId, data))
    );
    if (!success && answer.length > 0) {
      assembly ("memory-safe") {
        revert(add(answer, 0x20), mload(answer))
      }
    }
    if (!success || !_isSelector(answer, IERC721Receiver.onERC721Received.selector)) revert ERC721InvalidReceiver(to);
  }

  function _domainSeparator() private view returns (bytes32) {
    return
      keccak256(
        abi.encode(
          DOMAIN_TYPEHASH,
          keccak256(bytes(DOMAIN_NAME)),
          keccak256(bytes(DOMAIN_VERSION)),
          block.chainid,
          address(this)
        )
      );
  }

  /// The signer; the zero address when this is no signature of 65 bytes in its low-s form.
  function _recover(bytes32 digest, bytes calldata signature) private pure returns (address) {
    if (signature.length != 65) return address(0);
    bytes32 s = bytes32(signature[32:64]);
    if (uint256(s) > HALF_CURVE_ORDER) return address(0);
    return ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), s);
  }

  function _approvedByContract(address wallet, bytes32 digest, bytes calldata signature) private view returns (bool) {
    (bool success, bytes memory answer) = wallet.staticcall(
      abi.encodeCall(IERC1271.isValidSignature, (digest, signature))
    );
    return success && _isSelector(answer, IERC1271.isValidSignature.selector);
  }

  function _isSelector(bytes memory answer, bytes4 selector) private pure returns (bool) {
    return answer.length >= 32 && bytes32(answer) == bytes32(selector);
  }
}
