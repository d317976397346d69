import { describe, expect, it } from 'vitest';
import { CommandError } from '../exit-codes.ts';
import { readTarget } from './target.ts';

const env = { KEY: 'Bearer x', BROKEN: 'a\r\nhost: b' };
const read = (named: string, options: Partial<Parameters<typeof readTarget>[1]> = {}) =>
  readTarget(named, { headerEnv: [], ...options }, env);

describe('the served target', () => {
  it.each([
    ['./agent.sh', 'program'],
    ['https://models.example/v1', 'openai'],
    ['https://tools.example/mcp', 'mcp'],
    ['https://agents.example/.well-known/agent-card.json', 'a2a'],
  ])('%s is taken for %s', (named, protocol) => expect(read(named).protocol).toBe(protocol));

  it('has its headers from the environment', () => {
    expect(read('https://x.example/v1', { headerEnv: ['authorization=KEY'] }).headers).toEqual({
      authorization: 'Bearer x',
    });
  });

  it.each<[string, string, Partial<Parameters<typeof readTarget>[1]>]>([
    ['a URL that may speak anything', 'https://x.example/', {}],
    ['a URL as a program', 'https://x.example/', { protocol: 'program' }],
    ['a command as a model', 'node', { protocol: 'openai' }],
    ['credentials in the URL', 'https://a:b@x.example/v1', {}],
    ['a model of a tool', 'https://x.example/mcp', { model: 'm' }],
    ['a tool of a model', 'https://x.example/v1', { tool: 't' }],
    ['headers of a program', 'node', { headerEnv: ['a=KEY'] }],
    ['a header that frames messages', 'https://x.example/v1', { headerEnv: ['Host=KEY'] }],
    ['a header without a variable', 'https://x.example/v1', { headerEnv: ['authorization'] }],
    ['a variable that is not set', 'https://x.example/v1', { headerEnv: ['authorization=NONE'] }],
    ['a value of two lines', 'https://x.example/v1', { headerEnv: ['authorization=BROKEN'] }],
  ])('is refused: %s', (_name, named, options) => expect(() => read(named, options)).toThrow(CommandError));
});
