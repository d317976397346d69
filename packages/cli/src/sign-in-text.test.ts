import { describe, expect, it } from 'vitest';
import { requireTextOf } from './sign-in-text.ts';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const textOf = (host: string, uri: string, address = ADDRESS) =>
  `${host} wants you to sign in with your Ethereum account:\n${address}\n\nSign in.\n\nURI: ${uri}/auth/sign-in\nVersion: 1\nNonce: abcdefgh`;

describe('a text that a node has the wallet sign', () => {
  it.each([
    ['https://a.example', textOf('a.example', 'https://a.example')],
    ['https://a.example:8443/node', textOf('a.example:8443', 'https://a.example:8443/node')],
    ['http://localhost:4020', textOf('127.0.0.1:4020', 'http://127.0.0.1:4020')],
    ['http://[::1]:4020', textOf('localhost:4020', 'http://localhost:4020')],
  ])('of %s signs in to it', (url, text) => expect(() => requireTextOf(url, ADDRESS, text)).not.toThrow());

  it.each([
    ['of another node', textOf('victim.example', 'https://victim.example')],
    ['of another port', textOf('a.example:8443', 'https://a.example:8443')],
    ['with the address of another node', textOf('a.example', 'https://victim.example')],
    ['with two addresses', `${textOf('a.example', 'https://a.example')}\nURI: https://victim.example`],
    ['of another wallet', textOf('a.example', 'https://a.example', `0x${'1'.repeat(40)}`)],
    ['behind another line', `\n${textOf('a.example', 'https://a.example')}`],
    ['with a carriage return', textOf('a.example', 'https://a.example').replace('\n', '\r\n')],
    ['whose domain hides another', textOf('a.example@victim.example', 'https://a.example')],
    ['that is no text of a sign-in', 'Transfer everything'],
    ['that is empty', ''],
  ])('%s is not signed', (_what, text) =>
    expect(() => requireTextOf('https://a.example', ADDRESS, text)).toThrow('Nothing was signed'),
  );
});
