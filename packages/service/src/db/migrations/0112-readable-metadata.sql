-- A text of type json may hold "\u0000" and halves of characters, at which every statement that reads a field of it fails: one such agent
-- stopped the statements that read all agents. The check refuses such a row; what is there already loses its metadata.
do $$
declare
  unreadable text;
begin
  for unreadable in select id from agent where metadata::text ~ '\\u(0000|[dD][89a-fA-F])' loop
    begin
      perform metadata::jsonb from agent where id = unreadable;
    exception when others then
      update agent set metadata = '{}' where id = unreadable;
    end;
  end loop;
end $$;
alter table agent add constraint agent_metadata_readable check (metadata::jsonb is not null);
