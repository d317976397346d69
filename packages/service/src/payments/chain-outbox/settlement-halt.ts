import type { ChainAccess } from '../../chain/chain-access.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { DEPOSIT_COLLECTOR, SETTLEMENT_CONTRACT } from '../../chain/channels/channel-calls.ts';
import { AppError } from '../../lib/app-error.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { NewChainPayment } from './chain-payment.ts';

type Refused = Pick<NewChainPayment, 'direction' | 'authorization'>;

/**
 * Tracks whether the token moves anything from or to the node's wallet. While it does not (it is paused, or has blacklisted the wallet), no
 * payment can settle, for any signer.
 */
export interface SettlementHalt {
  /** The token's last known reason; null: payments settle. */
  reason(): string | null;
  /** Throws UNAVAILABLE while no payment can settle, by the last known state. */
  require(): void;
  /**
   * The reason of a refusal that is not about the payer: the token refuses the node's wallet, the contract of channels, or everybody.
   * Null: the refusal is about the payer. With the block that refused it, also the state then counts: the token may move money again by now.
   * Throws when the chain does not answer.
   */
  causeOf(payment: Refused, inBlock?: bigint): Promise<string | null>;
  /** Asks the token again. Throws when the chain does not answer. */
  refresh(): Promise<void>;
}

const LOOK_AGAIN_MS = 1000;

/** The answer while nothing can settle: never a 402, which makes a client sign again. */
export const cannotSettle = (reason: string): AppError<'UNAVAILABLE'> =>
  new AppError(
    'UNAVAILABLE',
    `The token moves no payment of this node now ("${reason}"). Nothing was charged. Do not sign another payment; repeat the identical request later.`,
    { details: { outcome: 'nothing', state: 'cannot_settle', reason } },
  );

export function createSettlementHalt(
  ctx: Pick<ChainAccess, 'usdc'> & Pick<NodeIdentity, 'chain'> & Telemetry,
): SettlementHalt {
  const { wallet } = ctx.chain;
  let halted: string | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;

  async function ask(further: readonly string[] = []): Promise<(string | null)[]> {
    askedAtMs = performance.now();
    const [ofWallet = null, ...others] = await ctx.usdc.whyRefused([wallet, ...further]);
    if (ofWallet !== null && halted === null)
      ctx.log.error(
        { wallet, reason: ofWallet, remedy: 'docs/alerts.md#settlementhalted' },
        'token refuses the wallet of this node: no payment can settle',
      );
    if (ofWallet === null && halted !== null) ctx.log.info({ wallet }, 'token accepts the wallet of this node again');
    halted = ofWallet;
    ctx.metrics.settlementHalted.set(halted === null ? 0 : 1);
    return [ofWallet, ...others];
  }

  function lookAgain(): void {
    if (halted !== null && performance.now() - askedAtMs > LOOK_AGAIN_MS) void ask().catch(() => undefined);
  }

  return {
    reason() {
      lookAgain();
      return halted;
    },
    require() {
      lookAgain();
      if (halted !== null) throw cannotSettle(halted);
    },
    async causeOf({ direction }, inBlock) {
      const further = direction === 'channel' ? [SETTLEMENT_CONTRACT, DEPOSIT_COLLECTOR] : [];
      const blocks = inBlock === undefined ? [] : [inBlock - 1n, inBlock];
      const before = blocks.map((block) => ctx.usdc.whyRefused([wallet, ...further], block));
      const answers = (await Promise.all([ask(further), ...before])).flat();
      return answers.find((reason) => reason !== null) ?? null;
    },
    async refresh() {
      await ask();
    },
  };
}
