import type { Replication } from './server-position-store.ts';

/** Place of a commit when it is acknowledged: on the disk of a standby too, of this server only, or of none. */
export type KeptOn = 'standby' | 'server' | 'nothing';

/**
 * Durability that the settings promise. Patroni empties `synchronous_standby_names` without `synchronous_mode_strict` when no standby is
 * left.
 */
export function keptOn({ synchronousCommit, synchronousStandbyNames, isFsync }: Replication): KeptOn {
  if (!isFsync || synchronousCommit === 'off') return 'nothing';
  const waits = synchronousCommit === 'on' || synchronousCommit === 'remote_apply';
  return waits && synchronousStandbyNames.trim() !== '' ? 'standby' : 'server';
}

export const meaningOf: Readonly<Record<KeptOn, string>> = {
  standby: 'acknowledged commits are on the disk of a standby: a failover keeps them',
  server: 'acknowledged commits are on the disk of one server: a failover to another may lose them',
  nothing: 'acknowledged commits may be lost by a crash of the database server',
};
