import { describe, expect, it } from 'vitest';
import { readA2aAgent } from '../../../src/agents/health/a2a-card-client.ts';
import { checkUpstream } from '../../../src/agents/health/check-upstream.ts';
import { findTool } from '../../../src/agents/health/mcp-client.ts';
import { readFields } from '../../../src/agents/health/mip-client.ts';
import { addressesIn, fileInAddress } from '../../../src/agents/health/prove-agent.ts';
import { schemaDigest } from '../../../src/agents/health/schema-digest.ts';
import type { Upstream } from '../../../src/agents/health/upstream.ts';
import { jobIdIn, readJob, toInput } from '../../../src/calls/protocols/mip/mip-call-client.ts';
import type { GuardedFetch, Outbound } from '../../../src/lib/net/guarded-fetch.ts';
import { judgeAgentFile } from '../../../src/network/agent-file.ts';
import { faultOfToken } from '../../../src/network/registered-file.ts';
import { sample, samplesOf, sampleText } from '../../support/samples.ts';

// Files that other software serves, as they are (test/support/samples/index.json says what is odd): what is taken from each, or its fault.

const ID = 'agt_00000000000000000000000000';

/** Sites by address; everything else is 404. */
const siteOf = (files: Readonly<Record<string, unknown>>): Outbound => ({
  guardedFetch: {
    async request({ url }: { url: string }) {
      const file = files[url];
      const text = typeof file === 'string' ? file : JSON.stringify(file ?? {});
      return { status: file === undefined ? 404 : 200, headers: {}, body: Buffer.from(text) };
    },
  } as unknown as GuardedFetch,
});

const upstreamOf = (
  endpoint: string,
  protocol: Upstream['protocol'] = 'a2a',
  tool: string | null = null,
): Upstream => ({
  ...{ agentId: ID, endpoint, protocol, tool, model: null, template: null, headers: {} },
});

const CARD = '/.well-known/agent-card.json';
const faultOf = async (ctx: Outbound, upstream: Upstream) => (await checkUpstream(ctx, upstream)).fault?.message;

