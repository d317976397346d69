import { openPayerAccount, payerAccountOf } from '../../access/accounts/payer-account.ts';
import { visitorAddresses } from '../../access/accounts/visitor-accounts.ts';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { keylessCaller } from '../../access/caller/keyless-caller.ts';
import { suspended } from '../../access/caller/suspension.ts';
import { type Once, unkeyed } from '../../access/idempotency/once.ts';
import type { Records } from '../../db/records.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { networkOf, siteOf } from '../../lib/net/address-ranges.ts';
import type { HasSecrets } from '../../lib/secrets.ts';

/** A caller without an API key who pays nothing: only the network address tells visitors apart. */
export interface Visitor {
  readonly client: string | null;
  /** True when a browser makes the call for a page of another site. */
  readonly isFromOtherSite: boolean;
}

type VisitorContext = Records & HasSecrets;

/** Bytes of JSON that a visitor's call may bring: it is stored for somebody whom nobody knows. */
const MOST_BYTES = 16 * 1024;

const networkOfVisitor = ({ client }: Visitor): string => (client === null ? '' : (networkOf(client) ?? client));

/** The same account for all networks of one site, which cannot fill those of the others. Which one it is, is known to this node alone. */
function addressOfAccount({ secrets }: HasSecrets, { client }: Visitor): string {
  const code = secrets.authenticate('visitor', [client === null ? '' : (siteOf(client) ?? client)]);
  return visitorAddresses[Buffer.from(code, 'base64url').readUInt32BE() % visitorAddresses.length] ?? '';
}

/**
 * The caller in whose name a visitor's free call is accepted. Throws FORBIDDEN for a page of another site, which would have its own visitors
 * use up their limits and hide who calls, VALIDATION_ERROR for a webhook: the node sends nothing for callers that it does not know, and
 * PAYLOAD_TOO_LARGE.
 */
export async function admitVisitor(
  ctx: VisitorContext,
  visitor: Visitor,
  body: { readonly webhookUrl?: string | undefined },
): Promise<AccountCaller> {
  if (visitor.isFromOtherSite)
    throw new AppError('FORBIDDEN', 'A page of another site makes no free calls without an API key.', {
      help: { docs: '/docs/conventions#keys' },
    });
  if (Buffer.byteLength(JSON.stringify(body)) > MOST_BYTES)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `A free call without an API key may bring ${MOST_BYTES} bytes. Send a smaller body, or an API key.`,
    );
  if (body.webhookUrl !== undefined) throw invalid('webhookUrl', 'needs an API key when the call is free');
  const address = addressOfAccount(ctx, visitor);
  const account = (await payerAccountOf(ctx, address)) ?? (await openPayerAccount(ctx, address, ctx.clock.now()));
  if (account.isSuspended) throw suspended();
  return { ...keylessCaller(null), ...account };
}

/**
 * A visitor's Idempotency-Key names a call with this body from this network: whoever repeats all three finds the first one's request. Another
 * body is another call.
 */
export function onceForVisitor(
  { secrets }: HasSecrets,
  visitor: Visitor,
  { idempotencyKey, agentId, body }: { idempotencyKey: string | null; agentId: string; body: unknown },
): Once {
  if (idempotencyKey === null) return unkeyed;
  const named = [networkOfVisitor(visitor), idempotencyKey, agentId, JSON.stringify(body)];
  return {
    ...unkeyed,
    idFor: (prefix, nth) => {
      const code = secrets.authenticate('visitor-id', [...named, prefix, String(nth)]);
      return `${prefix}_${Buffer.from(code, 'base64url').toString('hex').slice(0, 26)}`;
    },
  };
}
