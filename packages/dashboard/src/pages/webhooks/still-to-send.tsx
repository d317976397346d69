import { useApi } from '../../app/api-query.ts';
import { groupDigits } from '../../ui/values/money.tsx';

const MOVING_MS = 3_000;
const LOOK_MS = 10_000;

/**
 * Number of deliveries that wait for their turn or for their next attempt: an endpoint gets them one after the other. Hidden while there
 * are none.
 */
export function StillToSend({ webhookId }: { webhookId: string }) {
  const { data } = useApi(
    'listDeliveries',
    { params: { webhookId }, query: { status: 'pending', limit: 1 } },
    { refetchIntervalMs: ({ total }) => (total > 0 ? MOVING_MS : LOOK_MS) },
  );
  if (!data || data.total === 0) return null;
  return <span className="text-[13px] text-muted">{groupDigits(String(data.total))} still to send</span>;
}
