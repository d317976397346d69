-- A database that lacks commits which were acknowledged to a process of this node: nobody goes on before an operator has accepted it.
create table database_hole (
  id bigint generated always as identity primary key,
  reason text not null,
  -- Label of the process that found it.
  found_by text not null,
  found_at timestamptz not null default now(),
  is_open boolean not null default true,
  accepted_at timestamptz,
  accepted_by text,
  check (is_open = (accepted_at is null)),
  check ((accepted_at is null) = (accepted_by is null))
);

create unique index database_hole_open on database_hole (is_open) where is_open;
