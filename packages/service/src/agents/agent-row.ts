/** Columns of an agent, from `source`. */
export const columns = `g.id, g.account_id as "accountId", g.owner_address as owner, g.name, g.description, g.capabilities,
  g.per_request_micro as "perRequestMicro", g.per_hour_micro as "perHourMicro", g.tiers, g.endpoint, g.metadata, g.example_questions as "exampleQuestions", g.types_id as "typesId", g.status,
  g.reputation, g.is_new as "isNew", g.token_sealed as "tokenSealed", g.endpoint_proven_at as "endpointProvenAt",
  case when g.home_node is null and g.frozen_at is null then a.wallet_proven_at end as "walletProvenAt",
  g.home_node is not null or a.wallet_proven_at is not null and g.frozen_at is null as "isWalletProven",
  a.address as "accountAddress", g.frozen_at as "frozenAt", g.owned_since as "ownedSince", g.token_claimed_at as "tokenClaimedAt", g.checks_done as "checksDone",
  g.failed_in_a_row as "failedInARow", g.passed_in_a_row as "passedInARow", g.last_ping_at as "lastPingAt", g.next_check_at as "nextCheckAt",
  case when g.status = 'online' then greatest(g.last_seen_at, n.last_seen_at) else g.last_seen_at end as "lastSeenAt",
  g.response_ms as "responseMs", g.reported_load as "reportedLoad", g.reported_at as "reportedAt",
  g.is_accepting as "isAccepting", g.created_at as "createdAt", g.updated_at as "updatedAt",
  g.protocol, g.upstream, g.upstream_headers_sealed as "upstreamHeadersSealed", g.upstream_digest as "upstreamDigest", g.fault, g.fault_detail as "faultDetail",
  t.completed, t.failed, t.duration_ms as "durationMs", t.probes_passed as "probesPassed", t.probes,
  g.token_id::text as "tokenId", encode(g.id_salt, 'hex') as "idSalt", g.home_node as "homeNode", n.label as "homeLabel", n.base_url as "homeUrl"`;

/** `agents`: a table, or rows like its own. */
export const sourceOf = (agents: string) =>
  `${agents} g join account a on a.id = g.account_id join agent_totals t on t.agent_id = g.id left join network_node n on n.id = g.home_node`;
export const source = sourceOf('agent');
