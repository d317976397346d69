import type { Api, EndpointName } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { CallOf, CallOptions } from '@agent-network/sdk';
import {
  keepPreviousData,
  queryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { client } from './client.ts';

type Ask<N extends EndpointName> = (call: CallOf<Api[N]> | undefined, options: CallOptions) => Promise<DataOf<Api[N]>>;

const ask = <N extends EndpointName>(name: N) => client[name] as unknown as Ask<N>;

/** A read of the API as a query. Its key begins with the name of the endpoint, by which live events invalidate it. */
export const apiQuery = <N extends EndpointName>(name: N, call?: CallOf<Api[N]>) =>
  queryOptions<DataOf<Api[N]>>({
    queryKey: [name, call ?? {}],
    queryFn: ({ signal }) => ask(name)(call, { signal }),
  });

interface UseApiOptions<Data> {
  readonly enabled?: boolean;
  /** Polling interval while the view is visible, possibly depending on the data. Live events make most polling needless. */
  readonly refetchIntervalMs?: number | false | ((data: Data) => number | false);
  /** True to show the previous query's answer until the new one arrives: for pages and filters. */
  readonly keepsPrevious?: boolean;
}

/** Queries the API and keeps the answer fresh. */
export function useApi<N extends EndpointName>(
  name: N,
  call?: CallOf<Api[N]>,
  { enabled = true, refetchIntervalMs = false, keepsPrevious = false }: UseApiOptions<DataOf<Api[N]>> = {},
): UseQueryResult<DataOf<Api[N]>> {
  const query = apiQuery(name, call);
  return useQuery({
    ...query,
    enabled,
    refetchInterval: ({ state: { data } }) => {
      if (typeof refetchIntervalMs !== 'function') return refetchIntervalMs;
      return data === undefined ? false : refetchIntervalMs(data);
    },
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  }) as UseQueryResult<DataOf<Api[N]>>;
}

interface UseApiMutationOptions<N extends EndpointName> {
  /** Endpoints to read again after this call. */
  readonly invalidates?: readonly EndpointName[];
  /** Done before anything is read again, such as going to another view. */
  readonly onSuccess?: (data: DataOf<Api[N]>, call: CallOf<Api[N]>) => void | Promise<void>;
}

/** A call that changes something, by `mutate(call)`. Afterwards it reads the endpoints in `invalidates` again. */
export function useApiMutation<N extends EndpointName>(
  name: N,
  { invalidates = [], onSuccess }: UseApiMutationOptions<N> = {},
) {
  const queryClient = useQueryClient();
  return useMutation<DataOf<Api[N]>, Error, CallOf<Api[N]>>({
    mutationFn: (call) => ask(name)(call, {}),
    async onSuccess(data, call) {
      await onSuccess?.(data, call);
      await Promise.all(invalidates.map((each) => queryClient.invalidateQueries({ queryKey: [each] })));
    },
  });
}
