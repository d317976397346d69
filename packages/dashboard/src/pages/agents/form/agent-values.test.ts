import { type AgentDetail, AgentUpdate } from '@agent-network/contracts/agents/agents';
import { expect, it } from 'vitest';
import { noValues, problemsOfValues, registrationBody, updateBody, valuesOf } from './agent-values.ts';

const detail = {
  ...{ name: 'Echo', description: '', capabilities: ['echo'], endpoint: 'http://127.0.0.1:1/' },
  rates: { perRequest: '0.05', perHour: '0.05', tiers: { basic: '0.05', premium: '0.04', enterprise: '0.05' } },
  metadata: { tags: ['test'], maxConcurrency: 4 },
  exampleQuestions: ['What is an echo?', 'Say this again, please'],
} as unknown as AgentDetail;
const own = { protocol: 'http', upstream: { tool: null, model: null, headers: {} } } as const;
const agent = { detail, own };

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

it('sends example questions line by line, only when they differ', () => {
  const more = { ...valuesOf(agent), exampleQuestions: ' One? \n\nTwo, or three?' };
  expect(updateBody(more, agent)).toEqual({ exampleQuestions: ['One?', 'Two, or three?'] });
  expect(updateBody({ ...more, exampleQuestions: ' ' }, agent)).toEqual({ exampleQuestions: [] });
  expect(AgentUpdate.safeParse({ exampleQuestions: [] }).success).toBe(true);
  expect(registrationBody({ ...noValues, exampleQuestions: 'a, b?\nc' }).exampleQuestions).toEqual(['a, b?', 'c']);
});

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
  const changed = { detail: { ...detail, metadata: { ...detail.metadata, ...body.metadata } } as AgentDetail, own };
  expect(updateBody(valuesOf(changed), changed)).toEqual({});
  const bad = updateBody({ ...valuesOf(agent), sizeSteps: [{ aboveBytes: '', multiplier: '2' }] }, agent);
  expect(AgentUpdate.safeParse(bad).success).toBe(false);
});

it('sends of the metadata the fields that differ, and null for one that was emptied', () => {
  const changed = { ...valuesOf(agent), website: 'https://a.test', tags: [] };
  expect(updateBody(changed, agent)).toEqual({ metadata: { website: 'https://a.test', tags: null } });
  expect(AgentUpdate.safeParse(updateBody(changed, agent)).success).toBe(true);
});

it('has the price follow hints of callers only when the owner says so', () => {
  expect(valuesOf(agent).priceHints).toBe(false);
  expect(registrationBody({ ...noValues, priceHints: true }).metadata).toEqual({ priceHints: true });
  const body = updateBody({ ...valuesOf(agent), priceHints: true }, agent);
  expect(body).toEqual({ metadata: { priceHints: true } });
  expect(AgentUpdate.safeParse(body).success).toBe(true);
});

it('sends of the upstream what the protocol has, and clears what a changed protocol lacks', () => {
  const values = { ...noValues, protocol: 'openai', model: '', tool: 'left over' } as const;
  expect(registrationBody(values)).toMatchObject({ protocol: 'openai', upstream: { model: '' } });
  expect(registrationBody(values).upstream).not.toHaveProperty('tool');
  const stored = { tool: null, model: 'm', headers: { Authorization: '***', 'X-Team': '***' } } as const;
  const before = { detail, own: { protocol: 'openai', upstream: stored } } as const;
  expect(updateBody(valuesOf(before), before)).toEqual({});
  const after = { ...valuesOf(before), protocol: 'mcp', tool: 't' } as const;
  expect(updateBody(after, before)).toEqual({ protocol: 'mcp', upstream: { tool: 't', model: null } });
});

it('sends a template as a whole, and of a stored one what differs', () => {
  const values = { ...noValues, protocol: 'http-template', path: '/slug', result: '/slug' } as const;
  const template = { method: 'POST', path: '/slug', contentType: 'application/json', result: '/slug' } as const;
  const body = '{"text": "{{task}}"}';
  expect(registrationBody(values)).toMatchObject({ protocol: 'http-template', upstream: { ...template, body } });
  const upstream = { tool: null, model: null, headers: {}, ...template, body };
  const before = { detail, own: { protocol: 'http-template', upstream } } as const;
  expect(updateBody(valuesOf(before), before)).toEqual({});
  const changed = updateBody({ ...valuesOf(before), method: 'GET', path: '?q={{task}}' }, before);
  expect(changed).toEqual({ upstream: { method: 'GET', path: '?q={{task}}', body: null } });
  expect(AgentUpdate.safeParse(changed).success).toBe(true);
});

