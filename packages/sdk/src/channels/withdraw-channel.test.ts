import { decodeFunctionData, parseAbi } from 'viem';
import { expect, it } from 'vitest';
import { startWorld } from '../../test/support/channel-world.ts';
import { withdrawalOf } from './withdraw-channel.ts';

const abi = parseAbi([
  'struct Config { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function initiateWithdraw(Config config, uint128 amount)',
  'function finalizeWithdraw(Config config)',
]);

it('takes what is left of a channel out of it without the receiver, but for what a refused voucher lets it claim', async () => {
  let isRefusing = false;
  await using world = await startWorld({ before: (_paid, _count, node) => (isRefusing ? node.refuse('no') : null) });
  const { payer, invoke } = world.clientOf({ deposit: '0.05' });
  await invoke();
  await invoke();
  const [channel] = await payer.channels();
  if (!channel) throw new Error('there is no channel');
  expect(channel).toMatchObject({
    balance: '0.05',
    charged: '0.002',
    claimable: '0.002',
    url: expect.stringContaining('/invoke/'),
  });
  const { amount, initiate, finalize, delayS } = withdrawalOf(channel);
  expect(amount).toBe('0.048');
  const config = expect.objectContaining({ payer: world.account.address, withdrawDelay: 86_400 });
  expect(decodeFunctionData({ abi, data: initiate })).toMatchObject({
    functionName: 'initiateWithdraw',
    args: [config, 48_000n],
  });
  expect(decodeFunctionData({ abi, data: finalize })).toMatchObject({
    functionName: 'finalizeWithdraw',
    args: [config],
  });
  expect(delayS).toBe(86_400);
  isRefusing = true;
  await expect(invoke()).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED' });
  const [refused = channel] = await payer.channels();
  expect(refused).toMatchObject({ charged: '0.002', claimable: '0.003' });
  expect(withdrawalOf(refused).amount).toBe('0.047');
  expect(withdrawalOf({ ...refused, balance: '0.003' }).amount).toBe('0.00');
});
