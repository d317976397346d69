// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IIdentityRegistry {
  function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);
}

/// ERC-8004 reputation registry with the functions and events of the published one. Nothing is set up in a constructor.
/// It differs from the published one in two ways: it has no owner who could replace it, and a mean that does not fit
/// its type is refused instead of cut off.
contract ReputationRegistry {
  struct Feedback {
    int128 value;
    uint8 valueDecimals;
    bool isRevoked;
    string tag1;
    string tag2;
  }

  /// What of a feedback is logged only.
  struct Origin {
    string endpoint;
    string feedbackURI;
    bytes32 feedbackHash;
  }

  /// What a reader asks for. An empty tag matches every tag.
  struct Filter {
    uint256 agentId;
    bytes32 tag1Hash;
    bytes32 tag2Hash;
    bool includeRevoked;
  }

  event NewFeedback(
    uint256 indexed agentId,
    address indexed clientAddress,
    uint64 feedbackIndex,
    int128 value,
    uint8 valueDecimals,
    string indexed indexedTag1,
    string tag1,
    string tag2,
    string endpoint,
    string feedbackURI,
    bytes32 feedbackHash
  );
  event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
  event ResponseAppended(
    uint256 indexed agentId,
    address indexed clientAddress,
    uint64 feedbackIndex,
    address indexed responder,
    string responseURI,
    bytes32 responseHash
  );

  /// The identity registry of Base Sepolia, whose address ours has on the local chain.
  address private constant IDENTITY_REGISTRY = 0x8004A818BFB912233c491871b3d84c89A494BD9e;
  int128 private constant LARGEST_VALUE = 1e38;
  uint8 private constant MOST_DECIMALS = 18;
  bytes32 private constant EMPTY_HASH = keccak256("");

  // Chains that were saved have these slots filled, and later code meets them: new ones go to the end.
  mapping(uint256 agentId => address[]) private _clients;
  /// Feedback n of a client stands at n - 1.
  mapping(uint256 agentId => mapping(address client => Feedback[])) private _feedback;
  mapping(uint256 agentId => mapping(address client => mapping(uint64 index => uint64))) private _responses;
  mapping(uint256 agentId => mapping(address client => mapping(uint64 index => mapping(address responder => uint64))))
    private _responsesBy;

  function giveFeedback(
    uint256 agentId,
    int128 value,
    uint8 valueDecimals,
    string memory tag1,
    string memory tag2,
    string memory endpoint,
    string memory feedbackURI,
    bytes32 feedbackHash
  ) external {
    require(valueDecimals <= MOST_DECIMALS, "too many decimals");
    require(value >= -LARGEST_VALUE && value <= LARGEST_VALUE, "value too large");
    bool isOwn = IIdentityRegistry(IDENTITY_REGISTRY).isAuthorizedOrOwner(msg.sender, agentId);
    require(!isOwn, "Self-feedback not allowed");
    _store(agentId, Feedback(value, valueDecimals, false, tag1, tag2), Origin(endpoint, feedbackURI, feedbackHash));
  }

  function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
    Feedback storage feedback = _find(agentId, msg.sender, feedbackIndex);
    require(!feedback.isRevoked, "Already revoked");
    feedback.isRevoked = true;
    emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
  }

  function appendResponse(
    uint256 agentId,
    address clientAddress,
    uint64 feedbackIndex,
    string calldata responseURI,
    bytes32 responseHash
  ) external {
    require(bytes(responseURI).length > 0, "Empty URI");
    _find(agentId, clientAddress, feedbackIndex);
    _responses[agentId][clientAddress][feedbackIndex]++;
    _responsesBy[agentId][clientAddress][feedbackIndex][msg.sender]++;
    emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
  }

  /// The mean of the matching feedback, rounded towards zero, in the decimals that most of it has (the fewest of equals).
  function getSummary(
    uint256 agentId,
    address[] calldata clientAddresses,
    string calldata tag1,
    string calldata tag2
  ) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals) {
    require(clientAddresses.length > 0, "clientAddresses required");
    Filter memory filter = _filter(agentId, tag1, tag2, false);
    uint64[19] memory uses;
    int256 sum;
    for (uint256 i = 0; i < clientAddresses.length; i++) sum += _addUp(filter, clientAddresses[i], uses);
    for (uint8 decimals = 0; decimals <= MOST_DECIMALS; decimals++) {
      count += uses[decimals];
      if (uses[decimals] > uses[summaryValueDecimals]) summaryValueDecimals = decimals;
    }
    if (count == 0) return (0, 0, 0);
    int256 mean = sum / int256(uint256(count)) / _power(MOST_DECIMALS - summaryValueDecimals);
    summaryValue = int128(mean);
    require(summaryValue == mean, "mean too large");
  }

  function readFeedback(
    uint256 agentId,
    address clientAddress,
    uint64 feedbackIndex
  )
    external
    view
    returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
  {
    Feedback storage feedback = _find(agentId, clientAddress, feedbackIndex);
    return (feedback.value, feedback.valueDecimals, feedback.tag1, feedback.tag2, feedback.isRevoked);
  }

  /// The matching feedback of these clients; of all clients when none is named.
  function readAllFeedback(
    uint256 agentId,
    address[] memory clientAddresses,
    string memory tag1,
    string memory tag2,
    bool includeRevoked
  )
    external
    view
    returns (
      address[] memory clients,
      uint64[] memory feedbackIndexes,
      int128[] memory values,
      uint8[] memory valueDecimals,
      string[] memory tag1s,
      string[] memory tag2s,
      bool[] memory revokedStatuses
    )
  {
    (clients, feedbackIndexes) = _select(_filter(agentId, tag1, tag2, includeRevoked), clientAddresses);
    values = new int128[](clients.length);
    valueDecimals = new uint8[](clients.length);
    tag1s = new string[](clients.length);
    tag2s = new string[](clients.length);
    revokedStatuses = new bool[](clients.length);
    for (uint256 i = 0; i < clients.length; i++) {
      Feedback storage feedback = _feedback[agentId][clients[i]][feedbackIndexes[i] - 1];
      values[i] = feedback.value;
      valueDecimals[i] = feedback.valueDecimals;
      tag1s[i] = feedback.tag1;
      tag2s[i] = feedback.tag2;
      revokedStatuses[i] = feedback.isRevoked;
    }
  }

  /// Responses by anyone, or by these responders: to all feedback (zero address), to a client's (index 0), or to one.
  function getResponseCount(
    uint256 agentId,
    address clientAddress,
    uint64 feedbackIndex,
    address[] calldata responders
  ) external view returns (uint64 count) {
    if (clientAddress != address(0) && feedbackIndex != 0) {
      return _countResponses(agentId, clientAddress, feedbackIndex, responders);
    }
    address[] memory clients = new address[](1);
    clients[0] = clientAddress;
    if (clientAddress == address(0)) clients = _clients[agentId];
    for (uint256 i = 0; i < clients.length; i++) {
      uint64 last = getLastIndex(agentId, clients[i]);
      for (uint64 index = 1; index <= last; index++) count += _countResponses(agentId, clients[i], index, responders);
    }
  }

  function getClients(uint256 agentId) external view returns (address[] memory) {
    return _clients[agentId];
  }

  function getLastIndex(uint256 agentId, address clientAddress) public view returns (uint64) {
    return uint64(_feedback[agentId][clientAddress].length);
  }

  function getIdentityRegistry() external pure returns (address) {
    return IDENTITY_REGISTRY;
  }

  function getVersion() external pure returns (string memory) {
    return "2.0.0";
  }

  function _store(uint256 agentId, Feedback memory feedback, Origin memory origin) private {
    Feedback[] storage given = _feedback[agentId][msg.sender];
    if (given.length == 0) _clients[agentId].push(msg.sender);
    given.push(feedback);
    emit NewFeedback(
      agentId,
      msg.sender,
      uint64(given.length),
      feedback.value,
      feedback.valueDecimals,
      feedback.tag1,
      feedback.tag1,
      feedback.tag2,
      origin.endpoint,
      origin.feedbackURI,
      origin.feedbackHash
    );
  }

  function _find(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
    require(index > 0, "index must be > 0");
    require(index <= getLastIndex(agentId, client), "index out of bounds");
    return _feedback[agentId][client][index - 1];
  }

  function _filter(
    uint256 agentId,
    string memory tag1,
    string memory tag2,
    bool includeRevoked
  ) private pure returns (Filter memory) {
    return Filter(agentId, keccak256(bytes(tag1)), keccak256(bytes(tag2)), includeRevoked);
  }

  function _matches(Filter memory filter, Feedback storage feedback) private view returns (bool) {
    if (feedback.isRevoked && !filter.includeRevoked) return false;
    if (filter.tag1Hash != EMPTY_HASH && filter.tag1Hash != keccak256(bytes(feedback.tag1))) return false;
    return filter.tag2Hash == EMPTY_HASH || filter.tag2Hash == keccak256(bytes(feedback.tag2));
  }

  /// The sum of one client's matching feedback with 18 decimals; counts in `uses` the decimals that it was given in.
  function _addUp(Filter memory filter, address client, uint64[19] memory uses) private view returns (int256 sum) {
    Feedback[] storage given = _feedback[filter.agentId][client];
    for (uint256 i = 0; i < given.length; i++) {
      if (!_matches(filter, given[i])) continue;
      uses[given[i].valueDecimals]++;
      sum += given[i].value * _power(MOST_DECIMALS - given[i].valueDecimals);
    }
  }

  function _power(uint8 exponent) private pure returns (int256) {
    return int256(10 ** uint256(exponent));
  }

  function _select(
    Filter memory filter,
    address[] memory wanted
  ) private view returns (address[] memory clients, uint64[] memory indexes) {
    if (wanted.length == 0) wanted = _clients[filter.agentId];
    uint256 most;
    for (uint256 i = 0; i < wanted.length; i++) most += getLastIndex(filter.agentId, wanted[i]);
    clients = new address[](most);
    indexes = new uint64[](most);
    uint256 found;
    for (uint256 i = 0; i < wanted.length; i++) {
      Feedback[] storage given = _feedback[filter.agentId][wanted[i]];
      for (uint256 j = 0; j < given.length; j++) {
        if (!_matches(filter, given[j])) continue;
        clients[found] = wanted[i];
        indexes[found++] = uint64(j + 1);
      }
    }
    assembly ("memory-safe") {
      mstore(clients, found)
      mstore(indexes, found)
    }
  }

  function _countResponses(
    uint256 agentId,
    address client,
    uint64 index,
    address[] calldata responders
  ) private view returns (uint64 count) {
    if (responders.length == 0) return _responses[agentId][client][index];
    for (uint256 i = 0; i < responders.length; i++) count += _responsesBy[agentId][client][index][responders[i]];
  }
}
