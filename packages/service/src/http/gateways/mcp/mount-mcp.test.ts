import { describe, expect, it } from 'vitest';
import { isAllowedHost, isAllowedOrigin, type McpAddress } from './mount-mcp.ts';

const local: McpAddress = { baseUrl: 'http://127.0.0.1:4020', isLoopbackListener: true, allowedOrigins: null };
const behindProxy: McpAddress = { ...local, baseUrl: 'https://node.example' };
const open: McpAddress = { ...behindProxy, isLoopbackListener: false };
const configured: McpAddress = { ...open, allowedOrigins: ['https://host.example'] };

describe('the origin of a page', () => {
  it.each([
    ['no page at all', local, undefined, true],
    ["the node's own page", open, 'https://node.example', true],
    ['another page', open, 'https://evil.example', false],
    ['a page of the same name on another port', open, 'https://node.example:8443', false],
    ['a page of this machine for a node of this machine', local, 'http://localhost:6274', true],
    ['a page of this machine for a node that others reach', open, 'http://localhost:6274', false],
    ['a page without an origin', local, 'null', false],
    ['no URL', local, 'localhost', false],
    ['an origin with a path', local, 'http://localhost/x', false],
    ['an empty header', local, '', false],
    ['a configured page', configured, 'https://host.example', true],
    ["the node's own page when others are configured", configured, 'https://node.example', false],
  ])('%s', (_name, place, origin, isAllowed) => {
    expect(isAllowedOrigin(place, origin)).toBe(isAllowed);
  });
});

describe('the host of a request', () => {
  it.each([
    ['localhost', local, 'localhost:4020', true],
    ['IPv6 loopback', local, '[::1]:4020', true],
    ['a name that was rebound to this machine', local, 'evil.example:4020', false],
    ['the name of a node behind a proxy', behindProxy, 'node.example', true],
    ['no host on a loopback listener', local, undefined, false],
    ['nonsense', local, 'a b', false],
    ['any name on a public listener', open, 'other.example', true],
  ])('%s', (_name, place, host, isAllowed) => {
    expect(isAllowedHost(place, host)).toBe(isAllowed);
  });
});
