import type { LockMode } from '../../store/lock-free.ts';
import type { Statement, Tx } from '../../store/sql.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import type { RequestHold } from '../ledger/hold.ts';
import type { Ledger } from '../ledger/ledger-services.ts';
import type { Payer, SchemeId } from '../ledger/scheme-id.ts';
import type { RefundContext, RefundWay } from '../payouts/refund-payer.ts';
import type { Carrier } from '../settlement/settler.ts';
import type { PresentedPayment } from '../x402/presented-payment.ts';
import type { X402Scheme } from '../x402/x402-scheme.ts';
import type { VoucherContext } from './batch-settlement/authorize-voucher.ts';
import type { DepositContext } from './batch-settlement/chain/settle-deposit.ts';
import type { ChannelRefusal } from './batch-settlement/channel-refusal.ts';
import type { TakenDeposit } from './batch-settlement/take-deposit.ts';
import type { AuthorizeContext, PayablePurchase } from './exact/authorize-payment.ts';

/** Means to pay for one request: checked, and nothing of it is written yet. */
export interface Means<S extends SchemeId = SchemeId> {
  readonly scheme: S;
  /** The id that the request gets from its payment; null: it has another one. */
  readonly requestId: string | null;
  readonly priceMicro: bigint;
  readonly payerLedgerId: string;
  /** The transfer that settles before the run. Absent: the scheme needs none. */
  readonly payment?: NewChainPayment;
  /** The transaction of the payment, if it is stored with the claim. */
  readonly carrier?: Carrier;
}

/** The means with the request that they pay for, in the transaction that accepts it. */
export type PaidBy<M extends Means = Means> = M & { readonly requestId: string };

/** Lock mode of ledger statements, and the time that they write. */
export interface How {
  readonly now: Date;
  readonly locks: LockMode;
}

/** Reason to refuse a request: insufficient money, or a payment, offer or key that another request has. */
export type SchemeRefusal =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'voucher_refused'; readonly reason: ChannelRefusal; readonly isCorrected: boolean }
  | { readonly kind: 'insufficient'; readonly availableMicro: bigint };

/** Refusals by request; the others are accepted. */
export type Refusals = ReadonlyMap<string, SchemeRefusal>;

export type SchemeContext = AuthorizeContext & VoucherContext & DepositContext & Ledger;

/** Sources of money for a call: the payment that it presents, and the treasury of its caller. */
export interface Source {
  readonly shown: PresentedPayment | null;
  readonly treasuryId: string | null;
}

/** A call before it is accepted, with the payment that it presents. */
export interface PresentedCall {
  readonly shown: PresentedPayment;
  readonly purchase: PayablePurchase;
  /** Admits the wallet of a valid payment. Throws when it may not call. */
  readonly admit: () => Promise<unknown>;
  /** Called before the node spends gas on an unaccepted call. */
  readonly keepCount: () => void;
}

/** A request that has ended, with its cost and refund. */
export interface EndedRequest extends Payer {
  readonly id: string;
  readonly accountId: string;
  readonly paymentHash: string | null;
  readonly costMicro: bigint | null;
  readonly refundMicro: bigint | null;
}

/**
 * A way to pay for requests. Each step is part of one transaction, or of none; `docs/architecture/payments.md` describes the state after a
 * crash in each. In a transaction, the schemes take their locks in the order of `schemeIds`, and accounts of the ledger last.
 */
export interface PaymentScheme<M extends Means = Means> {
  readonly id: M['scheme'];
  /** The scheme on the wire of x402; null: it is not a scheme of x402. */
  readonly onWire: X402Scheme | null;
  /**
   * Time at which the money belongs to the node: at acceptance (`reserve`), when a transfer has settled, which the run waits for
   * (`before_run`), or when a reserved promise is collected after the call (`after_end`).
   */
  readonly fundedAt: 'reserve' | 'before_run' | 'after_end';
  /** Checks the presented payment as far as possible without a lock. Writes nothing. Throws PAYMENT_REQUIRED with the terms. */
  authorize(ctx: SchemeContext, source: Source, purchase: PayablePurchase): Promise<M>;
  /**
   * True if only the payer can have presented this, as it was neither collected nor published. Absent: the scheme presents nothing. Throws
   * UNAVAILABLE while the chain does not answer.
   */
  isPrivate?(ctx: SchemeContext, shown: PresentedPayment): Promise<boolean>;
  /** True if no older one, as a proxy's log may have it, would do as well. Absent: each is for one purchase. */
  isNewest?(ctx: SchemeContext, shown: PresentedPayment): Promise<boolean>;
  /** Assigns the means to the account that the paying wallet was admitted for. */
  inNameOf?(means: M, accountId: string): M;
  /** Waits for its turn among calls with the same source; null: there is no need to. The result leaves it. */
  enter?(ctx: SchemeContext, means: M, shown: PresentedPayment): Promise<(() => void) | null>;
  /** Makes the source ready before the call is accepted, outside of any transaction. Returns the deposit that it took; null: none. */
  prepare?(ctx: SchemeContext, means: M, call: PresentedCall): Promise<TakenDeposit | null>;
  /** Refuses a payment without proof that it comes from the payer, before an account is opened for that wallet. */
  requireOfPayer?(ctx: SchemeContext, means: M, purchase: PayablePurchase): Promise<void>;
  /** Opens the ledger account that the money will come into, after the payer was admitted, outside of any transaction. */
  open?(ctx: SchemeContext, means: M): Promise<void>;
  /** Claims the presented payment, in the accepting transaction, before the request is stored. Carriers are left out. */
  claim?(tx: Tx, means: readonly PaidBy<M>[], how: How): Promise<Refusals>;
  /** Holds the money in the ledger, in the accepting transaction, last. Absent: it is held when it comes in. */
  hold?(tx: Tx, holds: readonly RequestHold[], how: How): Promise<Refusals>;
  /**
   * `claim` and `hold` as guarded flush statements. They accept all requests, or none if any row is locked. Null: use a transaction, which
   * can handle each request on its own.
   */
  claimAll?(means: readonly PaidBy<M>[], now: Date): readonly Statement[] | null;
  holdAll?(holds: readonly RequestHold[], now: Date): readonly Statement[] | null;
  /** Called after the acceptance, with its outcome. */
  accepted?(ctx: SchemeContext, means: M, isAccepted: boolean): Promise<void>;
  /** The answer to a refusal that is the scheme's own; null: it is not. */
  explain?(ctx: SchemeContext, means: M, refusal: SchemeRefusal, purchase: PayablePurchase): Promise<Error | null>;
  /**
   * Charges ended requests with their costs, in the transaction that ends them, before accounts of the ledger. Returns paying wallets by
   * request.
   */
  charge?(tx: Tx, ended: readonly EndedRequest[], how: How): Promise<ReadonlyMap<string, string>>;
  /** Releases the unspent rest of ended requests, together with the accounts of the ledger. */
  release?(tx: Tx, ended: readonly EndedRequest[], how: How): Promise<void>;
  /** Owes a refund to the payer, in the transaction that ends the request, and returns its way. */
  refund(ctx: RefundContext, tx: Tx, ended: EndedRequest & { readonly refundMicro: bigint }): Promise<RefundWay>;
}
