import { type AgentDetail, AgentUpdate } from '@agent-network/contracts/agents/agents';
import { expect, it } from 'vitest';
import { noValues, registrationBody, updateBody, valuesOf } from './agent-values.ts';

const agent = {
  ...{ name: 'Echo', description: '', capabilities: ['echo'], endpoint: 'http://127.0.0.1:1/' },
  rates: { perRequest: '0.05', perHour: '0.05', tiers: { basic: '0.05', premium: '0.04', enterprise: '0.05' } },
  metadata: { tags: ['test'], maxConcurrency: 4 },
} as unknown as AgentDetail;

it('leaves out what is left empty, and sends what must be there', () => {
  expect(registrationBody({ ...noValues, name: 'Echo', premium: '0.04' })).toEqual({
    ...{ name: 'Echo', description: '', capabilities: [], endpoint: '' },
    rates: { perRequest: '', tiers: { premium: '0.04' } },
    metadata: {},
  });
});

it('sends nothing of an agent that was not changed, however its prices are written', () => {
  expect(updateBody(valuesOf(agent), agent)).toEqual({});
  expect(updateBody({ ...valuesOf(agent), perRequest: '0.050', premium: '0.040000' }, agent)).toEqual({});
});

it('sends prices that follow the one per request along with it, and those of their own only when they differ', () => {
  const body = updateBody({ ...valuesOf(agent), perRequest: '0.1' }, agent);
  expect(body).toEqual({ rates: { perRequest: '0.1', perHour: '0.1', tiers: { basic: '0.1', enterprise: '0.1' } } });
  expect(AgentUpdate.safeParse(body).success).toBe(true);
  expect(updateBody({ ...valuesOf(agent), premium: '' }, agent)).toEqual({ rates: { tiers: { premium: '0.05' } } });
});

it('replaces the metadata as a whole', () => {
  expect(updateBody({ ...valuesOf(agent), website: 'https://a.test' }, agent)).toEqual({
    metadata: { website: 'https://a.test', tags: ['test'], maxConcurrency: 4 },
  });
});

it('has the price follow hints of callers only when the owner says so', () => {
  expect(valuesOf(agent).priceHints).toBe(false);
  expect(registrationBody({ ...noValues, priceHints: true }).metadata).toEqual({ priceHints: true });
  const body = updateBody({ ...valuesOf(agent), priceHints: true }, agent);
  expect(body).toEqual({ metadata: { tags: ['test'], maxConcurrency: 4, priceHints: true } });
  expect(AgentUpdate.safeParse(body).success).toBe(true);
});
