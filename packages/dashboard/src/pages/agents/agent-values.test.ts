import { type AgentDetail, AgentUpdate } from '@agent-network/contracts/agents/agents';
import { expect, it } from 'vitest';
import { noValues, registrationBody, updateBody, valuesOf } from './agent-values.ts';

const agent = {
  ...{ name: 'Echo', description: '', capabilities: ['echo'], endpoint: 'http://127.0.0.1:1/' },
  rates: { perRequest: '0.05', perHour: '0.05', tiers: { basic: '0.05', premium: '0.04', enterprise: '0.05' } },
  metadata: { tags: ['test'], maxConcurrency: 4 },
} as unknown as AgentDetail;

it('leaves out what is left empty, and sends what must be there', () => {
  expect(registrationBody({ ...noValues, name: 'Echo' })).toEqual({
    ...{ name: 'Echo', description: '', capabilities: [], endpoint: '' },
    rates: { perRequest: '' },
    metadata: {},
  });
});

it('sends nothing of an agent that was not changed, however its prices are written', () => {
  expect(updateBody(valuesOf(agent), agent)).toEqual({});
  expect(updateBody({ ...valuesOf(agent), perRequest: '0.050' }, agent)).toEqual({});
});

it('leaves prices that the form does not show as they are', () =>
  expect(updateBody({ ...valuesOf(agent), perRequest: '0.1' }, agent)).toEqual({ rates: { perRequest: '0.1' } }));

it('has the price follow the size of calls only when the owner states steps', () => {
  const steps = [
    { aboveBytes: '65536', multiplier: '1.5' },
    { aboveBytes: '16384', multiplier: '1.25' },
  ];
  const body = updateBody({ ...valuesOf(agent), sizeSteps: steps }, agent);
  expect(body.metadata?.sizeSteps).toEqual([
    { aboveBytes: 16_384, multiplier: '1.25' },
    { aboveBytes: 65_536, multiplier: '1.5' },
  ]);
  expect(AgentUpdate.safeParse(body).success).toBe(true);
  const changed = { ...agent, metadata: { ...agent.metadata, ...body.metadata } } as AgentDetail;
  expect(updateBody(valuesOf(changed), changed)).toEqual({});
  const bad = updateBody({ ...valuesOf(agent), sizeSteps: [{ aboveBytes: '', multiplier: '2' }] }, agent);
  expect(AgentUpdate.safeParse(bad).success).toBe(false);
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
