import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { Sql } from '../../db/sql.ts';
import { findTypes } from './types-store.ts';

/** A version of an agent's declared types; null: replaced and removed. */
export const readTypes = (sql: Sql, id: string): Promise<AgentTypes | null> => findTypes(sql, id);
