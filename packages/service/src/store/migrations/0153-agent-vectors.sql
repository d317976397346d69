-- Vectors of the texts of agents, by which they are searched by meaning. Processes of the release before change texts without knowing of
-- them: triggers say which are due.
create table agent_vector (
  agent_id text primary key references agent (id) on delete cascade,
  model text,
  vector bytea,
  stored_at timestamptz,
  due_at timestamptz,
  constraint agent_vector_check check ((model is null) = (stored_at is null))
);
comment on table agent_vector is 'Vectors of the texts of listed agents';
comment on column agent_vector.model is 'The model that made the vector; null: none has read the text yet';
comment on column agent_vector.vector is 'Eight-bit numbers with its direction; null: none yet, or the model can''t read the text';
comment on column agent_vector.due_at is 'When the text is to be read, or read again if the claim of a process has ended; null: the vector is that of the text';
-- Numbers without a pattern: compressing them is in vain.
alter table agent_vector alter column vector set storage external;
create index agent_vector_due on agent_vector (due_at) where due_at is not null;
create index agent_vector_model on agent_vector (model) where due_at is null;

create function note_agent_text() returns trigger language plpgsql as $$
begin
  if new.status = 'removed' then
    delete from agent_vector where agent_id = new.id;
  else
    insert into agent_vector (agent_id, due_at) values (new.id, now())
    on conflict (agent_id) do update set due_at = excluded.due_at;
  end if;
  return null;
end
$$;
create trigger agent_text_added after insert on agent for each row execute function note_agent_text();
create trigger agent_text_changed after update of name, description, capabilities, metadata, example_questions, status on agent
  for each row when (
    (old.name, old.description, old.capabilities, (old.metadata -> 'tags')::text, old.example_questions, old.status = 'removed')
    is distinct from
    (new.name, new.description, new.capabilities, (new.metadata -> 'tags')::text, new.example_questions, new.status = 'removed')
  ) execute function note_agent_text();

create function note_vector_change() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id) values ('vector', new.agent_id);
  return null;
end
$$;
create trigger agent_vector_changed after update of vector, model on agent_vector
  for each row when ((old.vector, old.model) is distinct from (new.vector, new.model)) execute function note_vector_change();

insert into agent_vector (agent_id, due_at) select id, now() from agent where status <> 'removed';
