/** Relations between accounts and wallets in the books. Names of accounts and of wallets differ in form. */
export interface PayerBooks {
  /** An account acted with a wallet with the holder's consent: both are one party. */
  readonly contacts: readonly { accountId: string; wallet: string }[];
  /** Money went from an account to another account or a wallet, without the receiver's consent. */
  readonly gifts: readonly { from: string; to: string }[];
  /** An account paid an agent of another account. */
  readonly trades: readonly { from: string; to: string }[];
}

/** `same`: one party with the subject. `money`: they exchanged money other than for the judged work. */
export type Tie = 'same' | 'money' | 'none';

/** True if a call of the payer is evidence about the agent. A payer that money ties to the owner may complain but not praise. */
export const isHeard = (tie: Tie, isGood: boolean): boolean => tie === 'none' || (tie === 'money' && !isGood);

/** Accounts of one party, and their tie to the subject. */
export interface Party {
  readonly accountIds: readonly string[];
  readonly tie: Tie;
}

/**
 * Groups accounts into parties, relative to a subject (an owner's account and wallets, or a payer). A gift ties only its sender and
 * receiver, so sending money to two others can't tie them together. `stated`: a wallet that the subject claims without its holder's
 * consent; it ties only through money, so claiming a wallet can't silence its holder.
 */
export function partiesOf(
  subject: readonly string[],
  accountIds: Iterable<string>,
  books: PayerBooks,
  stated: string | null = null,
): Party[] {
  const { join, find } = createGroups();
  const [first = ''] = subject;
  for (const name of subject) join(first, name);
  for (const { accountId, wallet } of books.contacts) join(accountId, wallet);
  const self = find(first);
  const tied = new Set(stated === null ? [] : [find(stated)]);
  const ours = new Set([self, ...tied]);
  for (const { from, to } of books.gifts) {
    if (ours.has(find(from))) tied.add(find(to));
    else if (ours.has(find(to))) tied.add(find(from));
  }
  for (const { from, to } of books.trades) if (ours.has(find(from))) tied.add(find(to));
  const members = Map.groupBy(new Set(accountIds), find);
  return [...members].map(([root, ids]) => ({ accountIds: ids, tie: tieOf(root, self, tied) }));
}

const tieOf = (root: string, self: string, tied: ReadonlySet<string>): Tie => {
  if (root === self) return 'same';
  return tied.has(root) ? 'money' : 'none';
};

/** Union-find: joined names have the same root. */
function createGroups(): { join(a: string, b: string): void; find(name: string): string } {
  const parents = new Map<string, string>();
  const find = (name: string): string => {
    let root = name;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    for (let at = name; at !== root; ) {
      const next = parents.get(at) as string;
      parents.set(at, root);
      at = next;
    }
    return root;
  };
  return {
    find,
    join(a, b) {
      const [one, two] = [find(a), find(b)];
      if (one !== two) parents.set(one, two);
    },
  };
}
