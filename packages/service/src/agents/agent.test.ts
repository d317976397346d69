import { describe, expect, it } from 'vitest';
import { type AgentEvent, agentTransitions, isVerified, nextAgentStatus, type StoredStatus } from './agent.ts';

const statuses = Object.keys(agentTransitions) as StoredStatus[];
const events = Object.keys(agentTransitions.online) as AgentEvent[];

describe('the life of an agent', () => {
  it.each<[StoredStatus, AgentEvent, StoredStatus]>([
    ['pending_verification', 'proven', 'online'],
    ['pending_verification', 'came_up', 'pending_verification'],
    ['pending_verification', 'went_down', 'pending_verification'],
    ['pending_verification', 'refused', 'pending_verification'],
    ['pending_verification', 'endpoint_changed', 'pending_verification'],
    ['online', 'proven', 'online'],
    ['online', 'came_up', 'online'],
    ['online', 'went_down', 'offline'],
    ['online', 'refused', 'offline'],
    ['online', 'endpoint_changed', 'pending_verification'],
    ['offline', 'proven', 'online'],
    ['offline', 'came_up', 'online'],
    ['offline', 'went_down', 'offline'],
    ['offline', 'refused', 'offline'],
    ['offline', 'endpoint_changed', 'pending_verification'],
  ])('%s and %s: %s', (status, event, next) => expect(nextAgentStatus(status, event)).toBe(next));

  it('ends for good with its removal, from every status', () => {
    for (const status of statuses) expect(nextAgentStatus(status, 'removed')).toBe('removed');
    for (const event of events) expect(nextAgentStatus('removed', event)).toBe('removed');
  });

  it('knows what every event does in every status', () => {
    for (const status of statuses) expect(Object.keys(agentTransitions[status]).sort()).toEqual([...events].sort());
  });

  it('never reaches online but by a proof or by coming up from offline', () => {
    const ways = statuses.flatMap((status) =>
      events.filter((event) => agentTransitions[status][event] === 'online').map((event) => `${status} ${event}`),
    );
    expect(ways).toEqual(['pending_verification proven', 'offline proven', 'offline came_up']);
  });
});

it('an agent is verified when both its endpoint and the wallet of its owner are proven', () => {
  const provenAt = new Date(0);
  expect(isVerified({ endpointProvenAt: provenAt, isWalletProven: true })).toBe(true);
  expect(isVerified({ endpointProvenAt: null, isWalletProven: true })).toBe(false);
  expect(isVerified({ endpointProvenAt: provenAt, isWalletProven: false })).toBe(false);
});
