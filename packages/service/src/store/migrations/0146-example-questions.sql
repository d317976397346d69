-- Questions that an agent is for, by which searches find it. Processes of the release before write rows without any.
alter table agent add column example_questions text[] not null default '{}';
create trigger agent_questions_changed after update of example_questions on agent
  for each row when (old.example_questions is distinct from new.example_questions) execute function note_replica_change('agent');
