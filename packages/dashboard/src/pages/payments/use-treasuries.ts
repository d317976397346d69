import { useMemo } from 'react';
import { useApi } from '../../app/api-query.ts';
import { nameTreasuries } from './treasury.ts';

/** The balance of the account, and its treasuries by name. */
export function useTreasuries() {
  const { data, error, refetch } = useApi('getBalance');
  const treasuries = useMemo(() => data && nameTreasuries(data.treasuries), [data]);
  return { balance: data, treasuries, error, refetch: () => void refetch() };
}
