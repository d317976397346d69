import { privateKeyToAccount } from 'viem/accounts';
import type { Attack } from '../attack.ts';
import { paced, type Sender } from '../send.ts';
import type { Site } from '../site.ts';

const PER_SECOND = 10;
const SIGN_INS = 120;

/** Challenges asked for in the name of another's wallet, who began to sign in before. */
export const challenges: Attack = {
  does: `${PER_SECOND} a second: challenges for the wallet of somebody who is signing in`,
  async run(site, sender, begin) {
    const { message, challengeId } = await beginSignIn(site);
    begin();
    const body = { address: site.victim.address };
    let given = 0;
    await paced({ perSecond: PER_SECOND, seconds: site.seconds }, async () => {
      if ((await sender.send({ method: 'POST', path: '/auth/challenge', body })).status === 200) given += 1;
    });
    const signature = await privateKeyToAccount(site.victim.privateKey).signMessage({ message });
    const signedIn = await post(site, '/auth/sign-in', { challengeId, signature });
    const bad = await forged(sender, challengeId);
    return [
      { text: 'the wallet signs in with the challenge from before', held: signedIn.status === 200 },
      { text: `the attacker got at most ${SIGN_INS} (${given})`, held: given <= SIGN_INS },
      { text: 'and signs in with none of them', held: bad !== 200 },
    ];
  },
};

/** Posts as the wallet's owner, from another address than the attacker. */
const post = ({ baseUrl }: Site, path: string, body: unknown): Promise<Response> =>
  fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function beginSignIn(site: Site): Promise<{ message: string; challengeId: string }> {
  const answer = await post(site, '/auth/challenge', { address: site.victim.address });
  return ((await answer.json()) as { data: { message: string; challengeId: string } }).data;
}

async function forged(sender: Sender, challengeId: string): Promise<number> {
  const body = { challengeId, signature: `0x${'11'.repeat(65)}` };
  return (await sender.send({ method: 'POST', path: '/auth/sign-in', body })).status;
}
