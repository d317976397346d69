import { describe, expect, it } from 'vitest';
import { CommandError } from '../exit-codes.ts';
import { protocolOf, readTarget, type TargetOptions } from './target.ts';

const env = { KEY: 'Bearer x', BROKEN: 'a\r\nhost: b' };
const none = { header: [], headerEnv: [], query: [] };
const read = (named: string, options: Partial<TargetOptions> = {}) =>
  readTarget(named, protocolOf(named, { ...none, ...options }) ?? 'http-template', { ...none, ...options }, env);

describe('the served target', () => {
  it.each<[string, string | null, Partial<TargetOptions>?]>([
    ['./agent.sh', 'program'],
    ['https://models.example/v1', 'openai'],
    ['https://tools.example/mcp', 'mcp'],
    ['https://agents.example/.well-known/agent-card.json', 'a2a'],
    ['https://x.example/', null],
    ['https://x.example/slug', 'http-template', { body: '"{{task}}"' }],
    ['https://x.example/v1', 'http-template', { result: 'text' }],
    ['https://x.example/v1?q={{task}}', 'http-template'],
  ])('%s is taken for %s', (named, protocol, options = {}) =>
    expect(protocolOf(named, { ...none, ...options })).toBe(protocol),
  );

  it('has its headers from the environment, and those that are no secrets', () => {
    const options = { headerEnv: ['authorization=KEY'], header: ['X-Team: blue'] };
    expect(read('https://x.example/v1', options).headers).toEqual({ authorization: 'Bearer x', 'X-Team': 'blue' });
  });

  it('is a template of the URL and the options', () => {
    const options = { query: ['lang={{input/lang}}', 'a b=c&d'], body: '{"text":"{{task}}"}', result: '/slug' };
    expect(read('http://x.example:1/u/{{input/id}}?k=1', options)).toMatchObject({
      url: new URL('http://x.example:1/'),
      template: {
        ...{ method: 'POST', path: '/u/{{input/id}}?k=1&lang={{input/lang}}&a%20b=c%26d' },
        ...{ body: '{"text":"{{task}}"}', contentType: 'application/json', result: '/slug' },
      },
    });
    expect(read('https://x.example/', { query: ['q={{task}}'] }).template).toMatchObject({
      ...{ method: 'GET', path: '/?q={{task}}', body: null, result: '' },
    });
  });

  it.each<[string, string, Partial<TargetOptions>]>([
    ['a URL as a program', 'https://x.example/', { protocol: 'program' }],
    ['a command as a model', 'node', { protocol: 'openai' }],
    ['a command as a service', 'node', { protocol: 'http-template' }],
    ['credentials in the URL', 'https://a:b@x.example/v1', {}],
    ['a model of a tool', 'https://x.example/mcp', { model: 'm' }],
    ['a tool of a model', 'https://x.example/v1', { tool: 't' }],
    ['a body of a model', 'https://x.example/v1', { protocol: 'openai', body: '{}' }],
    ['a body that is no JSON', 'https://x.example/', { body: '{{task}}' }],
    ['a parameter without a name', 'https://x.example/', { query: ['{{task}}'] }],
    ['headers of a program', 'node', { headerEnv: ['a=KEY'] }],
    ['a header that frames messages', 'https://x.example/v1', { headerEnv: ['Host=KEY'] }],
    ['a header without a variable', 'https://x.example/v1', { headerEnv: ['authorization'] }],
    ['a variable that is not set', 'https://x.example/v1', { headerEnv: ['authorization=NONE'] }],
    ['a value of two lines', 'https://x.example/v1', { headerEnv: ['authorization=BROKEN'] }],
    ['a header with a placeholder', 'https://x.example/v1', { header: ['X-Text: {{task}}'] }],
    ['a header without a colon', 'https://x.example/v1', { header: ['X-Text'] }],
  ])('is refused: %s', (_name, named, options) => expect(() => read(named, options)).toThrow(CommandError));
});
