import type { HistoryItem } from '@agent-network/contracts/invocations/history';
import type { CsvColumn } from '../../app/export/csv.ts';

/** Columns of an exported list of invocations: fields of the API under their own names. */
export const invocationCsv: readonly CsvColumn<HistoryItem>[] = (
  [
    'requestId',
    'bulkId',
    'createdAt',
    'completedAt',
    'status',
    'errorCode',
    'agentName',
    'agentId',
    'task',
    'paymentMethod',
    'cost',
    'refund',
    'duration',
  ] as const
).map((name) => [name, (item) => item[name]]);
