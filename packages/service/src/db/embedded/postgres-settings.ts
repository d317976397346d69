/** The workers of the tests have a budget of 300 each (test/support/test-database.ts), and there is room for one more. */
const MAX_TEST_CONNECTIONS = 1300;

/**
 * Server settings for one node on a small machine: acknowledged means on disk, and short statements are fast. They are passed on the
 * command line, so a newer version of this file applies to old data folders too. `others` come last: a machine that has more room.
 */
export function postgresSettings(
  port: number,
  durable: boolean,
  others: Readonly<Record<string, string>> = {},
): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: durable ? 200 : MAX_TEST_CONNECTIONS,
    shared_buffers: durable ? '192MB' : '64MB',
    wal_buffers: '16MB',
    min_wal_size: '128MB',
    max_wal_size: durable ? '2GB' : '512MB',
    wal_level: 'minimal',
    max_wal_senders: 0,
    wal_compression: durable ? 'on' : 'off',
    checkpoint_timeout: '10min',
    random_page_cost: 1.1,
    io_method: 'sync',
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    autovacuum_naptime: durable ? '15s' : '1min',
    autovacuum_vacuum_scale_factor: 0.05,
    log_destination: 'stderr',
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    ...(durable ? durableSettings() : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...others,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** On macOS a plain fsync stops at the drive's cache. */
function durableSettings(): Record<string, string | number> {
  const writeThrough = process.platform === 'darwin' ? { wal_sync_method: 'fsync_writethrough' } : {};
  return { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', commit_delay: 0, ...writeThrough };
}
