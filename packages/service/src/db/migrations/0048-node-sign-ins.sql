-- The base address of the node that the account's wallet signed in as. A file may name any wallet: an account counts as a node's where
-- both say so, the node's file and the wallet.
alter table account add column node_url text;
-- Nodes that have a key here got it by signing in, before they said in whose name.
update account a set node_url = n.base_url
  from network_node n
 where n.wallet = a.address and n.is_listed and a.wallet_proven_at is not null
   and exists (select from api_key k where k.account_id = a.id and k.kind = 'key' and k.name = 'node' and k.scopes = array['invoke']);
-- Whose account it is follows from that; each node is looked at anew.
update network_entry set next_try_at = now() where kind = 'node';

-- What one operator may hold many addresses of: a machine by its number, else the last two labels of a name.
create function site_of(base_url text) returns text immutable strict parallel safe language sql as $$
  select case when host ~ '^\[|^[0-9.]+$' then host else coalesce(substring(host from '[^.]+\.[^.]+$'), host) end
    from (select substring(base_url from '^https?://(\[[^]]*\]|[^/:]*)') as host) as parsed
$$;
