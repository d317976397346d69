import { expect, it } from 'vitest';
import { sendAnswerOf } from './chain-reads.ts';

it.each([
  ['already known', 'known'],
  ['transaction already imported', 'known'],
  ['AlreadyKnown', null],
  ['replacement transaction underpriced', 'outbid'],
  ['could not replace existing tx', 'outbid'],
  ['nonce too low: next nonce 7, tx nonce 6', 'nonce used'],
  ['insufficient funds for gas * price + value', null],
  ['connection refused', null],
])('%s: %s', (message, answer) => expect(sendAnswerOf(message)).toBe(answer));
