/** Index of a client: a run has two, each with an account, its treasury, and its wallet. */
export type Who = 0 | 1;

/** How an agent's work ends; `claimMicro`: the cost that it names, null when it names none. */
export type AgentEnd = { readonly kind: 'completed'; readonly claimMicro: bigint | null } | { readonly kind: 'failed' };

export interface Invocation {
  readonly kind: 'invoke';
  readonly who: Who;
  readonly means: 'treasury' | 'x402';
  /** The name that the run knows the request by. */
  readonly ref: string;
  readonly priceMicro: bigint;
  /** null: the agent works until it gets an end. */
  readonly end: AgentEnd | null;
}

export interface Movement {
  /** `transfer`: USDC sent to the node the plain way. `withdraw`: to the client's own wallet. */
  readonly kind: 'deposit' | 'transfer' | 'withdraw';
  readonly who: Who;
  readonly amountMicro: bigint;
}

/** An action of a client or an agent. */
export type Operation =
  | Movement
  | Invocation
  | { readonly kind: 'answer'; readonly ref: string; readonly end: AgentEnd }
  | { readonly kind: 'cancel'; readonly ref: string };

export interface ClientMoney {
  readonly availableMicro: bigint;
  readonly heldMicro: bigint;
  /** Minimum balance of the wallet on chain; with arriving amounts, the maximum. */
  readonly walletMicro: bigint;
  readonly arrivingMicro: bigint;
}

export interface RequestMoney {
  readonly who: Who;
  readonly means: 'treasury' | 'x402';
  readonly status: 'processing' | 'completed' | 'failed' | 'cancelled';
  readonly priceMicro: bigint;
  /** null: not yet. */
  readonly costMicro: bigint | null;
}

/** Where all money of a run is. */
export interface MoneyModel {
  readonly feeBps: bigint;
  readonly clients: readonly [ClientMoney, ClientMoney];
  readonly requests: ReadonlyMap<string, RequestMoney>;
  /** Earnings of agents in this run, and the node's share. */
  readonly earnedMicro: bigint;
  readonly feesMicro: bigint;
}

export type Reply = 'done' | 'refused';

/** One of the ways in which an operation may go. */
export interface ModelOutcome {
  readonly reply: Reply;
  readonly model: MoneyModel;
}

export function newMoneyModel(walletMicro: bigint, feeBps: bigint): MoneyModel {
  const client = { availableMicro: 0n, heldMicro: 0n, walletMicro, arrivingMicro: 0n };
  return { feeBps, clients: [client, client], requests: new Map(), earnedMicro: 0n, feesMicro: 0n };
}

/** All ways in which an operation may go: one, unless money on its way to a wallet is or is not there in time. */
export function outcomesOf(model: MoneyModel, operation: Operation): ModelOutcome[] {
  switch (operation.kind) {
    case 'deposit':
    case 'transfer':
      return fromWallet(model, operation.who, operation.amountMicro, { availableMicro: operation.amountMicro });
    case 'withdraw':
      return [withdrawn(model, operation)];
    case 'invoke':
      return invoked(model, operation);
    case 'answer':
      return [{ reply: 'done', model: ended(model, operation.ref, operation.end.kind, operation.end) }];
    case 'cancel':
      return [
        isOpen(model, operation.ref)
          ? { reply: 'done', model: ended(model, operation.ref, 'cancelled') }
          : { reply: 'refused', model },
      ];
  }
}

export const isOpen = ({ requests }: MoneyModel, ref: string): boolean => requests.get(ref)?.status === 'processing';

export const openRefs = ({ requests }: MoneyModel): string[] =>
  [...requests].filter(([, { status }]) => status === 'processing').map(([ref]) => ref);

/** Deadlines pass: open work fails, without a charge. */
export const expired = (model: MoneyModel): MoneyModel =>
  openRefs(model).reduce((before, ref) => ended(before, ref, 'failed'), model);

