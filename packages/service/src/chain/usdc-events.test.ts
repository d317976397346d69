import { usdcAbi } from '@agent-network/chain/usdc-abi';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, getAddress, type Hex, type Log, parseEventLogs } from 'viem';
import { describe, expect, it } from 'vitest';
import { usdcEventsOf } from './usdc-events.ts';

const token = `0x${'ab'.repeat(20)}`;
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((each) => `0x${Buffer.from(each).toString('hex')}` as Hex);
const address = hex(20);
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const word = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value]);
const log = (topics: unknown, data: Hex = '0x', by: string = token) =>
  ({ address: getAddress(by), topics, data }) as unknown as Log;

const transfer = fc
  .tuple(address, address, amount)
  .map(([from, to, value]) =>
    log(encodeEventTopics({ abi: usdcAbi, eventName: 'Transfer', args: { from, to } }), word(value)),
  );
const approval = fc
  .tuple(address, address, amount)
  .map(([owner, spender, value]) =>
    log(encodeEventTopics({ abi: usdcAbi, eventName: 'Approval', args: { owner, spender } }), word(value)),
  );
const used = fc
  .tuple(fc.constantFrom('AuthorizationUsed' as const, 'AuthorizationCanceled' as const), address, hex(32))
  .map(([eventName, authorizer, nonce]) =>
    log(encodeEventTopics({ abi: usdcAbi, eventName, args: { authorizer, nonce } })),
  );
const stranger = fc
  .tuple(fc.array(hex(32), { maxLength: 4 }), hex(32), fc.boolean())
  .map(([topics, data, isOurs]) => log(topics, data, isOurs ? token : `0x${'cd'.repeat(20)}`));

describe('usdcEventsOf', () => {
  it('reads what viem reads, whatever else is in the logs', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(transfer, approval, used, stranger), { maxLength: 12 }), (logs) => {
        const ours = logs.filter((each) => each.address.toLowerCase() === token);
        const expected = parseEventLogs({ abi: usdcAbi, logs: ours }).flatMap((event): object[] => {
          if (event.eventName === 'Transfer') {
            const { from, to, value } = event.args;
            return [{ kind: 'transfer', from: from.toLowerCase(), to: to.toLowerCase(), valueMicro: value }];
          }
          if (event.eventName !== 'AuthorizationUsed') return [];
          const { authorizer, nonce } = event.args;
          return [{ kind: 'authorization used', from: authorizer.toLowerCase(), nonce }];
        });
        expect(usdcEventsOf(token, logs as never).map(({ log: _log, ...event }) => event)).toEqual(expected);
      }),
    );
  });

  it.each([
    [
      'a transfer whose amount is cut off',
      log(
        [
          ...(encodeEventTopics({
            abi: usdcAbi,
            eventName: 'Transfer',
            args: { from: token as Hex, to: token as Hex },
          }) as Hex[]),
        ],
        '0x01',
      ),
    ],
    [
      'an event with an indexed value too many',
      log([
        ...(encodeEventTopics({
          abi: usdcAbi,
          eventName: 'AuthorizationUsed',
          args: { authorizer: token as Hex, nonce: word(1n) },
        }) as Hex[]),
        word(2n),
      ]),
    ],
  ])('leaves out %s', (_name, each) => {
    expect(usdcEventsOf(token, [each] as never)).toEqual([]);
  });
});
