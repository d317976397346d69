-- The limit that the last lease was taken under: one statement leases from many windows, each with a limit of its own.
alter table rate_window add column most integer not null default 0;
