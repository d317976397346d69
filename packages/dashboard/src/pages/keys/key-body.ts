import type { Scope } from '@agent-network/contracts/access/scopes';
import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';

/** The form of a new key: everything as it is typed. */
export interface KeyValues {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** '': it never expires. */
  readonly days: string;
  readonly perCall: string;
  readonly perDay: string;
  /** Ids of agents with white space or commas between. */
  readonly allowedAgents: string;
}

const DAY_MS = 86_400_000;

/** Maps the form to a body of the API; empty fields are left out. */
export function keyBody(values: KeyValues, nowMs: number): Call<Api['createApiKey']>['body'] {
  const ids = values.allowedAgents.split(/[\s,]+/).filter((id) => id !== '');
  const limits = {
    ...(values.perCall.trim() ? { perCall: values.perCall.trim() } : {}),
    ...(values.perDay.trim() ? { perDay: values.perDay.trim() } : {}),
    ...(ids.length > 0 ? { allowedAgents: ids } : {}),
  };
  return {
    name: values.name.trim(),
    scopes: [...values.scopes],
    ...(values.days ? { expiresAt: new Date(nowMs + Number(values.days) * DAY_MS).toISOString() } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
}