it('keeps stored headers as ***, and sends all of them when one differs', () => {
  const stored = { tool: null, model: null, headers: { Authorization: '***', 'X-Team': '***' } } as const;
  const before = { detail, own: { protocol: 'http', upstream: stored } } as const;
  const values = valuesOf(before);
  const [authorization, team] = values.headers;
  if (!authorization || !team) throw new Error('the headers are missing');
  const headersWith = (headers: typeof values.headers) => updateBody({ ...values, headers }, before).upstream;
  expect(headersWith([authorization, { ...team, value: 'red' }])).toEqual({
    headers: { Authorization: '***', 'X-Team': 'red' },
  });
  expect(headersWith([team])).toEqual({ headers: { 'X-Team': '***' } });
  expect(headersWith([])).toEqual({ headers: {} });
  const twice = { name: 'x-team', value: 'blue', isStored: false };
  expect(Object.fromEntries(problemsOfValues({ ...values, headers: [team, twice] }))).toEqual({
    'upstream.headers.x-team': 'is named twice',
  });
});

it('sends types only when they differ, null when they are gone, and says where a text is not JSON', () => {
  const types = { inputSchema: { type: 'object' }, capabilities: { echo: { estimatedTime: '2s' } } };
  const before = { detail: { ...detail, types }, own };
  const values = valuesOf(before);
  expect(updateBody(values, before)).toEqual({});
  const body = updateBody({ ...values, outputSchema: '{"type":"object"}' }, before);
  expect(body).toEqual({ types: { ...types, outputSchema: { type: 'object' } } });
  expect(AgentUpdate.safeParse(body).success).toBe(true);
  expect(updateBody({ ...values, inputSchema: '', capabilityTypes: ' ' }, before)).toEqual({ types: null });
  const broken = { ...values, examples: '[{]' };
  expect(problemsOfValues(broken).get('types.examples')).toMatch(/^is not JSON: /);
  expect(AgentUpdate.safeParse(updateBody(broken, before)).success).toBe(false);
});

it('keeps a price by units, and asks for all of its parts', () => {
  const perUnit = { price: '0.01', unit: 'page', count: '/pages', measure: 'items' as const, maximum: '1' };
  const before = { detail: { ...detail, metadata: { perUnit } }, own };
  expect(updateBody(valuesOf(before), before)).toEqual({});
  expect(updateBody({ ...valuesOf(before), tags: ['a'] }, before)).toEqual({ metadata: { tags: ['a'] } });
  const body = updateBody({ ...valuesOf(before), unitMaximum: '' }, before);
  expect(AgentUpdate.safeParse(body).error?.issues[0]?.path).toEqual(['metadata', 'perUnit', 'maximum']);
});

it('keeps a price by usage, removes it with its last unit, and asks for its maximum', () => {
  const perUsage = { prices: [{ unit: 'output_token', price: '0.000001' }], maximum: '1' };
  const before = { detail: { ...detail, metadata: { perUsage } }, own };
  const values = valuesOf(before);
  expect(updateBody(values, before)).toEqual({});
  const usagePrices = [...values.usagePrices, { unit: 'x-row', price: '0.1' }];
  const body = updateBody({ ...values, usagePrices }, before);
  expect(body).toEqual({ metadata: { perUsage: { prices: usagePrices, maximum: '1' } } });
  expect(AgentUpdate.safeParse(body).success).toBe(true);
  expect(updateBody({ ...values, usagePrices: [] }, before)).toEqual({ metadata: { perUsage: null } });
  const open = updateBody({ ...values, usageMaximum: '' }, before);
  expect(AgentUpdate.safeParse(open).error?.issues[0]?.path).toEqual(['metadata', 'perUsage', 'maximum']);
});

it('has the owner say what is counted when a price by units of before that changes, and not sooner', () => {
  const perUnit = { price: '0.01', unit: 'page', count: '/pages', maximum: '1' };
  const before = { detail: { ...detail, metadata: { perUnit } }, own };
  expect(updateBody({ ...valuesOf(before), tags: ['a'] }, before)).toEqual({ metadata: { tags: ['a'] } });
  const body = updateBody({ ...valuesOf(before), unitPrice: '0.02' }, before);
  expect(AgentUpdate.safeParse(body).error?.issues[0]?.path).toEqual(['metadata', 'perUnit', 'measure']);
  expect(valuesOf({ ...before, detail }).unitMeasure).toBe('number');
});