describe('agent cards', () => {
  const taken: Readonly<Record<string, readonly [endpoint: string, agent: object]>> = {
    'card-01-v03-extensions-object': [
      'https://api.example.com',
      { url: 'https://api.example.com/a2a', version: '0.3' },
    ],
    // The address is that of the generator's own machine: the card's is meant.
    'card-02-v02-authentication': [
      'https://made.example.com',
      { url: 'https://made.example.com/', version: '0.3', isStreaming: true },
    ],
    'card-06-v03-www': ['https://www.example.com', { url: 'https://www.example.com/a2a', version: '0.3' }],
    'card-09-price-in-skills': ['https://node.example.com', { url: 'https://node.example.com/', version: '0.3' }],
    'card-11-container-address': ['https://run.example.com', { url: 'https://run.example.com/invoke', version: '0.3' }],
    'card-13-jsonrpc-0.3-before-1.0': [
      'https://a.example.com',
      { url: 'https://a.example.com/jsonrpc', version: '1.0', binding: 'JSONRPC' },
    ],
    'card-10-v10-tenant': [
      'https://host.example.com',
      { url: 'https://host.example.com/rpc', binding: 'JSONRPC', version: '1.0', tenant: 'external-node' },
    ],
  };
  const faults: Readonly<Record<string, readonly [endpoint: string, fault: RegExp]>> = {
    'card-03-registration-served-as-card': ['https://app.example.com', /neither "supportedInterfaces" nor "url"/],
    'card-04-supportedInterfaces-foreign-keys': [
      'https://demo.example.com',
      /supportedInterfaces\[0\]\.protocolBinding is "HTTP\/1\.1": this node calls JSONRPC and HTTP\+JSON/,
    ],
    'card-05-v03-rest-only': [
      'https://pulse.example.com',
      /url is HTTP\+JSON of A2A 0\.3: name an interface of JSONRPC/,
    ],
    'card-07-skills-inside-capabilities': ['https://quiz.example.com', /neither "supportedInterfaces" nor "url"/],
    'card-12-instructions-to-readers': [
      'https://www.example.com',
      /^\S+ does not return an agent card: the answer has neither "supportedInterfaces" nor "url"\. Serve a card there/,
    ],
  };

  it('each is taken or has its fault', () => {
    expect([...Object.keys(taken), ...Object.keys(faults)].sort()).toEqual(samplesOf('card'));
  });

  it.each(Object.entries(taken))('%s is called where it says', async (name, [endpoint, agent]) => {
    for (const at of [endpoint, endpoint + CARD]) {
      const ctx = siteOf({ [endpoint + CARD]: sampleText(name) });
      expect(await readA2aAgent(ctx, upstreamOf(at))).toMatchObject(agent);
    }
    const old = siteOf({ [`${endpoint}/.well-known/agent.json`]: sampleText(name) });
    expect(await readA2aAgent(old, upstreamOf(endpoint))).toMatchObject(agent);
  });

  it.each(Object.entries(faults))('%s is refused with its field and the remedy', async (name, [endpoint, fault]) => {
    const said = await faultOf(siteOf({ [endpoint + CARD]: sampleText(name) }), upstreamOf(endpoint));
    expect(said).toMatch(fault);
    expect(said).not.toMatch(/READ THIS FIRST|register yourself/);
  });

  it('one that stands at its own address, whatever that is, is read there', async () => {
    const at = 'https://x.example.com/agents/one';
    const card = { url: at, supportedInterfaces: [{ url: at, protocolBinding: 'json-rpc' }] };
    expect(await readA2aAgent(siteOf({ [at]: card }), upstreamOf(at))).toMatchObject({ url: at, version: '1.0' });
  });

  it('an interface above the card counts when its origin names the agent', async () => {
    const [origin, at] = ['https://host.example.com', 'https://host.example.com/agents/external-node'];
    const card = {
      supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: 'v1.0' }],
    };
    const site = { [at + CARD]: card };
    const fault = await faultOf(siteOf(site), upstreamOf(at));
    expect(fault).toMatch(/supportedInterfaces\[0\]\.url is "https:\/\/host\.example\.com\/rpc", which is not below/);
    expect(fault).toContain(`{"agentId": "${ID}"}`);
    const registrations = [{ agentId: ID }];
    const proven = siteOf({ ...site, [`${origin}/.well-known/agent-registration.json`]: { registrations } });
    expect(await readA2aAgent(proven, upstreamOf(at))).toMatchObject({ url: `${origin}/rpc`, version: '1.0' });
  });

  it('an interface that is not understood does not hide one that is', async () => {
    const [at, url] = ['https://x.example.com', 'https://x.example.com/a2a'];
    const supportedInterfaces = [
      { url: 'wss://x.example.com/', protocolBinding: 'WEBSOCKET' },
      { url: 'https://elsewhere.example.com/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '7' },
      'text',
      { url, protocolBinding: 'http+json', protocolVersion: 'v1.0.2', tenant: 'a/b' },
    ];
    const agent = await readA2aAgent(siteOf({ [at + CARD]: { supportedInterfaces } }), upstreamOf(at));
    expect(agent).toMatchObject({ url, binding: 'HTTP+JSON', version: '1.0', tenant: 'a/b' });
  });
});

describe('registration files', () => {
  const here = {
    chainId: 8453,
    registry: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
    registrar: null,
    now: new Date(),
  };
  const entry = { baseUrl: 'https://node.example', tokenId: '22775', owner: '0x', registeredBy: '0x', agentId: ID };
  const files = samplesOf('reg').filter((name) => name !== 'reg-uris');

  it.each(files)('%s is no agent of a node, and says so', (name) => {
    expect(judgeAgentFile(sample(name), entry, here)).toBe('bad_file');
  });

  it('names its token as a text and the registry in any case', () => {
    const told = files.map((name) => [name, faultOfToken(sample(name), '22775', here)]);
    expect(Object.fromEntries(told)).toMatchObject({
      ...{
        'reg-01-empty': 'no_token',
        'reg-02-other-testnet-only': 'other_chain',
        'reg-03-foreign-registry': 'other_chain',
      },
      ...{
        'reg-08-no-type-no-services': 'bad_file',
        'reg-11-string-ids-lowercase-registry': null,
        'reg-12-huge': 'no_token',
      },
    });
  });

  it('lists its addresses as a list or by name, as endpoint or url', () => {
    const addresses = Object.fromEntries(files.map((name) => [name, addressesIn(sample(name))]));
    expect(addresses['reg-09-type-Agent-endpoints-url']).toEqual(['https://example.com/a2a']);
    expect(addresses['reg-11-string-ids-lowercase-registry']).toEqual([
      'https://example.com',
      'https://example.com/a2a',
    ]);
    expect(addresses['reg-12-huge']).toHaveLength(2000);
    for (const name of ['reg-01-empty', 'reg-08-no-type-no-services', 'reg-10-points-elsewhere'])
      expect(addresses[name]).toEqual([]);
  });

  it('is read from a data: address in base64 or not, and from no other text', () => {
    const held = (sample('reg-uris').uris as string[]).map((uri) => fileInAddress(uri)?.name ?? null);
    expect(held.filter((name) => name !== null)).toEqual(['x', 'x é "q"', 'x']);
  });
});

