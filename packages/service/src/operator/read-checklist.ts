import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { ChecklistStep } from '@agent-network/contracts/network/operator';
import { operatorAccounts } from '../accounts/operators.ts';
import type { SigningKeys } from '../chain/gas-watch.ts';
import { faultOfAddress } from '../lib/net/guarded-fetch-address.ts';
import type { Store } from '../store/database.ts';
import { readArchive } from './archive-store.ts';
import { archiveFaults } from './check-archive.ts';
import { hasAlerts, listProcesses } from './operator-store.ts';
import type { ShownSettings } from './read-settings.ts';

interface ChecklistContext extends Store, ShownSettings, Pick<SigningKeys, 'gas'> {
  readonly baseUrl: string;
  readonly platformFeeBps: number;
}

/** Steps to a node that others can rely on, each judged by the state of the node now. */
export async function readChecklist(ctx: ChecklistContext): Promise<DataOf<Api['getOperatorChecklist']>> {
  const now = ctx.clock.now();
  const [archive, levels, processes, operators] = await Promise.all([
    readArchive(ctx.db),
    ctx.gas.levels(),
    listProcesses(ctx.db),
    operatorAccounts(ctx.db, now),
  ]);
  const faults = archiveFaults(archive);
  const low = levels.filter(({ isLow }) => isLow);
  const living = processes.filter(({ isSilent }) => !isSilent).length;
  return {
    steps: [
      toStep('address', faultOfAddress(ctx.baseUrl)),
      toStep('gas', low.length > 0 ? `low on gas: ${low.map(({ address }) => address).join(', ')}` : null),
      toStep('backup', faults[0] ?? null),
      toStep('processes', living < 2 ? 'one process: calls stop while it restarts' : null),
      toStep(
        'alerts',
        (await hasAlerts(ctx.db, operators)) ? null : 'no webhook of an operator and no key that reads the metrics',
      ),
      toStep(
        'terms',
        isGiven(ctx, 'TERMS_URL') && isGiven(ctx, 'ABUSE_CONTACT') ? null : 'TERMS_URL or ABUSE_CONTACT is not set',
      ),
      feeStep(ctx),
    ],
  };
}

const toStep = (step: ChecklistStep['step'], note: string | null): ChecklistStep => ({
  step,
  isDone: note === null,
  note,
});

const isGiven = ({ settings }: ShownSettings, wanted: string): boolean =>
  settings.some(({ name, isDefault }) => name === wanted && !isDefault);

/** A fee of zero is a decision when it is written down. */
function feeStep(ctx: ChecklistContext): ChecklistStep {
  const { platformFeeBps } = ctx;
  const note = `the node keeps ${platformFeeBps / 100}% of what agents earn`;
  return { step: 'fee', isDone: isGiven(ctx, 'PLATFORM_FEE_BPS') || platformFeeBps > 0, note };
}