/** All that was on its way has arrived. */
export function arrived(model: MoneyModel): MoneyModel {
  const [first, second] = model.clients;
  const settle = (client: ClientMoney) => ({
    ...client,
    walletMicro: client.walletMicro + client.arrivingMicro,
    arrivingMicro: 0n,
  });
  return { ...model, clients: [settle(first), settle(second)] };
}

const refused = (model: MoneyModel): ModelOutcome => ({ reply: 'refused', model });

/** Takes money from a wallet on chain; `gains` is what the client has for it here. */
function fromWallet(
  model: MoneyModel,
  who: Who,
  amountMicro: bigint,
  gains: Partial<ClientMoney> = {},
): ModelOutcome[] {
  const { walletMicro, arrivingMicro } = model.clients[who];
  if (walletMicro + arrivingMicro < amountMicro) return [refused(model)];
  const change = add(model, who, gains);
  if (walletMicro >= amountMicro) return [{ reply: 'done', model: add(change, who, { walletMicro: -amountMicro }) }];
  const missingMicro = amountMicro - walletMicro;
  const inTime = add(change, who, { walletMicro: -walletMicro, arrivingMicro: -missingMicro });
  return [{ reply: 'done', model: inTime }, refused(model)];
}

function withdrawn(model: MoneyModel, { who, amountMicro }: Movement): ModelOutcome {
  if (model.clients[who].availableMicro < amountMicro) return refused(model);
  return { reply: 'done', model: add(model, who, { availableMicro: -amountMicro, arrivingMicro: amountMicro }) };
}

function invoked(model: MoneyModel, { who, means, ref, priceMicro, end }: Invocation): ModelOutcome[] {
  const paid =
    means === 'x402'
      ? fromWallet(model, who, priceMicro)
      : model.clients[who].availableMicro < priceMicro
        ? [refused(model)]
        : [{ reply: 'done' as const, model: add(model, who, { availableMicro: -priceMicro, heldMicro: priceMicro }) }];
  return paid.map((outcome) => {
    if (outcome.reply === 'refused') return outcome;
    const request: RequestMoney = { who, means, priceMicro, status: 'processing', costMicro: null };
    const begun = { ...outcome.model, requests: new Map([...outcome.model.requests, [ref, request]]) };
    return { reply: 'done', model: end === null ? begun : ended(begun, ref, end.kind, end) };
  });
}

/** Ends a request that is open: the agent has its cost less the fee, the payer the rest. Who ends it first decides. */
function ended(
  model: MoneyModel,
  ref: string,
  status: 'completed' | 'failed' | 'cancelled',
  end?: AgentEnd,
): MoneyModel {
  const request = model.requests.get(ref);
  if (request?.status !== 'processing') return model;
  const { who, means, priceMicro } = request;
  const costMicro = end?.kind === 'completed' ? least(end.claimMicro ?? priceMicro, priceMicro) : 0n;
  const feeMicro = (costMicro * model.feeBps) / 10_000n;
  const backMicro = priceMicro - costMicro;
  const moved = add(
    model,
    who,
    means === 'x402' ? { arrivingMicro: backMicro } : { heldMicro: -priceMicro, availableMicro: backMicro },
  );
  return {
    ...moved,
    requests: new Map([...moved.requests, [ref, { ...request, status, costMicro }]]),
    earnedMicro: moved.earnedMicro + costMicro - feeMicro,
    feesMicro: moved.feesMicro + feeMicro,
  };
}

function add(model: MoneyModel, who: Who, change: Partial<ClientMoney>): MoneyModel {
  const before = model.clients[who];
  const after: ClientMoney = {
    availableMicro: before.availableMicro + (change.availableMicro ?? 0n),
    heldMicro: before.heldMicro + (change.heldMicro ?? 0n),
    walletMicro: before.walletMicro + (change.walletMicro ?? 0n),
    arrivingMicro: before.arrivingMicro + (change.arrivingMicro ?? 0n),
  };
  const [first, second] = model.clients;
  return { ...model, clients: who === 0 ? [after, second] : [first, after] };
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