describe('lists of MCP tools', () => {
  const session = { version: '2025-11-25', sessionId: null };
  const listing = (tools: unknown) => siteOf({ 'https://mcp.example.com/': { id: 'tools/list', result: { tools } } });

  it.each(samplesOf('mcp'))('%s: each of its tools can be called, and is told apart by its schemas', async (name) => {
    const { tools } = sample(name);
    const digests = new Set<string>();
    for (const { name: tool, inputSchema } of tools.slice(0, 5)) {
      const found = await findTool(listing(tools), upstreamOf('https://mcp.example.com/', 'mcp', tool), session);
      expect(found).toMatchObject({ name: tool, inputSchema });
      digests.add(schemaDigest(found.name, found.inputSchema, found.outputSchema));
    }
    expect(digests.size).toBe(Math.min(5, tools.length));
  });
});

describe('MIP-003', () => {
  const at = 'https://job.example.com';
  const fieldsOf = (schema: unknown) =>
    readFields(siteOf({ [`${at}/input_schema`]: schema }), upstreamOf(at, 'mip-003'));
  const input = { task: 'Do it', input: {} };

  it.each<[string, readonly string[], object]>([
    ['mip-01-options-objects', ['model', 'topic'], { topic: 'Do it' }],
    ['mip-04-file-base64', ['html_file'], {}],
    ['mip-05-object-type-no-data', ['deal_id', 'agreed_price', 'job'], { deal_id: 'Do it' }],
    ['mip-06-datetime-optional', ['query', 'query_time'], { query: 'Do it' }],
    ['mip-07-textarea', ['text'], { text: 'Do it' }],
  ])(
    '%s: its fields are read, and a task without input stands in the only text that is required',
    async (name, ids, sent) => {
      const { input_data: fields } = sample(name);
      for (const schema of [
        sample(name),
        { data: sample(name) },
        { status: 'success', data: fields },
        { input_groups: [{ id: 'g', title: 'Group', input_data: fields }] },
        fields,
      ]) {
        const read = await fieldsOf(schema);
        expect(read?.map(({ id }) => id)).toEqual(ids);
        expect(toInput(read ?? [], input)).toEqual(sent);
      }
    },
  );

  it.each([[{ openapi: '3.0' }], ['<html>'], [{ input_data: 'none' }]])(
    'fields that are not understood take no agent offline that can be called',
    async (schema) => {
      const site = { [`${at}/availability`]: { status: 'Available' }, [`${at}/input_schema`]: schema };
      expect(await checkUpstream(siteOf(site), upstreamOf(at, 'mip-003'))).toEqual({ fault: null, digest: null });
    },
  );

  it('every availability of the samples is one', async () => {
    for (const answer of sample('mip-answers').availability)
      expect(await faultOf(siteOf({ [`${at}/availability`]: answer }), upstreamOf(at, 'mip-003'))).toBeUndefined();
    const busy = siteOf({ [`${at}/availability`]: { status: 'busy' } });
    expect(await faultOf(busy, upstreamOf(at, 'mip-003'))).toMatch(/"busy": answer \{"status": "available"\}/);
  });

  it('every start of a job in the samples names it, or says why not', () => {
    const told = sample('mip-answers').start_job.map((answer: object) => {
      try {
        return jobIdIn({ ...answer });
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(told).toEqual(['j1', 'j1', 'j1', expect.stringContaining('identifier_from_purchaser is required')]);
    const detail = [{ loc: ['body', 'input_data', 'text'], msg: 'Field required', type: 'missing' }];
    expect(() => jobIdIn({ status: 'error', detail })).toThrow(/body\.input_data\.text: Field required/);
  });

  it('every state of a job in the samples is an end, or goes on', () => {
    const told = sample('mip-answers').status.map((answer: object) => {
      try {
        const read = readJob({ ...answer });
        return read === 'asks' ? read : (read?.kind ?? 'goes on');
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(told).toEqual([
      'The agent answered without a result.',
      'completed',
      'completed',
      'asks',
      'asks',
      'goes on',
      'goes on',
      'completed',
    ]);
    expect(readJob({ status: 'success', data: { status: 'completed', result: 'x' } })).toMatchObject({
      result: { text: 'x' },
    });
    expect(readJob({ status: 'queued_somewhere' })).toBeNull();
  });
});
