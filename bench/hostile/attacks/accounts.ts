import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Attack } from '../attack.ts';
import { paced, type Sender } from '../send.ts';

const PER_SECOND = 6;
const SIGN_INS = 120;
const FREE_KEYS = 10;

/** Accounts, sessions and keys made as fast as one address may. */
export const accounts: Attack = {
  does: `${PER_SECOND} a second: accounts and sessions of new wallets, and keys of one free account`,
  async run({ free, seconds }, sender, begin) {
    begin();
    const key = free[0]?.apiKey ?? '';
    let opened = 0;
    let made = 0;
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => {
      if (nth % 3 === 0) {
        const body = { name: `key ${nth}`, scopes: ['invoke'] };
        if ((await sender.send({ method: 'POST', path: '/account/keys', key, body })).status === 200) made += 1;
      } else if (await signIn(sender, nth % 3 === 1 ? '/auth/sign-in' : '/auth/session')) opened += 1;
    });
    return [
      { text: `at most ${SIGN_INS / 2} accounts were opened (${opened})`, held: opened <= SIGN_INS / 2 },
      { text: `at most ${FREE_KEYS - 1} keys were made (${made})`, held: made <= FREE_KEYS - 1 },
    ];
  },
};

async function signIn(sender: Sender, path: string): Promise<boolean> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const body = { address: wallet.address };
  const asked = await sender.send({ method: 'POST', path: '/auth/challenge', body });
  if (asked.status !== 200) return false;
  const { challengeId, message } = asked.json().data;
  const signature = await wallet.signMessage({ message });
  return (await sender.send({ method: 'POST', path, body: { challengeId, signature } })).status === 200;
}
